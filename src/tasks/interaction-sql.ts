/**
 * Two CTEs that give the `ask` call its result and, when it was the last open one, complete its message. Joins `asked`
 * (message_id, tool_call_id); `set` assigns state with output or error.
 */
export const SETTLE_ASK = (set: string): string => `
settled AS (
  UPDATE tool_invocations v SET ${set}, finished_at = now() FROM asked
  WHERE v.message_id = asked.message_id AND v.tool_call_id = asked.tool_call_id AND v.state = 'running'),
completed AS (
  UPDATE messages m SET status = 'complete' FROM asked
  WHERE m.id = asked.message_id AND NOT EXISTS (
    SELECT 1 FROM tool_invocations o
    WHERE o.message_id = m.id AND o.state = 'running' AND o.tool_call_id <> asked.tool_call_id))`;
