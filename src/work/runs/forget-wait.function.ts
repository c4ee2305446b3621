/**
 * What a run waits for is over when the status of its task changes: a worker that is lost tells nobody. The trigger below sets
 * `tasks.waiting_for` to null. It runs before those of events, in the order of their names (docs/decisions/0074).
 */
export const FORGET_WAIT = `
CREATE OR REPLACE FUNCTION forget_wait() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.waiting_for := NULL;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER a_wait_is_over BEFORE UPDATE OF status ON tasks FOR EACH ROW
  WHEN (OLD.waiting_for IS NOT NULL AND OLD.status <> NEW.status) EXECUTE FUNCTION forget_wait();
`;
