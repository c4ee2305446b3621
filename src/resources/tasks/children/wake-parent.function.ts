/**
 * Lets a task go on that waits for tasks of its own, when the last of these is final: its run may be claimed again, or waits for the end of its pause. It
 * changes the run alone: who ends a task never waits for the row of its parent, whose holder may want that of the child (docs/decisions/0103).
 *
 * A function, and VOLATILE, because each statement in it sees what was committed before that statement: of two children that end at the same time each
 * would take the other for unfinished. They come to the run one after the other, also when it is still running and about to wait.
 */
export const WAKE_PARENT = `
CREATE OR REPLACE FUNCTION wake_parent(parent uuid) RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  woken uuid;
BEGIN
  PERFORM FROM runs WHERE task_id = parent AND status IN ('queued', 'paused', 'running') FOR UPDATE;
  IF EXISTS (
    SELECT FROM task_children c JOIN tool_invocations v ON v.message_id = c.message_id AND v.tool_call_id = c.tool_call_id
    WHERE c.parent_id = parent AND c.settled_at IS NULL AND NOT c.released AND v.state = 'running') THEN
    RETURN NULL;
  END IF;
  UPDATE runs SET status = 'queued', created_at = clock_timestamp()
  WHERE task_id = parent AND status = 'paused' AND EXISTS (
    SELECT FROM tasks t WHERE t.id = parent AND t.waiting_since IS NOT NULL AND NOT t.paused)
  RETURNING id INTO woken;
  RETURN woken;
END $$;
`;
