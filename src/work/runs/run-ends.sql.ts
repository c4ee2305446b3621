// How the recorder ends a run: as run-recorder.sql.ts.
import type { AgentOutcome } from '../../engine/agent/agent-engine.js';
import type { Question } from '../../engine/agent/agent-tool.js';
import {
  bigintOrNull,
  bool,
  field,
  int,
  jsonb,
  raw,
  sql,
  text,
  textOrNull,
  uuid,
} from '../../platform/database/sql.js';
import { COUNT_NEWS, recordNews } from '../../resources/tasks/events/record.sql.js';
import { ADD_DURATION, closeCalls, CLOSED, endCommands, ENDED_COMMANDS } from '../../resources/tasks/task-end.sql.js';
import { type StatusReason, statusOfRun } from '../../resources/tasks/task-status.js';
import { CALL_ID, EPOCH, EXHAUSTED_AFTER, fence, MESSAGE_ID, RUN_ID, SETTLED, TASK_ID } from './run-recorder.sql.js';

const completed = field<Extract<AgentOutcome, { type: 'completed' }>>();
const END = fence(raw(`status = 'finished', lease_until = NULL, finished_at = now()`));

/**
 * Ends the run with an answer. A message that waits starts the next turn in the same breath; one of mode `steer` that came too
 * late for the last write lets this turn go on instead. A run of checks alone begins nothing for what had waited before it. `nextRunId` is the id of that run.
 *
 * A request that sends a message holds the task's lock. So the statement asks what waits when it holds the lock itself, by the
 * function `waiting_message_steers(task)` (waiting-message-steers.function.ts), which sees what was committed meanwhile.
 */
export const COMPLETED = sql`
WITH ${END},
waiting AS MATERIALIZED (
  SELECT task.id, task.paused, run.workspace_id, waiting_message_steers(task.id) AS steer FROM task, run
  WHERE run.kind <> 'checks' OR task.last_seq > task.read_upto),
next AS (
  INSERT INTO runs (id, task_id, workspace_id, kind, status)
  SELECT ${uuid('nextRunId')}, id, workspace_id, CASE WHEN steer THEN 'continuation' ELSE 'turn' END, ${statusOfRun('waiting')}
  FROM waiting WHERE steer IS NOT NULL
  RETURNING id)
UPDATE tasks t SET updated_at = now(), ${ADD_DURATION}, ${SETTLED},
  status = CASE WHEN EXISTS (SELECT 1 FROM next) THEN 'queued' ELSE 'completed' END,
  finished_at = CASE WHEN EXISTS (SELECT 1 FROM next) THEN NULL ELSE now() END,
  status_reason = CASE WHEN EXISTS (SELECT 1 FROM next) THEN t.status_reason END,
  result_text = ${completed('outcome', 'text', 'text')}, result_output = ${completed('outcome', 'output', 'json')},
  result_file_ids = coalesce((
    SELECT array_agg(f.id ORDER BY f.created_at, f.id) FROM files f
    WHERE f.task_id = t.id AND f.origin = 'task' AND f.turn = t.turn), '{}')
FROM run WHERE t.id = ${TASK_ID} RETURNING t.id`.rows<{ id: string }>();

const REASON = jsonb<StatusReason>()('reason');

/** Whether a task has come no further since it was blocked last. */
const SAME = raw(`((blocked ->> 'turn')::int = turn AND (blocked ->> 'steps')::int = steps) IS TRUE`);
/** How long a task waits for one thing. */
const AT_MOST = raw(`interval '7 days'`);
const TOO_LONG = sql`(blocked ->> 'since')::timestamptz <= now() - ${AT_MOST}`;
/** Minutes until it is tried again, for the first time, the second, and so on. */
const MINUTES = raw('(ARRAY[1, 2, 5, 15, 30, 60])[least(stop.times, 6)]');

/**
 * Puts the run of a blocked task aside, and says when it goes on: at the reset of the window, when the provider has asked for, or after a time
 * that grows while the task comes no further. No row, and nothing is written, when the task is to fail: it does not wait, or has
 * waited too long. Nothing of the turn is closed.
 */
export const BLOCKED = sql`
WITH ${fence(
  raw(`status = 'paused', lease_until = NULL`),
  'run',
  sql`when_blocked = 'wait' AND NOT (${SAME} AND ${TOO_LONG})`,
)},
stop AS (
  SELECT CASE WHEN ${SAME} THEN (b.blocked ->> 'times')::int + 1 ELSE 1 END AS times,
    CASE WHEN ${SAME} THEN (b.blocked ->> 'since')::timestamptz ELSE now() END AS since
  FROM tasks b WHERE b.id = ${TASK_ID}),
wait AS (
  SELECT stop.*, CASE WHEN stop.times > 1 THEN greatest(asked.at, later.at) ELSE coalesce(asked.at, later.at) END AS until
  FROM stop, (SELECT now() + make_interval(mins => ${MINUTES}) AS at FROM stop) later, (
    SELECT CASE ${REASON} ->> 'code' WHEN 'usage_exhausted' THEN ((${EXHAUSTED_AFTER}) ->> 'resetsAt')::timestamptz
      ELSE now() + make_interval(secs => ${bigintOrNull('retryAfterMs')} / 1000.0) END AS at
    FROM task, run) asked)
UPDATE tasks t SET status = 'queued', paused = true, updated_at = now(), ${ADD_DURATION}, ${SETTLED},
  resumes_at = CASE WHEN t.paused THEN t.resumes_at ELSE least(wait.until, wait.since + ${AT_MOST}) END,
  status_reason = CASE WHEN t.paused THEN t.status_reason ELSE ${REASON} END,
  blocked = jsonb_build_object('turn', t.turn, 'steps', t.steps, 'times', wait.times, 'since', wait.since,
    'runId', ${RUN_ID}, 'epoch', ${EPOCH})
FROM run, wait WHERE t.id = ${TASK_ID} RETURNING t.id`.rows<{ id: string }>();

/** Ends the run and fails the task. */
export const FAILED = sql`
WITH ${END},
${closeCalls(raw('SELECT task.id FROM task, run'), raw(`'The turn ended before this call had a result.'`))},
${endCommands(raw('SELECT task.id FROM task, run'), 'stopped')},
${recordNews(sql`${CLOSED} UNION ALL ${ENDED_COMMANDS}`)}
UPDATE tasks t SET ${COUNT_NEWS}, status = 'failed', status_reason = ${REASON}, read_all = true, finished_at = now(),
  updated_at = now(), ${ADD_DURATION}, ${SETTLED}
FROM run WHERE t.id = ${TASK_ID} RETURNING t.id`.rows<{ id: string }>();

/** Ends the run until a person answers. */
export const QUESTION = sql`
WITH ${END},
asked AS (
  INSERT INTO interactions (id, task_id, message_id, tool_call_id, type, question, options, multiple, allow_text, tool, grants, expires_at)
  SELECT ${uuid('interactionId')}, task.id, ${MESSAGE_ID}, ${CALL_ID}, ${text('type')}, ${text('question')},
    ${jsonb<Question['options']>()('options')}, ${bool('multiple')}, ${bool('allowText')}, ${textOrNull('tool')},
    ${textOrNull('grants')}, now() + make_interval(secs => ${int('ttlSeconds')})
  FROM task, run
  RETURNING id),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref)
  SELECT task.id, task.last_event + 1, 'interaction.created', asked.id FROM task, asked)
UPDATE tasks t SET status = 'awaiting_input', updated_at = now(), last_event = t.last_event + 1, ${ADD_DURATION}, ${SETTLED}
FROM run, asked WHERE t.id = ${TASK_ID} RETURNING t.id`.rows<{ id: string }>();
