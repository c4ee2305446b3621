import pg from 'pg';
import { bootApp, type TestApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type Asked, HeldModel } from '../harness/held-model.js';
import { ROOMY } from '../harness/limits.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { createTask, finished, reaches } from '../harness/tasks.js';

/** One worker with few places, and a model that answers when the test says so. */
class Bench {
  private constructor(
    readonly model: HeldModel,
    readonly service: TestApp,
  ) {}

  static async start(env: Record<string, string>, config: object = {}): Promise<Bench> {
    const model = await HeldModel.start();
    const all = { OPENAI_COMPATIBLE_URL: model.server.url, ...env };
    return new Bench(model, await bootApp({ env: all, config: { ...ROOMY, ...config } }));
  }

  async create({ client }: Member, name: string, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 1; n <= count; n++) ids.push((await createTask(client, { content: `${name}${n}` })).id);
    return ids;
  }

  /** Which task is asked about next. */
  async next(): Promise<Asked & { task: string }> {
    const asked = await this.model.asked();
    return { ...asked, task: asked.said[0] ?? '' };
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
    const held = [await bench.next(), await bench.next()];
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

  describe('one place after another', () => {
    let bench: Bench;
    beforeEach(async () => {
      bench = await Bench.start({ WORKER_CONCURRENCY: '1' });
    });
    afterEach(() => bench.close());

    it('workspaces take turns, each its own tasks first in, first out', async () => {
      for (const name of ['a', 'b', 'c']) await bench.create(await makeMember(bench.service), name, 3);
      const order: string[] = [];
      while (order.length < 9) {
        const { task, answer } = await bench.next();
        order.push(task);
        answer({ text: 'Done.' });
      }
      expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3']);
    });
  });

  describe('places and caps', () => {
    let bench: Bench;
    beforeEach(async () => {
      bench = await Bench.start({ WORKER_CONCURRENCY: '3' });
    });
    afterEach(() => bench.close());

    it('a free place goes to the workspace with the fewest running tasks', async () => {
      const [busy, other] = [await makeMember(bench.service), await makeMember(bench.service)];
      await bench.create(busy, 'busy ', 6);
      const held = [await bench.next(), await bench.next(), await bench.next()];
      await bench.create(other, 'other ', 3);
      held[0]?.answer({ text: 'Done.' });
      expect((await bench.next()).task).toBe('other 1');
      held[1]?.answer({ text: 'Done.' });
      // One each: the one that was given its last place earlier.
      expect((await bench.next()).task).toBe('busy 4');
    });

    it('tasks above the cap of their workspace hide no others', async () => {
      const full = await makeMember(bench.service, { plan: 'free' });
      await bench.create(full, 'full ', 30);
      const held = [await bench.next(), await bench.next()];
      expect(held.map(({ task }) => task).toSorted()).toEqual(['full 1', 'full 2']);
      const other = await makeMember(bench.service);
      const [id = ''] = await bench.create(other, 'other ', 1);
      const next = await bench.next();
      expect(next.task).toBe('other 1');
      next.answer({ text: 'Done.' });
      expect(await finished(other.client, id)).toMatchObject({ status: 'completed' });
    });

    it('a task that a stopped process has locked holds up no other', async () => {
      const member = await makeMember(bench.service);
      const ids = await bench.create(member, 'task ', 5);
      const held = [await bench.next(), await bench.next(), await bench.next()];
      const stopped = new pg.Client({ connectionString: bench.service.db.url });
      await stopped.connect();
      await stopped.query('BEGIN');
      await stopped.query('SELECT 1 FROM tasks WHERE id = $1 FOR UPDATE', [ids[3]]);
      for (const { answer } of held.slice(0, 2)) answer({ text: 'Done.' });
      const next = await bench.next();
      expect(next.task).toBe('task 5');
      await stopped.query('ROLLBACK');
      await stopped.end();
      expect((await bench.next()).task).toBe('task 4');
      await reaches(member.client, ids[3] ?? '', 'running');
    });
  });
});
