import { setTimeout as wait } from 'node:timers/promises';
import { Client } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { numbers, SEED } from '../harness/numbers.js';
import { bash, delegate, DONE, part } from '../harness/subtasks.js';
import { createTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { happen, mishapsOf } from './mishaps.js';
import { MODEL } from './orders.js';
import { World } from './world.js';

const LONG = process.env['MILLWRIGHT_LONG'] === '1';
const KILLS = LONG ? 50 : 3;
const MAX_STEPS = 40;
const BUDGET = { maxSteps: MAX_STEPS, maxCost: '1' };
/** Tasks of a tree: the parent, three children, and two of the last of these. */
const SIZE = 6;

/** Milliseconds that the trees may take at a time. */
const WITHIN = LONG ? 3_000_000 : 240_000;
const IS_OPEN = `t.status NOT IN ('completed', 'failed', 'cancelled')`;
const OPEN = `SELECT count(*)::int AS n FROM tasks t WHERE ${IS_OPEN}`;
/** What is not over, for whoever reads why it failed. */
const LEFT = `
  SELECT t.title, t.status, t.status_reason ->> 'code' AS reason, t.waiting_since AS waiting, r.status AS run, r.epoch, r.lease_until > now() AS held
  FROM tasks t LEFT JOIN runs r ON r.task_id = t.id AND r.status IN ('queued', 'paused', 'running') WHERE ${IS_OPEN} ORDER BY t.id`;

/** What must hold when all is over: each statement finds what does not. */
const BROKEN = {
  // A parent that nobody has woken, a child that nobody has finished.
  'a task that is not over': `SELECT t.id, t.status FROM tasks t WHERE ${IS_OPEN}`,
  'a share that was not given back': `SELECT task_id FROM task_children WHERE settled_at IS NULL`,
  'a task that was begun twice': `SELECT task_id FROM runs WHERE kind = 'turn' GROUP BY task_id HAVING count(*) > 1`,
  'a child that no call has made': `SELECT id FROM tasks t WHERE parent_task_id IS NOT NULL AND NOT EXISTS (SELECT FROM task_children c WHERE c.task_id = t.id)`,
  'a call that has made more than it was to': `SELECT message_id FROM task_children GROUP BY message_id, tool_call_id HAVING count(*) > 3`,
  'a cost that the ledger does not have': `
    SELECT t.id FROM tasks t LEFT JOIN (SELECT task_id, sum(cost_micros) AS cost, count(*) AS n FROM usage_ledger GROUP BY task_id) l ON l.task_id = t.id
    WHERE coalesce(t.cost_micros, 0) <> coalesce(l.cost, 0) OR t.steps <> coalesce(l.n, 0)`,
  'a budget that was exceeded': `
    SELECT p.id FROM tasks p WHERE p.parent_task_id IS NULL AND ${MAX_STEPS} < p.steps + (
      SELECT coalesce(sum(b.steps), 0) FROM tasks b
      WHERE b.parent_task_id = p.id OR b.parent_task_id IN (SELECT id FROM tasks WHERE parent_task_id = p.id))`,
  'a share that was exceeded': `
    SELECT t.id FROM task_children c JOIN tasks t ON t.id = c.task_id
    WHERE c.reserved_steps < t.steps + (SELECT coalesce(sum(b.steps), 0) FROM tasks b WHERE b.parent_task_id = t.id)`,
  'a parent that was over before its child': `
    SELECT p.id FROM task_children c JOIN tasks t ON t.id = c.task_id JOIN tasks p ON p.id = t.parent_task_id
    WHERE p.status = 'completed' AND (p.finished_at < t.finished_at OR t.finished_at IS NULL)`,
  'a call without its result': `SELECT message_id FROM tool_invocations WHERE state = 'running'`,
};

const SCENES = [
  { name: 'many places', runningTasks: 1000, trees: LONG ? 270 : 8 },
  { name: 'one place for all of them', runningTasks: 1, trees: LONG ? 30 : 3 },
];

describe.each(SCENES)(
  'Trees of tasks under kills and cancels, with $name (reference §27)',
  ({ runningTasks, trees, name }) => {
    let db: TestDatabase;
    let world: World;
    beforeAll(async () => {
      db = await createDatabase();
      world = await World.start({ databaseUrl: db.url, workers: 2, leaseSeconds: 2, runningTasks });
    });
    afterAll(async () => {
      await world.close();
      await db.drop();
    });

    const tree = () => {
      const inner = delegate(part('D', [bash('echo d')]), part('E'));
      return script(
        bash('echo p'),
        delegate(part('A', [bash('echo a')]), part('B'), part('C', [inner])),
        bash('echo q'),
        DONE,
      );
    };

    it(
      'each step is billed once, no budget is exceeded, no parent is lost, and none is begun twice',
      async () => {
        const random = numbers(SEED);
        const client = new Client(world.api.url, world.secret);
        const over = new AbortController();
        const happened = { kills: 0, freezes: 0, flushes: 0 };
        const list = mishapsOf(random, 3600, world.workers.length);
        const mishaps = happen(list, world, { redis: null, freezeMs: 3_000, signal: over.signal }, happened);
        const cancelled: Promise<unknown>[] = [];
        const open = async () => (await db.query<{ n: number }>(OPEN))[0]?.n ?? 0;
        let sent = 0;
        // With fewer kills nothing was proved: a fast machine sends more, one when most of those before are over.
        for (; sent < trees || happened.kills < KILLS; sent++) {
          if (sent >= trees) await until('most trees to be over', async () => happened.kills >= KILLS || (await open()) <= SIZE, { within: WITHIN, every: 200 }); // prettier-ignore
          if (sent >= trees && happened.kills >= KILLS) break;
          const { id } = await createTask(client, {
            content: tree(),
            model: MODEL,
            budget: BUDGET,
            title: `Tree ${sent}`,
          });
          // A fifth of them is cancelled at some time, as a whole or one child of it.
          if (random() < 0.2) cancelled.push(wait(random() * 6_000).then(() => cancel(client, id, random() < 0.5)));
          if (sent < trees) await wait(random() * 200);
        }
        await Promise.all(cancelled);
        const none = async () => (await open()) === 0;
        await until('all trees to be over', none, { within: WITHIN, every: 200 }).catch(async (error: Error) => {
          throw new Error(`${error.message}: ${JSON.stringify(await db.query(LEFT))}, after ${JSON.stringify({ sent, ...happened })}`); // prettier-ignore
        });
        over.abort();
        await mishaps;
        for (const [what, query] of Object.entries(BROKEN)) expect([what, await db.query(query)]).toEqual([what, []]);
        const [made] = await db.query<{ trees: number; tasks: number; whole: number }>(`
      SELECT count(*) FILTER (WHERE parent_task_id IS NULL)::int AS trees, count(*)::int AS tasks,
        count(*) FILTER (WHERE parent_task_id IS NULL AND status = 'completed')::int AS whole FROM tasks`);
        expect(made?.trees).toBe(sent);
        expect(made?.tasks).toBeLessThanOrEqual(sent * SIZE);
        // Most of them came to their end.
        expect(made?.whole).toBeGreaterThan(sent / 2);
        console.log(`Trees with ${name}: ${JSON.stringify({ ...made, ...happened, cancels: cancelled.length })}`);
      },
      3 * WITHIN,
    );
  },
);

/** What is over by then is left as it is. */
async function cancel(client: Client, id: string, whole: boolean): Promise<void> {
  const { body } = await client.get<{ tasks: { id: string }[] }>(`/v1/tasks?parentTaskId=${id}`);
  const which = whole ? id : (body.tasks[0]?.id ?? id);
  expect([200, 409]).toContain((await client.post(`/v1/tasks/${which}/cancel`)).status);
}
