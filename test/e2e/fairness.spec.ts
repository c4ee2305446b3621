import pg from 'pg';
import { Reconciler } from '../../src/work/runs/reconciler.js';
import { bootWorker, type TestApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type Asked, HeldModel } from '../harness/held-model.js';
import { ROOMY } from '../harness/limits.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { createTask, finished } from '../harness/tasks.js';
import { until } from '../harness/until.js';

/** One worker with few places, and a model that answers when the test says so. */
class Bench {
  private constructor(
    readonly model: HeldModel,
    readonly service: TestApp,
  ) {}

  static async start(env: Record<string, string>, config: object = {}): Promise<Bench> {
    const model = await HeldModel.start();
    const all = { OPENAI_COMPATIBLE_URL: model.server.url, ...env };
    return new Bench(model, await bootWorker({ env: all, config: { ...ROOMY, ...config } }));
  }

  async create({ client }: Pick<Member, 'client'>, name: string, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 1; n <= count; n++) ids.push((await createTask(client, { content: `${name}${n}` })).id);
    return ids;
  }

  /** Which task is asked about next. */
  async next(): Promise<Asked & { task: string }> {
    const asked = await this.model.asked();
    return { ...asked, task: asked.said[0] ?? '' };
  }

  async some(count: number): Promise<(Asked & { task: string })[]> {
    const all = [];
    while (all.length < count) all.push(await this.next());
    return all;
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.model.server.stop();
  }
}

const suite = (signals: () => Promise<Record<string, string>>) => () => {
  let bench: Bench;
  afterEach(() => bench.close());

  it('500 queued tasks of one workspace delay the single task of another by no more than the next free place', async () => {
    bench = await Bench.start({ WORKER_CONCURRENCY: '2', ...(await signals()) });
    const [busy, other] = [await makeMember(bench.service), await makeMember(bench.service)];
    await bench.create(busy, 'busy ', 500);
    const held = await bench.some(2);
    const [single = ''] = await bench.create(other, 'single ', 1);
    held[0]?.answer({ text: 'Done.' });
    const next = await bench.next();
    expect(next.task).toBe('single 1');
    next.answer({ text: 'Done.' });
    expect(await finished(other.client, single)).toMatchObject({ status: 'completed' });
    expect((await bench.next()).task).toBe('busy 3');
  }, 120_000);
};

describe('A busy workspace cannot starve the others (reference §5)', () => {
  describe(
    'without Redis',
    suite(() => Promise.resolve({})),
  );

  describeWithRedis('with Bull, first in first out', () => {
    let redis: RedisServer;
    beforeAll(async () => (redis = await RedisServer.start()));
    afterAll(() => redis.stop());
    suite(() => Promise.resolve({ REDIS_URL: redis.url }))();
  });

  describe('by places', () => {
    let bench: Bench;
    afterEach(() => bench.close());

    it('workspaces take turns, each its own tasks first in, first out', async () => {
      bench = await Bench.start({ WORKER_CONCURRENCY: '1' });
      for (const name of ['a', 'b', 'c']) await bench.create(await makeMember(bench.service), name, 3);
      const order: string[] = [];
      while (order.length < 9) {
        const { task, answer } = await bench.next();
        order.push(task);
        answer({ text: 'Done.' });
      }
      expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3']);
    });

    it('a free place goes to the workspace with the fewest running tasks', async () => {
      bench = await Bench.start({ WORKER_CONCURRENCY: '3' });
      const [busy, other] = [await makeMember(bench.service), await makeMember(bench.service)];
      await bench.create(busy, 'busy ', 6);
      const held = await bench.some(3);
      await bench.create(other, 'other ', 3);
      held[0]?.answer({ text: 'Done.' });
      expect((await bench.next()).task).toBe('other 1');
      held[1]?.answer({ text: 'Done.' });
      // One each: the one that was given its last place earlier.
      expect((await bench.next()).task).toBe('busy 4');
    });

    it('tasks above the cap of their workspace hide no others, of workspaces that have more running neither', async () => {
      bench = await Bench.start({ WORKER_CONCURRENCY: '6' });
      await bench.create(await makeMember(bench.service, { plan: 'free' }), 'full ', 30);
      // Claims of tasks that come one after the other may overtake each other.
      expect(names(await bench.some(2))).toEqual([expect.stringMatching(/^full/), expect.stringMatching(/^full/)]);
      await bench.create(await makeMember(bench.service), 'other ', 5);
      const held = await bench.some(4);
      held[0]?.answer({ text: 'Done.' });
      const all = names([...held, await bench.next()]);
      expect(all.sort()).toEqual(['other 1', 'other 2', 'other 3', 'other 4', 'other 5']);
    });

    it('what a worker has lost goes before new work, that of other workspaces too', async () => {
      bench = await Bench.start({ WORKER_CONCURRENCY: '1', LEASE_SECONDS: '4' });
      const { db, app } = bench.service;
      const [id] = await bench.create(await makeMember(bench.service), 'lost ', 2);
      await bench.next();
      await bench.create(await makeMember(bench.service), 'new ', 1);
      await until('the run to be recovered', async () => {
        await db.query(`UPDATE runs SET lease_until = now() - interval '1 second' WHERE status = 'running'`);
        app.get(Reconciler, { strict: false }).tick();
        return (await db.query('SELECT 1 FROM runs WHERE task_id = $1 AND recovery_count = 1', [id])).length > 0;
      });
      expect((await bench.next()).task).toBe('lost 1');
    });

    it('a task that a stopped process has locked holds up no other', async () => {
      bench = await Bench.start({ WORKER_CONCURRENCY: '3' });
      const { client } = await makeMember(bench.service);
      const ids = await bench.create({ client }, 'task ', 5);
      const held = await bench.some(3);
      const stopped = new pg.Client({ connectionString: bench.service.db.url });
      await stopped.connect();
      await stopped.query('BEGIN');
      await stopped.query('SELECT 1 FROM tasks WHERE id = $1 FOR UPDATE', [ids[3]]);
      for (const { answer } of held.slice(0, 2)) answer({ text: 'Done.' });
      expect((await bench.next()).task).toBe('task 5');
      await stopped.query('ROLLBACK');
      await stopped.end();
      expect((await bench.next()).task).toBe('task 4');
    });
  });
});

function names(asked: { task: string }[]): string[] {
  return asked.map(({ task }) => task).toSorted();
}
