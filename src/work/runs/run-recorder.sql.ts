// The recorder's statements: one round trip each, each a transaction of its own, each behind the fence.
import { ADD_DURATION, closeOpenCalls } from '../../resources/tasks/task.sql.js';
import { hasStatus } from './run-status.js';

/**
 * The fence: locks the task ($1) while it runs, then touches the run ($2) only while it is held at our epoch ($3). The
 * UPDATE re-checks its condition on the newest version of the run, also after waiting for a lock. Everything else of a
 * statement joins `run`, so a fenced write touches nothing at all.
 */
const fence = (set: string): string => `
task AS (SELECT id, last_seq, turn, created_by FROM tasks WHERE id = $1 AND status = 'running' FOR UPDATE),
run AS (
  UPDATE runs r SET ${set} FROM task
  WHERE r.id = $2 AND r.task_id = task.id AND r.epoch = $3 AND ${hasStatus('running')}
  RETURNING r.workspace_id, r.claimed_at)`;

const FINISHED = `status = 'finished', lease_until = NULL, finished_at = now()`;
const CALLS = `c(idx int, "toolCallId" text, name text, input jsonb)`;
const FILES = `f(id uuid, name text, "mediaType" text, size bigint, sha256 text)`;

/**
 * Two CTEs that hand the waiting messages of mode `steer` over: read from then on, in the same write. `after`: how many
 * places of the model's reading the write takes itself. A message that is committed while the write waits for the task's
 * lock is not in its snapshot: the next write, or the end of the turn, finds it.
 */
const steer = (after: 0 | 1): string => `
steer AS (
  UPDATE messages m SET status = 'complete', turn = task.turn, read_seq = task.last_seq + ${after} + w.n
  FROM task, run, (
    SELECT id, row_number() OVER (ORDER BY seq)::int AS n FROM messages
    WHERE task_id = $1 AND status = 'queued' AND mode = 'steer') w
  WHERE m.id = w.id
  RETURNING m.id, m.parts, m.read_seq),
handed AS (
  SELECT count(*)::int AS n, json_agg(json_build_object('id', id, 'parts', parts) ORDER BY read_seq) AS messages FROM steer)`;

/** $4 message id, $5 status, $6 parts, $7 calls, $8 input, $9 output, $10 cached, $11 reasoning tokens, $12 number of calls. */
export const STEP = `
WITH ${fence('recovery_count = 0')},
message AS (
  INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, parts)
  SELECT $4, task.id, task.last_seq + 1, task.last_seq + 1, task.turn, 'assistant', $5, $6::jsonb FROM task, run
  RETURNING id),
calls AS (
  INSERT INTO tool_invocations (message_id, idx, tool_call_id, name, input, state)
  SELECT message.id, c.idx, c."toolCallId", c.name, c.input, 'running' FROM message, jsonb_to_recordset($7::jsonb) AS ${CALLS}),
${steer(1)}
UPDATE tasks t SET last_seq = t.last_seq + 1 + handed.n, message_count = t.message_count + 1, updated_at = now(),
  steps = t.steps + 1, turn_steps = t.turn_steps + 1, tool_calls = t.tool_calls + $12,
  input_tokens = t.input_tokens + $8, output_tokens = t.output_tokens + $9,
  cached_input_tokens = t.cached_input_tokens + $10, reasoning_tokens = t.reasoning_tokens + $11,
  turn_tokens = t.turn_tokens + $8::bigint + $9::bigint
FROM run, handed WHERE t.id = $1 RETURNING handed.messages AS steer`;

/** $4 message id, $5 call id. Nothing is finished by it, so recoveries go on counting. */
export const BEGIN_CALL = `
WITH ${fence('epoch = r.epoch')}
UPDATE tool_invocations v SET stage = 'begun' FROM run
WHERE v.message_id = $4 AND v.tool_call_id = $5 AND v.state = 'running' RETURNING NULL AS steer`;

/** $4 message id, $5 call id, $6 state, $7 output, $8 error, $9 last, $10 further parts, $11 files. */
export const TOOL = `
WITH ${fence('recovery_count = 0')},
invocation AS (
  UPDATE tool_invocations v SET state = $6, output = $7::jsonb, error = $8, finished_at = now()
  FROM run WHERE v.message_id = $4 AND v.tool_call_id = $5 AND v.state = 'running'),
message AS (
  UPDATE messages m SET status = CASE WHEN $9::boolean THEN 'complete' ELSE m.status END, parts = m.parts || $10::jsonb
  FROM run WHERE m.id = $4 AND ($9::boolean OR $10::jsonb <> '[]')),
published AS (
  INSERT INTO files (id, workspace_id, task_id, origin, name, media_type, size, sha256, turn, created_by)
  SELECT f.id, run.workspace_id, task.id, 'task', f.name, f."mediaType", f.size, f.sha256, task.turn, task.created_by
  FROM task, run, jsonb_to_recordset($11::jsonb) AS ${FILES}),
${steer(0)}
UPDATE tasks t SET updated_at = now(), last_seq = t.last_seq + handed.n
FROM run, handed WHERE t.id = $1 RETURNING handed.messages AS steer`;

/**
 * $4 text of the answer. A message that waits starts the next turn in the same breath; one of mode `steer` that came too late
 * for the last write lets this turn go on instead. $5 id of that run. Whoever sends a message holds the task's lock, so what
 * waits is asked when we hold it, of a function that sees what was committed meanwhile (migration 0009).
 */
export const COMPLETED = `
WITH ${fence(FINISHED)},
waiting AS MATERIALIZED (
  SELECT task.id, run.workspace_id, waiting_message_steers(task.id) AS steer FROM task, run),
next AS (
  INSERT INTO runs (id, task_id, workspace_id, kind, status)
  SELECT $5, id, workspace_id, CASE WHEN steer THEN 'continuation' ELSE 'turn' END, 'queued'
  FROM waiting WHERE steer IS NOT NULL
  RETURNING id)
UPDATE tasks t SET updated_at = now(), ${ADD_DURATION},
  status = CASE WHEN EXISTS (SELECT 1 FROM next) THEN 'queued' ELSE 'completed' END,
  finished_at = CASE WHEN EXISTS (SELECT 1 FROM next) THEN NULL ELSE now() END,
  result_text = $4,
  result_file_ids = coalesce((
    SELECT array_agg(f.id ORDER BY f.created_at, f.id) FROM files f
    WHERE f.task_id = t.id AND f.origin = 'task' AND f.turn = t.turn), '{}')
FROM run WHERE t.id = $1 RETURNING t.id`;

/** $4 reason as JSON. */
export const FAILED = `
WITH ${fence(FINISHED)},
${closeOpenCalls('SELECT task.id FROM task, run', 'The turn ended before this call had a result.')}
UPDATE tasks t SET status = 'failed', status_reason = $4::jsonb, read_all = true, finished_at = now(), updated_at = now(),
  ${ADD_DURATION}
FROM run WHERE t.id = $1 RETURNING t.id`;

/** $4 interaction id, $5 message id, $6 call id, $7 type, $8 question, $9 options, $10 multiple, $11 allowText, $12 seconds to live. */
export const QUESTION = `
WITH ${fence(FINISHED)},
asked AS (
  INSERT INTO interactions (id, task_id, message_id, tool_call_id, type, question, options, multiple, allow_text, expires_at)
  SELECT $4, task.id, $5, $6, $7, $8, $9::jsonb, $10, $11, now() + make_interval(secs => $12) FROM task, run)
UPDATE tasks t SET status = 'awaiting_input', updated_at = now(), ${ADD_DURATION} FROM run WHERE t.id = $1 RETURNING t.id`;
