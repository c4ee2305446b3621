/**
 * When a task that no worker has changed the last time, and how it has ended: what lists are ordered and filtered by (task-list.sql.ts). While a
 * worker has it both stay, so that no step writes an index. A trigger, because so many statements set the time and the status (docs/decisions/0089).
 */
export const REST_TASK = `
CREATE OR REPLACE FUNCTION rest_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.rested_at := NEW.updated_at;
  NEW.ended_as := CASE WHEN NEW.status IN ('completed', 'cancelled', 'failed') THEN NEW.status END;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER rest_of_task BEFORE INSERT OR UPDATE OF status, updated_at ON tasks FOR EACH ROW
  WHEN (NEW.status <> 'running') EXECUTE FUNCTION rest_task();
`;
