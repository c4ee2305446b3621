import type { TestDatabase } from './database.js';

/**
 * Records in the database how many runs a workspace ever had running at once. Exact at any concurrency: what starts a run
 * passes a lock after it has decided, and counts what was committed before, with itself. Each start takes 20 ms longer,
 * so that those which nothing keeps apart collide.
 */
export async function recordRunning(db: TestDatabase): Promise<void> {
  await db.query(`
    CREATE TABLE most_running (workspace_id uuid PRIMARY KEY, n int NOT NULL);
    CREATE FUNCTION record_running() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_sleep(0.02);
      PERFORM pg_advisory_xact_lock(1);
      INSERT INTO most_running AS m
      SELECT NEW.workspace_id, count(*) FROM runs WHERE workspace_id = NEW.workspace_id AND status = 'running'
      ON CONFLICT (workspace_id) DO UPDATE SET n = greatest(m.n, excluded.n);
      RETURN NULL;
    END $$;
    CREATE TRIGGER record_running AFTER UPDATE OF status ON runs FOR EACH ROW
      WHEN (NEW.status = 'running' AND OLD.status <> 'running') EXECUTE FUNCTION record_running()`);
}

/** The most runs that this workspace had running at once since {@link recordRunning}. */
export async function mostRunning(db: TestDatabase, workspaceId: string): Promise<number> {
  const [row] = await db.query<{ n: number }>('SELECT n FROM most_running WHERE workspace_id = $1', [workspaceId]);
  return row?.n ?? 0;
}
