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

/** $1 task id, $2 state, $3 output, $4 error, $5 status of the interaction. */
export const SETTLE = `
WITH asked AS (
  UPDATE interactions SET status = $5 WHERE task_id = $1 AND status = 'pending' RETURNING message_id, tool_call_id),
${SETTLE_CALL('state = $2, output = $3::jsonb, error = $4')}
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

/** A message in place of a decision denies what is open of the step, so that it is read next. $1 task id, $2 reason. */
export const DENY_STEP = `
WITH asked AS (
  UPDATE interactions SET status = 'cancelled', decision = 'deny', reason = $2
  WHERE task_id = $1 AND status = 'pending' RETURNING message_id),
settled AS (
  UPDATE tool_invocations v SET state = 'denied', error = $2, finished_at = now() FROM asked
  WHERE v.message_id = asked.message_id AND v.state = 'running')
UPDATE messages m SET status = 'complete' FROM asked WHERE m.id = asked.message_id`;
