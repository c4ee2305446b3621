/**
 * A task that another one has made is final for the first time, or is deleted: what it has used is written down, the rest of its share is the parent's
 * again, and the parent goes on after the last one. A trigger, because so many statements end a task (docs/decisions/0103).
 *
 * The run of the parent is locked before the counter of the workspace's bytes, as a parent that publishes locks both. So the deletion comes BEFORE: its
 * cascade counts the files. The end comes AFTER, for its statement may write the run of the parent too, and by its name before the trigger that counts
 * the bytes of the folder. One that its parent does not wait for leaves that run alone.
 */
export const CHILD_ENDED = `
CREATE OR REPLACE FUNCTION child_ended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  child tasks := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
  awaited boolean;
BEGIN
  UPDATE task_children SET settled_at = clock_timestamp(),
    used_steps = child.turn_steps + child.turn_reserved_steps,
    used_tokens = child.turn_tokens + child.turn_reserved_tokens,
    used_cost_micros = child.turn_cost_micros + child.turn_reserved_cost_micros
  WHERE task_id = child.id AND settled_at IS NULL
  RETURNING NOT released INTO awaited;
  IF awaited THEN
    PERFORM wake_parent(child.parent_task_id);
  END IF;
  RETURN OLD;
END $$;
CREATE OR REPLACE TRIGGER child_end AFTER UPDATE OF status ON tasks FOR EACH ROW
  WHEN (NEW.parent_task_id IS NOT NULL AND NEW.status IN ('completed', 'failed', 'cancelled') AND OLD.status NOT IN ('completed', 'failed', 'cancelled'))
  EXECUTE FUNCTION child_ended();
CREATE OR REPLACE TRIGGER child_deletion BEFORE DELETE ON tasks FOR EACH ROW
  WHEN (OLD.parent_task_id IS NOT NULL) EXECUTE FUNCTION child_ended();
`;
