import type { TestDatabase } from '../harness/database.js';
import { imbalances } from './accounts.js';
import { violations } from './checker.js';
import { readHistory } from './history.js';
import type { Order } from './orders.js';
import { report } from './report.js';
import type { World } from './world.js';

/** Enough to understand; a loop that went wrong has thousands. */
const SHOWN = 20;

/** Fails unless the history of these orders is whole and what all tasks used adds up; `name` is what their keys begin with. */
export async function expectWhole(db: Pick<TestDatabase, 'query'>, world: World, name: string, orders: Order[]) {
  const found = violations(orders, await readHistory(db, world, name));
  if (found.length > 0) report(`${found.length} violations; the processes said last:\n${world.log}`);
  expect(found.slice(0, SHOWN)).toEqual([]);
  expect((await imbalances(db)).slice(0, SHOWN)).toEqual([]);
  expect(await unaudited(db)).toEqual([]);
}

/** Tasks that a request made without a row in the audit log, rows of tasks that were not made, and second rows. */
async function unaudited(db: Pick<TestDatabase, 'query'>): Promise<unknown[]> {
  return db.query(
    `WITH made AS (SELECT id::text AS id FROM tasks WHERE automation_id IS NULL),
       named AS (SELECT target_id AS id FROM audit_log WHERE action = 'task.create' AND outcome = 'done')
     (TABLE made EXCEPT ALL TABLE named) UNION ALL (TABLE named EXCEPT ALL TABLE made) LIMIT $1`,
    [SHOWN],
  );
}
