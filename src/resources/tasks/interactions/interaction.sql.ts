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
import { closedNews, COUNT_NEWS, PLACE, recordNews } from '../events/record.sql.js';
import { statusesBefore, statusOfRun } from '../task-status.js';
import { Interaction } from './interaction.entity.js';
import { SETTLED } from './settlement.js';

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

/** The task goes on after its interaction. The caller holds the task's lock, as it does for all that follow but {@link EXPIRE}. */
export const CONTINUE = sql`
WITH recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref, data)
  SELECT id, last_event + 1, 'interaction.settled', ${SETTLED.id}, ${SETTLED.data} FROM tasks WHERE id = ${TASK_ID}),
task AS (
  UPDATE tasks SET status = 'queued', updated_at = now(), archived = false, last_event = last_event + 1
  WHERE id = ${TASK_ID} AND status IN (${statusesBefore('queued')})
  RETURNING id, workspace_id, paused)
INSERT INTO runs (id, task_id, workspace_id, kind, status, traceparent)
SELECT ${RUN_ID}, id, workspace_id, 'continuation', ${statusOfRun('task')}, ${textOrNull('traceparent')} FROM task`.rows();

const TASK = sql`task AS (SELECT id, last_event FROM tasks WHERE id = ${TASK_ID})`;

/**
 * CTEs that give the call of an interaction its result, complete its message when it was the last open one, and write what
 * is new of the two (and `further` news). Joins `asked` (task_id, message_id, tool_call_id); `set` assigns state with output or error.
 */
const settleCall = <P>(set: Fragment<P>, further: Fragment<None> = raw('')) => sql`
settled AS (
  UPDATE tool_invocations v SET ${set}, finished_at = now() FROM asked
  WHERE v.message_id = asked.message_id AND v.tool_call_id = asked.tool_call_id AND v.state = 'running'
  RETURNING asked.task_id, v.message_id, v.idx, v.tool_call_id),
completed AS (
  UPDATE messages m SET status = 'complete' FROM asked
  WHERE m.id = asked.message_id AND NOT EXISTS (
    SELECT 1 FROM tool_invocations o
    WHERE o.message_id = m.id AND o.state = 'running' AND o.tool_call_id <> asked.tool_call_id)
  RETURNING m.task_id, m.id, m.seq),
${recordNews(sql`${closedNews(raw('settled'), raw('completed'))} ${further}`)}`;

/** Answers a question or choice. */
export const REPLY = sql`
WITH ${TASK},
asked AS (
  UPDATE interactions SET status = 'answered' WHERE task_id = ${TASK_ID} AND status = 'pending'
  RETURNING task_id, message_id, tool_call_id),
${settleCall(sql`state = 'success', output = ${jsonb<JsonValue>()('output')}`)}
UPDATE tasks t SET ${COUNT_NEWS} FROM asked WHERE t.id = ${TASK_ID}`.rows();

/**
 * `remember`: the tool needs no more asking in this task. What the question grants is on record in any case, and no tool then. The call stays
 * open, and may begin. Questions of before migration 0091 name no tool: it is the one that the call names.
 */
export const APPROVE = sql`
WITH asked AS (
  UPDATE interactions SET status = 'answered', decision = 'approve', reason = ${textOrNull('reason')}
  WHERE task_id = ${TASK_ID} AND status = 'pending' RETURNING message_id, tool_call_id, tool, grants),
approved AS (
  UPDATE tool_invocations v SET stage = 'approved' FROM asked
  WHERE v.message_id = asked.message_id AND v.tool_call_id = asked.tool_call_id AND v.state = 'running'
  RETURNING coalesce(asked.tool, v.name) AS tool, asked.grants)
UPDATE tasks t SET approved_tools = t.approved_tools || coalesce(approved.grants, approved.tool) FROM approved
WHERE t.id = ${TASK_ID} AND (approved.grants IS NOT NULL OR ${bool('remember')})`.rows();

export const DENY = sql`
WITH ${TASK},
asked AS (
  UPDATE interactions SET status = 'answered', decision = 'deny', reason = ${textOrNull('reason')}
  WHERE task_id = ${TASK_ID} AND status = 'pending' RETURNING task_id, message_id, tool_call_id),
${settleCall(sql`state = 'denied', error = ${textOrNull('reason')}`)}
UPDATE tasks t SET ${COUNT_NEWS} FROM asked WHERE t.id = ${TASK_ID}`.rows();

/**
 * A person has sent a message in place of an answer. All open calls of the step end, so that the agent reads the message before
 * it asks anything else. `asked` sets the interaction, `state` is that of the calls, `reason` what the model reads of them.
 */
const endStep = <P>(asked: Fragment<P>, state: Fragment<None>) =>
  sql`
WITH ${TASK},
asked AS (
  UPDATE interactions SET ${asked} WHERE task_id = ${TASK_ID} AND status = 'pending' RETURNING task_id, message_id),
settled AS (
  UPDATE tool_invocations v SET state = ${state}, error = ${text('reason')}, finished_at = now() FROM asked
  WHERE v.message_id = asked.message_id AND v.state = 'running'
  RETURNING asked.task_id, v.message_id, v.idx, v.tool_call_id),
completed AS (
  UPDATE messages m SET status = 'complete' FROM asked WHERE m.id = asked.message_id RETURNING m.task_id, m.id, m.seq),
${recordNews(closedNews(raw('settled'), raw('completed')))}
UPDATE tasks t SET ${COUNT_NEWS} FROM asked WHERE t.id = ${TASK_ID}`;

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
  SELECT id, workspace_id, last_event, paused FROM tasks WHERE id = ${TASK_ID} AND status = 'awaiting_input' FOR UPDATE SKIP LOCKED),
asked AS (
  UPDATE interactions i SET status = 'expired' FROM task
  WHERE i.task_id = task.id AND i.status = 'pending' AND i.expires_at <= clock_timestamp()
  RETURNING i.id, i.task_id, i.message_id, i.tool_call_id, i.type, i.expires_at),
${settleCall(
  raw(`state = CASE asked.type WHEN 'approval' THEN 'denied' ELSE 'error' END,
  error = 'no answer by ' || to_char(asked.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`),
  sql`
UNION ALL
SELECT task_id, ${PLACE.interaction}, 0, 'interaction.settled', id, '{"outcome": "expired", "by": null}'::jsonb FROM asked`,
)},
run AS (
  INSERT INTO runs (id, task_id, workspace_id, kind, status)
  SELECT ${RUN_ID}, task.id, task.workspace_id, 'continuation', ${statusOfRun('task')} FROM task, asked RETURNING id)
UPDATE tasks t SET status = 'queued', updated_at = now(), ${COUNT_NEWS} FROM run WHERE t.id = ${TASK_ID} RETURNING run.id`.rows<{
  id: string;
}>();
