// For suites in which processes die: whatever has happened to the tasks of a database, their events tell all of it.
import { beforeDrop } from './database.js';

beforeDrop.push(async (db) => {
  const [{ n } = { n: 0 }] = await db.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM information_schema.tables WHERE table_name = 'task_events'`,
  );
  if (n === 0) return;
  const [some] = await db.query('SELECT 1 FROM tasks LIMIT 1');
  // Loaded when there is something to compare: many stories have no tasks.
  if (some !== undefined) await (await import('./told.js')).expectTold(db);
});
