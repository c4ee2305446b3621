// One world for all: 100,000 tasks in the table (fewer when asked), a task of ten tool turns (22 rows), and the same for the floors.
import { randomUUID } from 'node:crypto';

const TURNS = 10;

const FLOORS = (tasks) => `
CREATE SCHEMA floor;
CREATE TABLE floor.keys (hash bytea PRIMARY KEY, user_id uuid, workspace_id uuid, scopes text[], revoked_at timestamptz);
CREATE TABLE floor.tasks (id uuid PRIMARY KEY, project_id uuid, status text, title text, pending jsonb,
  created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now());
CREATE TABLE floor.messages (task_id uuid, seq int, role text, parts jsonb, created_at timestamptz DEFAULT now(),
  PRIMARY KEY (task_id, seq));
INSERT INTO floor.tasks (id, project_id, status, title)
SELECT gen_random_uuid(), gen_random_uuid(), 'completed', 'Task ' || i FROM generate_series(1, ${tasks}) i;
INSERT INTO floor.messages (task_id, seq, role, parts)
SELECT id, 0, 'user', '[{"type": "text", "text": "Do it."}]' FROM floor.tasks`;

// The user's own tasks, finished, with their first message and their run.
const SERVICE = (tasks) => `
WITH task AS (
  INSERT INTO tasks (id, workspace_id, created_by, title, status, model, message_count, last_seq, turn, steps, result_text,
    started_at, finished_at)
  SELECT gen_random_uuid(), $1, $2, 'Task ' || i, 'completed', 'runbook', 1, 1, 1, 1, 'Done.', now(), now()
  FROM generate_series(1, ${tasks}) i RETURNING id),
message AS (
  INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, created_by, parts)
  SELECT gen_random_uuid(), id, 1, 1, 1, 'user', 'complete', $2, '[{"type": "text", "text": "Do it."}]' FROM task)
INSERT INTO runs (id, task_id, workspace_id, kind, status, finished_at)
SELECT gen_random_uuid(), id, $1, 'turn', 'finished', now() FROM task`;

/** Resolves with the ids that the measurements read. */
export async function seed(db, tasks) {
  const { rows } = await db.query(
    `SELECT m.workspace_id AS w, m.user_id AS u FROM memberships m JOIN users ON id = m.user_id WHERE email = 'bench@localhost'`,
  );
  const [{ w, u }] = rows;
  await db.query(FLOORS(tasks));
  await db.query(SERVICE(tasks), [w, u]);
  const ids = { task: await long(db, w, u), floorTask: await longFloor(db) };
  await db.query('VACUUM ANALYZE');
  return ids;
}

const call = (n) => ({ toolCallId: `call_${n}`, name: 'write' });
const input = (n) => ({ path: `notes/${n}.txt`, content: 'A line of the file.\n' });

/** The task with 22 rows: a message, ten of a step with its call, ten results, the answer. */
async function long(db, workspaceId, userId) {
  const id = randomUUID();
  await db.query(
    `INSERT INTO tasks (id, workspace_id, created_by, title, status, model, message_count, last_seq, turn, steps, tool_calls,
       result_text, started_at, finished_at)
     VALUES ($1, $2, $3, 'Write ten notes', 'completed', 'runbook', $4::int + 2, $4::int + 2, 1, $4::int + 1, $4::int, 'Done.', now(), now())`,
    [id, workspaceId, userId, TURNS],
  );
  const message = (seq, role, parts) =>
    db.query(
      `INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, created_by, parts)
       VALUES ($1, $2, $3, $3, 1, $4, 'complete', $5, $6) RETURNING id`,
      [randomUUID(), id, seq, role, role === 'user' ? userId : null, JSON.stringify(parts)],
    );
  await message(1, 'user', [{ type: 'text', text: 'Write ten notes.' }]);
  for (let n = 1; n <= TURNS; n++) {
    const { toolCallId, name } = call(n);
    const { rows } = await message(n + 1, 'assistant', [{ type: 'step_start' }, { type: 'tool', toolCallId }]);
    await db.query(
      `INSERT INTO tool_invocations (message_id, idx, tool_call_id, name, input, state, output, finished_at)
       VALUES ($1, 0, $2, $3, $4, 'success', $5, now())`,
      [rows[0].id, toolCallId, name, JSON.stringify(input(n)), JSON.stringify('ok')],
    );
  }
  await message(TURNS + 2, 'assistant', [
    { type: 'step_start' },
    { type: 'text', text: 'Done: ten notes are written.' },
  ]);
  return id;
}

async function longFloor(db) {
  const id = randomUUID();
  await db.query(`INSERT INTO floor.tasks (id, status) VALUES ($1, 'completed')`, [id]);
  const parts = [['user', [{ type: 'text', text: 'Write ten notes.' }]]];
  for (let n = 1; n <= TURNS; n++) {
    parts.push(['assistant', [{ type: 'tool_call', ...call(n), input: input(n) }]]);
    parts.push(['tool', [{ type: 'tool_result', ...call(n), status: 'success', output: 'ok' }]]);
  }
  parts.push(['assistant', [{ type: 'text', text: 'Done: ten notes are written.' }]]);
  for (const [seq, [role, list]] of parts.entries()) {
    await db.query(`INSERT INTO floor.messages VALUES ($1, $2, $3, $4)`, [id, seq, role, JSON.stringify(list)]);
  }
  return id;
}
