import type { TestDatabase } from './database.js';

/** Records from now on each status that a task comes to, with the code of its reason: also those too short-lived to be polled. */
export async function recordStatuses(db: TestDatabase): Promise<void> {
  await db.query(`
    CREATE TABLE recorded_statuses (n serial PRIMARY KEY, task_id uuid NOT NULL, status text NOT NULL, code text);
    CREATE FUNCTION record_status() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' OR NEW.status <> OLD.status THEN
        INSERT INTO recorded_statuses (task_id, status, code) VALUES (NEW.id, NEW.status, NEW.status_reason->>'code');
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER record_status AFTER INSERT OR UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION record_status()`);
}

/** The statuses of a task since {@link recordStatuses}, oldest first: `queued`, or `failed: model_error` with a reason. */
export async function statusesOf(db: TestDatabase, taskId: string): Promise<string[]> {
  const rows = await db.query<{ status: string }>(
    `SELECT concat_ws(': ', status, code) AS status FROM recorded_statuses WHERE task_id = $1 ORDER BY n`,
    [taskId],
  );
  return rows.map(({ status }) => status);
}
