// How the recorder ends a run: as run-recorder.sql.ts.
import type { AgentOutcome } from '../../engine/agent/agent-engine.js';
import type { Question } from '../../engine/agent/agent-tool.js';
import { bool, field, int, jsonb, raw, sql, text, uuid } from '../../platform/database/sql.js';
import { COUNT_NEWS, recordNews } from '../../resources/tasks/events/record.sql.js';
import { ADD_DURATION, closeCalls, CLOSED } from '../../resources/tasks/task-end.sql.js';
import { type StatusReason, statusOfRun } from '../../resources/tasks/task-status.js';
import { CALL_ID, fence, MEASURED, MESSAGE_ID, TASK_ID } from './run-recorder.sql.js';

const completed = field<Extract<AgentOutcome, { type: 'completed' }>>();
const END = fence(raw(`status = 'finished', lease_until = NULL, finished_at = now()`));

/**
 * Ends the run with an answer. A message that waits starts the next turn in the same breath; one of mode `steer` that came too
 * late for the last write lets this turn go on instead. `nextRunId` is the id of that run.
 *
 * A request that sends a message holds the task's lock. So the statement asks what waits when it holds the lock itself, by the
 * function `waiting_message_steers(task)` (waiting-message-steers.function.ts), which sees what was committed meanwhile.
 */
export const COMPLETED = sql`
WITH ${END},
waiting AS MATERIALIZED (
  SELECT task.id, task.paused, run.workspace_id, waiting_message_steers(task.id) AS steer FROM task, run),
next AS (
  INSERT INTO runs (id, task_id, workspace_id, kind, status)
  SELECT ${uuid('nextRunId')}, id, workspace_id, CASE WHEN steer THEN 'continuation' ELSE 'turn' END, ${statusOfRun('waiting')}
  FROM waiting WHERE steer IS NOT NULL
  RETURNING id)
UPDATE tasks t SET updated_at = now(), ${ADD_DURATION}, ${MEASURED},
  status = CASE WHEN EXISTS (SELECT 1 FROM next) THEN 'queued' ELSE 'completed' END,
  finished_at = CASE WHEN EXISTS (SELECT 1 FROM next) THEN NULL ELSE now() END,
  status_reason = CASE WHEN EXISTS (SELECT 1 FROM next) THEN t.status_reason END,
  result_text = ${completed('outcome', 'text', 'text')}, result_output = ${completed('outcome', 'output', 'json')},
  result_file_ids = coalesce((
    SELECT array_agg(f.id ORDER BY f.created_at, f.id) FROM files f
    WHERE f.task_id = t.id AND f.origin = 'task' AND f.turn = t.turn), '{}')
FROM run WHERE t.id = ${TASK_ID} RETURNING t.id`.rows<{ id: string }>();

/** Ends the run and fails the task. */
export const FAILED = sql`
WITH ${END},
${closeCalls(raw('SELECT task.id FROM task, run'), raw(`'The turn ended before this call had a result.'`))},
${recordNews(CLOSED)}
UPDATE tasks t SET ${COUNT_NEWS}, status = 'failed', status_reason = ${jsonb<StatusReason>()('reason')}, read_all = true, finished_at = now(),
  updated_at = now(), ${ADD_DURATION}, ${MEASURED}
FROM run WHERE t.id = ${TASK_ID} RETURNING t.id`.rows<{ id: string }>();

/** Ends the run until a person answers. */
export const QUESTION = sql`
WITH ${END},
asked AS (
  INSERT INTO interactions (id, task_id, message_id, tool_call_id, type, question, options, multiple, allow_text, expires_at)
  SELECT ${uuid('interactionId')}, task.id, ${MESSAGE_ID}, ${CALL_ID}, ${text('type')}, ${text('question')},
    ${jsonb<Question['options']>()('options')}, ${bool('multiple')}, ${bool('allowText')},
    now() + make_interval(secs => ${int('ttlSeconds')})
  FROM task, run
  RETURNING id),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref)
  SELECT task.id, task.last_event + 1, 'interaction.created', asked.id FROM task, asked)
UPDATE tasks t SET status = 'awaiting_input', updated_at = now(), last_event = t.last_event + 1, ${ADD_DURATION}, ${MEASURED}
FROM run, asked WHERE t.id = ${TASK_ID} RETURNING t.id`.rows<{ id: string }>();
