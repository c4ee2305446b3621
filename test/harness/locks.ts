// Forced orders of events: connections that hold rows of the database, and who waits for them.
import pg from 'pg';
import type { TestDatabase } from './database.js';
import { until } from './until.js';

/** A transaction of a test, which keeps others waiting until it is over. */
export interface Holder {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
  /** Commits, and lets go. */
  release(): Promise<void>;
}

/** A transaction that has run a statement: what that has locked stays locked. Waits in its turn when others hold it. */
export async function holding(db: Pick<TestDatabase, 'url'>, sql: string, parameters: unknown[] = []): Promise<Holder> {
  const client = new pg.Client({ connectionString: db.url });
  // A test that failed has not released it, and the database goes with it.
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN');
  await client.query(sql, parameters);
  return {
    query: (text, values) => client.query(text, values),
    release: async () => {
      await client.query('COMMIT');
      await client.end();
    },
  };
}

/** A transaction that holds a task's row, the mutex of all that moves the task. */
export function holdingTask(db: TestDatabase, id: string): Promise<Holder> {
  return holding(db, 'SELECT 1 FROM tasks WHERE id = $1 FOR UPDATE', [id]);
}

/** Words near the beginning of the statement that claims a run: PostgreSQL shows the first 1,024 bytes of a statement. */
export const CLAIM_BEGINS = 'AS read_upto FROM tasks';

/** The statements that wait for a lock at this moment. */
export async function waiting(db: TestDatabase): Promise<string[]> {
  const rows = await db.query<{ query: string }>(
    `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.map(({ query }) => query);
}

/** Waits until a statement with these words waits for a lock. */
export async function untilWaiting(db: TestDatabase, words: string): Promise<void> {
  await until(`a statement to wait with: ${words}`, async () => (await waiting(db)).some((sql) => sql.includes(words)));
}
