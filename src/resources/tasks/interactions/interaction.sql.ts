// Statements that end a pending interaction. The caller holds the task's lock.

/**
 * Two CTEs that give the call of an interaction its result and, when it was the last open one, complete its message.
 * Joins `asked` (message_id, tool_call_id); `set` assigns state with output or error.
 */
export const SETTLE_CALL = (set: string): string => `
settled AS (
  UPDATE tool_invocations v SET ${set}, finished_at = now() FROM asked
  WHERE v.message_id = asked.message_id AND v.tool_call_id = asked.tool_call_id AND v.state = 'running'),
completed AS (
  UPDATE messages m SET status = 'complete' FROM asked
  WHERE m.id = asked.message_id AND NOT EXISTS (
    SELECT 1 FROM tool_invocations o
    WHERE o.message_id = m.id AND o.state = 'running' AND o.tool_call_id <> asked.tool_call_id))`;

/** $1 task id, $2 output. */
export const REPLY = `
WITH asked AS (
  UPDATE interactions SET status = 'answered' WHERE task_id = $1 AND status = 'pending' RETURNING message_id, tool_call_id),
${SETTLE_CALL(`state = 'success', output = $2::jsonb`)}
SELECT 1 FROM asked`;

/** $1 task id, $2 reason, $3 whether the tool needs no more asking in this task. The call stays open, and may begin. */
export const APPROVE = `
WITH asked AS (
  UPDATE interactions SET status = 'answered', decision = 'approve', reason = $2
  WHERE task_id = $1 AND status = 'pending' RETURNING message_id, tool_call_id),
approved AS (
  UPDATE tool_invocations v SET stage = 'approved' FROM asked
  WHERE v.message_id = asked.message_id AND v.tool_call_id = asked.tool_call_id AND v.state = 'running'
  RETURNING v.name)
UPDATE tasks t SET approved_tools = t.approved_tools || approved.name FROM approved WHERE t.id = $1 AND $3::boolean`;

/** $1 task id, $2 reason. */
export const DENY = `
WITH asked AS (
  UPDATE interactions SET status = 'answered', decision = 'deny', reason = $2
  WHERE task_id = $1 AND status = 'pending' RETURNING message_id, tool_call_id),
${SETTLE_CALL(`state = 'denied', error = $2`)}
SELECT 1 FROM asked`;

/**
 * A message in place of an answer ends what is open of the step, so that it is read next: nobody is asked what follows before
 * the agent has read it. `asked` sets the interaction, `set` the calls. $1 task id, $2 what the model reads of them.
 */
const endStep = (asked: string, set: string): string => `
WITH asked AS (
  UPDATE interactions SET ${asked} WHERE task_id = $1 AND status = 'pending' RETURNING message_id),
settled AS (
  UPDATE tool_invocations v SET ${set}, finished_at = now() FROM asked
  WHERE v.message_id = asked.message_id AND v.state = 'running')
UPDATE messages m SET status = 'complete' FROM asked WHERE m.id = asked.message_id`;

export const CANCEL_STEP = endStep(`status = 'cancelled'`, `state = 'error', error = $2`);
export const DENY_STEP = endStep(
  `status = 'cancelled', decision = 'deny', reason = $2`,
  `state = 'denied', error = $2`,
);
