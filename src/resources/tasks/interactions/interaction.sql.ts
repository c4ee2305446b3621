// How interactions are found, answered, settled and expired. The task's lock comes first: an answer that is being given either
// is done by then, or finds the question expired.
import type { JsonValue } from '../../../engine/models/conversation.js';
import { columns } from '../../../platform/database/columns.js';
import {
  bool,
  type Fragment,
  jsonb,
  type None,
  raw,
  sql,
  text,
  textOrNull,
  uuid,
} from '../../../platform/database/sql.js';
import { statusesBefore } from '../task-status.js';
import { Interaction } from './interaction.entity.js';

const TASK_ID = uuid('taskId');
const RUN_ID = uuid('runId');

const ASKED = columns(Interaction, 'i', ['id', 'type', 'options', 'multiple', 'allowText']);
export type PendingInteraction = typeof ASKED.row;

/** The pending interaction of a task. */
export const PENDING = sql`
SELECT ${ASKED}, i.expires_at <= clock_timestamp() AS expired
FROM interactions i WHERE i.task_id = ${TASK_ID} AND i.status = 'pending'`.rows<
  PendingInteraction & { expired: boolean }
>();

/** The task goes on. The caller holds the task's lock, as it does for all that follow but {@link EXPIRE}. */
export const CONTINUE = sql`
WITH task AS (
  UPDATE tasks SET status = 'queued', updated_at = now() WHERE id = ${TASK_ID} AND status IN (${statusesBefore('queued')})
  RETURNING id, workspace_id)
INSERT INTO runs (id, task_id, workspace_id, kind, status)
SELECT ${RUN_ID}, id, workspace_id, 'continuation', 'queued' FROM task`.rows();

/**
 * Two CTEs that give the call of an interaction its result and, when it was the last open one, complete its message.
 * Joins `asked` (message_id, tool_call_id); `set` assigns state with output or error.
 */
const settleCall = <P>(set: Fragment<P>) => sql`
settled AS (
  UPDATE tool_invocations v SET ${set}, finished_at = now() FROM asked
  WHERE v.message_id = asked.message_id AND v.tool_call_id = asked.tool_call_id AND v.state = 'running'),
completed AS (
  UPDATE messages m SET status = 'complete' FROM asked
  WHERE m.id = asked.message_id AND NOT EXISTS (
    SELECT 1 FROM tool_invocations o
    WHERE o.message_id = m.id AND o.state = 'running' AND o.tool_call_id <> asked.tool_call_id))`;

/** Answers a question or choice. */
export const REPLY = sql`
WITH asked AS (
  UPDATE interactions SET status = 'answered' WHERE task_id = ${TASK_ID} AND status = 'pending'
  RETURNING message_id, tool_call_id),
${settleCall(sql`state = 'success', output = ${jsonb<JsonValue>()('output')}`)}
SELECT 1 FROM asked`.rows();

/** `remember`: the tool needs no more asking in this task. The call stays open, and may begin. */
export const APPROVE = sql`
WITH asked AS (
  UPDATE interactions SET status = 'answered', decision = 'approve', reason = ${textOrNull('reason')}
  WHERE task_id = ${TASK_ID} AND status = 'pending' RETURNING message_id, tool_call_id),
approved AS (
  UPDATE tool_invocations v SET stage = 'approved' FROM asked
  WHERE v.message_id = asked.message_id AND v.tool_call_id = asked.tool_call_id AND v.state = 'running'
  RETURNING v.name)
UPDATE tasks t SET approved_tools = t.approved_tools || approved.name FROM approved
WHERE t.id = ${TASK_ID} AND ${bool('remember')}`.rows();

export const DENY = sql`
WITH asked AS (
  UPDATE interactions SET status = 'answered', decision = 'deny', reason = ${textOrNull('reason')}
  WHERE task_id = ${TASK_ID} AND status = 'pending' RETURNING message_id, tool_call_id),
${settleCall(sql`state = 'denied', error = ${textOrNull('reason')}`)}
SELECT 1 FROM asked`.rows();

/**
 * A person has sent a message in place of an answer. All open calls of the step end, so that the agent reads the message before
 * it asks anything else. `asked` sets the interaction, `state` is that of the calls, `reason` what the model reads of them.
 */
const endStep = <P>(asked: Fragment<P>, state: Fragment<None>) =>
  sql`
WITH asked AS (
  UPDATE interactions SET ${asked} WHERE task_id = ${TASK_ID} AND status = 'pending' RETURNING message_id),
settled AS (
  UPDATE tool_invocations v SET state = ${state}, error = ${text('reason')}, finished_at = now() FROM asked
  WHERE v.message_id = asked.message_id AND v.state = 'running')
UPDATE messages m SET status = 'complete' FROM asked WHERE m.id = asked.message_id`;

export const CANCEL_STEP = endStep(raw(`status = 'cancelled'`), raw(`'error'`)).rows();
export const DENY_STEP = endStep(
  sql`status = 'cancelled', decision = 'deny', reason = ${text('reason')}`,
  raw(`'denied'`),
).rows();

/** Some tasks whose interaction nobody has answered in time. */
export const DUE = sql`
SELECT task_id AS "taskId" FROM interactions WHERE status = 'pending' AND expires_at <= clock_timestamp() LIMIT 50`.rows<{
  taskId: string;
}>();

/** Locks the task, unless somebody else has it, ends its interaction and lets the task go on. */
export const EXPIRE = sql`
WITH task AS (
  SELECT id, workspace_id FROM tasks WHERE id = ${TASK_ID} AND status = 'awaiting_input' FOR UPDATE SKIP LOCKED),
asked AS (
  UPDATE interactions i SET status = 'expired' FROM task
  WHERE i.task_id = task.id AND i.status = 'pending' AND i.expires_at <= clock_timestamp()
  RETURNING i.message_id, i.tool_call_id, i.type, i.expires_at),
${settleCall(
  raw(`state = CASE asked.type WHEN 'approval' THEN 'denied' ELSE 'error' END,
  error = 'no answer by ' || to_char(asked.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`),
)},
run AS (
  INSERT INTO runs (id, task_id, workspace_id, kind, status)
  SELECT ${RUN_ID}, task.id, task.workspace_id, 'continuation', 'queued' FROM task, asked RETURNING id)
UPDATE tasks t SET status = 'queued', updated_at = now() FROM run WHERE t.id = ${TASK_ID} RETURNING run.id`.rows<{
  id: string;
}>();
