import { Client } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { call, createTask, finished, script } from '../harness/tasks.js';
import { imbalances } from './accounts.js';
import { MODEL } from './orders.js';
import { report } from './report.js';
import { World } from './world.js';

const TASKS = 16;
/** What the window has. Each call counts 100 tokens in and 10 out. */
const CALLS = 100;
const TOKENS = 110;
/** Of a task; all together more than twice what the window has. */
const STEPS = 20;

describe('A window of usage that 16 tasks on 4 workers use up (reference §14)', () => {
  let db: TestDatabase;
  let world: World;

  beforeAll(async () => {
    db = await createDatabase();
    world = await World.start({ databaseUrl: db.url, workers: 4 });
  });
  afterAll(async () => {
    await world.close();
    await db.drop();
  });

  it('is exceeded by no more than the calls under way, and what was used adds up', async () => {
    const windows = [{ window: 'month', unit: 'tokens', allowance: CALLS * TOKENS }];
    await db.query('UPDATE workspaces SET usage_windows = $1', [JSON.stringify(windows)]);
    const client = new Client(world.api.url, world.secret);
    const todo = (n: number) => call('todo', { items: [{ text: `Step ${n}`, status: 'in_progress' }] });
    const content = script(...Array.from({ length: STEPS }, (_, n) => ({ ...todo(n), firstByteMs: 100 })));
    const made = await Promise.all(
      Array.from({ length: TASKS }, () => createTask(client, { title: 'spend', content, model: MODEL })),
    );
    const ended = await Promise.all(made.map(({ id }) => finished(client, id)));
    const calls = world.model.requests.length;
    const [used] = await db.query<{ calls: number; tokens: number }>(
      `SELECT (SELECT count(*)::int FROM usage_ledger) AS calls, (SELECT sum(tokens)::int FROM usage_days) AS tokens`,
    );
    report('calls against a window of 100', { calls });
    expect(ended.map(({ statusReason }) => statusReason?.code)).toEqual(made.map(() => 'usage_exhausted'));
    // All that were sent are counted. The last one that fits is on record while every other task has at most one under way.
    expect(used).toEqual({ calls, tokens: calls * TOKENS });
    expect(calls).toBeGreaterThanOrEqual(CALLS);
    expect(calls).toBeLessThanOrEqual(CALLS + TASKS - 1);
    expect(await imbalances(db)).toEqual([]);
  });
});
