// How the checks of a turn are recorded: as run-recorder.sql.ts, and only of a task that has some.
import type { AgentEvent } from '../../engine/agent/agent-engine.js';
import type { CheckResult } from '../../engine/checks/check.js';
import { columns } from '../../platform/database/columns.js';
import {
  bool,
  field,
  type Fragment,
  int,
  type None,
  type Query,
  raw,
  sql,
  text,
  texts,
  uuid,
} from '../../platform/database/sql.js';
import { TaskCheck } from '../../resources/tasks/checks/task-check.entity.js';
import type { ReadyBuild } from '../environments/build-store.js';
import type { ClaimedRun } from './claimed-run.js';
import { PUBLISHED } from './run-files.sql.js';
import { fenceWithRoom, HELD, HOLD, PARTS, TASK_ID, type Written } from './run-recorder.sql.js';

const ROUND = int('round');
/** The counts of a round that begins, also of one that a lost worker had begun, or that runs again. */
const ANEW = sql`jsonb_build_object('turn', t.turn, 'repairs', ${ROUND}, 'passed', 0, 'failed', 0)`;
/** The counts of this round so far. */
const CHECKED = sql`
CASE WHEN (t.checked ->> 'turn')::int = t.turn AND (t.checked ->> 'repairs')::int = ${ROUND} THEN t.checked ELSE ${ANEW} END`;
const RUNNING = raw(`'{"status": "running"}'::jsonb`);

/** Tells it in the log of the task and of the workspace. @param data of the event. @param from "FROM …" of all that it names. */
const told = <P>(type: 'check.started' | 'check.completed', data: Fragment<P>, from: Fragment<None>) => sql`
news AS (
  SELECT task.id, run.workspace_id, task.last_event + 1 AS seq, ${data} || jsonb_build_object(
    'projectId', task.project_id, 'metadata', (SELECT o.metadata FROM tasks o WHERE o.id = task.id)) AS data
  ${from}),
told_task AS (
  INSERT INTO task_events (task_id, seq, type, data) SELECT id, seq, '${raw(type)}', data FROM news),
told_workspace AS (
  INSERT INTO workspace_events (xid, workspace_id, task_id, seq, type, data)
  SELECT pg_current_xact_id()::text::bigint, workspace_id, id, seq, '${raw(type)}', data FROM news)`;

const PHASE = text('phase');
/** Those `before` the agent has done anything are no matter of the turn. */
const COUNTS = sql`${PHASE} = 'after'`;

const BEGUN = sql`
WITH ${HOLD},
${told('check.started', sql`jsonb_build_object('name', ${text('name')}, 'phase', ${PHASE}, 'round', ${ROUND})`, raw('FROM task, run'))}
UPDATE tasks t SET checked = CASE WHEN NOT ${COUNTS} THEN t.checked ELSE CASE WHEN ${bool('first')} THEN ${ANEW} ELSE ${CHECKED} END || ${RUNNING} END, last_event = t.last_event + 1, updated_at = now()
FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

const result = field<CheckResult>();
const of = <K extends keyof CheckResult>(name: K, type: string) => result('result', name, type);

const COMPLETED =
  raw(`jsonb_build_object('checkId', made.id, 'name', made.name, 'phase', made.phase, 'round', made.round,
    'required', made.required, 'status', made.status, 'exitCode', made.exit_code, 'durationMs', made.duration_ms)`);

/**
 * What became of one check, and all that it wrote as a file. It is no progress: behind a worker that is lost the round begins anew, and one whose check
 * breaks each worker must come to an end.
 * @param held the fence, and the row of the file. @param file its id. @param more its event, behind that of the check. @param events how many those are.
 */
const ended = <P>(held: Fragment<P>, file: Fragment<None>, more: Fragment<None>, events: Fragment<None>) =>
  sql`
WITH ${held},
made AS (
  INSERT INTO task_checks (id, task_id, turn, round, phase, name, command, required, protect, network, status, exit_code, duration_ms, output, output_bytes,
    output_sha256, output_file_id, protected_changed, original)
  SELECT ${of('id', 'uuid')}, task.id, task.turn, ${ROUND}, ${PHASE}, ${of('name', 'text')}, ${of('command', 'text')}, ${of('required', 'boolean')},
    ${texts('protect')}, ${of('network', 'boolean')}, ${of('status', 'text')}, ${of('exitCode', 'int')}, ${of('durationMs', 'int')}, ${of('output', 'text')}, ${of('outputBytes', 'bigint')},
    ${of('outputSha256', 'text')}, ${file}, ${texts('protectedChanged')}, ${of('original', 'text')}
  FROM task, run RETURNING id, name, phase, round, required, status, exit_code, duration_ms),
${told('check.completed', COMPLETED, raw('FROM task, run, made'))}${more}
UPDATE tasks t SET last_event = t.last_event + ${events}, updated_at = now(), checked = CASE WHEN ${COUNTS} THEN now_checked.value || jsonb_build_object(
    'passed', (now_checked.value ->> 'passed')::int + (made.status = 'passed')::int,
    'failed', (now_checked.value ->> 'failed')::int + (made.status <> 'passed')::int) ELSE t.checked END
FROM made, run, LATERAL (SELECT ${CHECKED} AS value FROM tasks t WHERE t.id = ${TASK_ID}) now_checked
WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

export const ENDED = ended(HOLD, raw('NULL::uuid'), raw(''), raw('1'));
const WITH_FILE = sql`${fenceWithRoom(HELD)},
${PUBLISHED}`;
const TOLD_FILE = raw(`,
told_file AS (
  INSERT INTO task_events (task_id, seq, type, ref)
  SELECT task.id, task.last_event + 2, 'file.published', published.id FROM task, published)`);
/** No row, and nothing is written, also when the file does not fit. */
export const ENDED_FILE = ended(WITH_FILE, raw('(SELECT id FROM published)'), TOLD_FILE, raw('2'));

/** What the folders of a task began as. That is known when its run has begun, and not when that is loaded. */
export const BUILD = sql`
SELECT json_build_object('id', b.id, 'manifest', b.manifest, 'bytes', b.bytes) AS build FROM tasks t
JOIN environment_builds b ON b.id = t.environment_build_id AND b.state = 'ready' WHERE t.id = ${uuid('taskId')}`.rows<{
  build: ReadyBuild;
}>();

const FOUND = columns(TaskCheck, 'c', ['status', 'exitCode', 'durationMs', 'output', 'outputBytes', 'outputSha256']);
/** What became of a check before, on what this digest says. */
export const KNOWN = sql`
SELECT ${FOUND} FROM task_checks c WHERE c.original = ${text('original')} AND c.status <> 'error'
ORDER BY c.created_at DESC LIMIT 1`.rows<typeof FOUND.row>();

const STATUS = sql`checked = ${CHECKED} || jsonb_build_object('status', ${text('status')})`;
const OVER = sql`
WITH ${HOLD}
UPDATE tasks t SET updated_at = now(), ${STATUS} FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

/** The same, with a message in the reading order by which the agent goes on. */
const AGAIN = sql`
WITH ${HOLD},
message AS (
  INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, parts, created_at)
  SELECT ${uuid('messageId')}, task.id, task.last_seq + 1, task.last_seq + 1, task.turn, 'assistant', 'complete', ${PARTS}, clock_timestamp()
  FROM task, run),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref)
  SELECT task.id, task.last_event + 1, 'message.completed', ${uuid('messageId')} FROM task, run)
UPDATE tasks t SET updated_at = now(), ${STATUS}, last_seq = t.last_seq + 1, last_event = t.last_event + 1, message_count = t.message_count + 1
FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

export type CheckEvent<T extends 'check' | 'checked' | 'checks'> = Extract<AgentEvent, { type: T }>;

export function checkQuery(run: ClaimedRun, event: CheckEvent<'check' | 'checks'>): Query<Written> {
  const { round } = event;
  if (event.type === 'check') return BEGUN({ run, round, phase: event.phase, name: event.name, first: event.first });
  const { told, status } = event;
  return told === null ? OVER({ run, round, status }) : AGAIN({ run, round, status: 'running', ...told });
}
