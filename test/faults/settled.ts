import type { TestDatabase } from '../harness/database.js';
import { until } from '../harness/until.js';

const STATE = `
SELECT count(*) FILTER (WHERE status IN ('queued', 'running', 'awaiting_input'))::int AS open,
  coalesce(sum(last_seq), 0)::int AS progress FROM tasks WHERE title LIKE $1`;

/**
 * Resolves when all tasks whose keys begin with `name` are over, or when nothing has moved for so long that what is left
 * counts as lost: the checker says so.
 */
export async function settled(db: Pick<TestDatabase, 'query'>, name: string, patienceMs = 120_000): Promise<void> {
  let before = -1;
  let moved = Date.now();
  await until(
    `the tasks of ${name} to be over`,
    async () => {
      // A database that is away at the moment counts as one in which nothing moves.
      const [state] = await db.query<{ open: number; progress: number }>(STATE, [`${name}-%`]).catch(() => []);
      if (state !== undefined && state.progress + state.open !== before) moved = Date.now();
      if (state !== undefined) before = state.progress + state.open;
      return state?.open === 0 || Date.now() - moved > patienceMs;
    },
    { within: 3_600_000, every: 100 },
  );
}
