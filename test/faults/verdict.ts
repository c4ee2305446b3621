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
}
