import { Reconciler } from '../../src/work/runs/reconciler.js';
import { RunExecutor } from '../../src/work/runs/run-executor.js';
import { bootWorker, type TestApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import type { TestDatabase } from '../harness/database.js';
import { type Asked, HeldModel } from '../harness/held-model.js';
import { holdingTask, waiting } from '../harness/locks.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { createTask, finished, reaches } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { LONG } from '../harness/numbers.js';
import { SLOW, sizedIt, slowIt } from '../harness/slow.js';

/** One worker with few places, and a model that answers when the test says so. */
class Bench {
  private constructor(
    readonly model: HeldModel,
    readonly service: TestApp,
  ) {}

  /** @param db of a service whose tasks wait already. */
  static async start(env: Record<string, string>, config: object = {}, db?: TestDatabase): Promise<Bench> {
    const model = await HeldModel.start();
    const all = { OPENAI_COMPATIBLE_URL: model.server.url, ...env };
    const options = { env: all, config: { ...config } };
    return new Bench(model, await bootWorker(db === undefined ? options : { ...options, db }));
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

  /** How many tasks run. */
  async running(): Promise<number> {
    return (await this.service.db.query(`SELECT FROM runs WHERE status = 'running'`)).length;
  }

  /** Resolves when so many tasks are over, and the worker has looked for what comes next. */
  async endOf(count: number): Promise<void> {
    await until('the tasks to be over', async () => {
      const over = await this.service.db.query(`SELECT 1 FROM runs WHERE status = 'finished'`);
      return over.length === count;
    });
    await this.service.app.get(RunExecutor, { strict: false }).claimWaiting();
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.model.server.stop();
  }
}

/** A plan whose cap is no bound here. */
const UNCAPPED = { plans: { paid: { runningTasks: 100 } } };

/** Tasks of a busy workspace that wait. */
const QUEUED = SLOW ? 500 : 40;
/** Of a worker, with the most that one workspace gets. */
const PLACES = [[2, 1], ...(LONG ? [[16, 12]] : [])] as [number, number][];

const suite = (signals: () => Promise<Record<string, string>>) => () => {
  let bench: Bench;
  afterEach(() => bench.close());

  sizedIt(
    `${QUEUED} queued tasks of a workspace delay one of another by no more than the next free place`,
    async () => {
      bench = await Bench.start({ WORKER_CONCURRENCY: '1', ...(await signals()) });
      const [busy, other] = [await makeMember(bench.service), await makeMember(bench.service)];
      await bench.create(busy, 'busy ', QUEUED);
      const [held] = await bench.some(1);
      const [single = ''] = await bench.create(other, 'single ', 1);
      held?.answer({ text: 'Done.' });
      const next = await bench.next();
      expect(next.task).toBe('single 1');
      next.answer({ text: 'Done.' });
      expect(await finished(other.client, single)).toMatchObject({ status: 'completed' });
      expect((await bench.next()).task).toBe('busy 2');
    },
  );

  slowIt('one place in four is kept: a workspace with none running waits for no task of a busy one', async () => {
    bench = await Bench.start({ WORKER_CONCURRENCY: '4', ...(await signals()) }, UNCAPPED);
    const [busy, other] = [await makeMember(bench.service), await makeMember(bench.service)];
    await bench.create(busy, 'busy ', 40);
    const held = await bench.some(3);
    await bench.create(other, 'other ', 2);
    expect((await bench.next()).task).toBe('other 1');
    held[0]?.answer({ text: 'Done.' });
    await bench.endOf(1);
    // The place that is free now is kept again: for the busy workspace and for the second task of the other.
    const late = await makeMember(bench.service);
    await bench.create(late, 'late ', 1);
    expect((await bench.next()).task).toBe('late 1');
  });
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

    sizedIt.each(PLACES)(
      'of %i places a workspace gets %i at most; the others, one each, those that have none running',
      async (places, most) => {
        bench = await Bench.start({ WORKER_CONCURRENCY: String(places) }, UNCAPPED);
        await bench.create(await makeMember(bench.service), 'busy ', SLOW ? 40 : 10);
        await bench.some(most);
        for (let n = 0; n < places - most; n++) {
          await bench.create(await makeMember(bench.service), `other ${n} `, 2);
          expect((await bench.next()).task).toMatch(`other ${n} `);
        }
        expect(await bench.running()).toBe(places);
      },
    );

    slowIt('a workspace whose claim of an open place is not committed yet gets no kept place beside it', async () => {
      const api = await Bench.start({ ROLE: 'api' });
      try {
        const { db } = api.service;
        const busy = await makeMember(api.service);
        const [first = ''] = await api.create(busy, 'first ', 1);
        const stopped = await holdingTask(db, first);
        const env = { WORKER_CONCURRENCY: '2', OPENAI_COMPATIBLE_URL: api.model.server.url };
        bench = await Bench.start(env, {}, db);
        await until('the claim of the first task to wait', async () => (await waiting(db)).length > 0);
        const [second] = await api.create(busy, 'second ', 1);
        const [run] = await db.query<{ id: string }>('SELECT id FROM runs WHERE task_id = $1', [second]);
        const executor = bench.service.app.get(RunExecutor, { strict: false });
        // Its signal may have been heard already.
        await until('no more than one claim to be under way', () => executor.free > 0);
        expect(await executor.execute(run?.id ?? '')).toBe(false);
        expect(await db.query('SELECT status FROM runs WHERE id = $1', [run?.id])).toEqual([{ status: 'queued' }]);
        await stopped.release();
        expect((await api.next()).task).toBe('first 1');
        await api.create(await makeMember(api.service), 'other ', 1);
        expect((await api.next()).task).toBe('other 1');
      } finally {
        await bench.close();
        await api.close();
      }
    });

    slowIt('two busy workspaces of the default plan leave a place for a third, and for two more', async () => {
      bench = await Bench.start({});
      for (const name of ['a', 'b']) await bench.create(await makeMember(bench.service), name, 20);
      expect(
        names(await bench.some(13))
          .map((name) => name[0])
          .join(''),
      ).toBe('aaaaaaaaaaaab');
      for (const name of ['c', 'd', 'e']) {
        await bench.create(await makeMember(bench.service), name, 2);
        expect((await bench.next()).task).toMatch(name);
      }
    });

    it('a workspace whose only task waits for a person holds no place: answered, the task goes on in a kept one', async () => {
      bench = await Bench.start({ WORKER_CONCURRENCY: '2' });
      await bench.create(await makeMember(bench.service), 'busy ', 3);
      await bench.some(1);
      const { client } = await makeMember(bench.service);
      const [id = ''] = await bench.create({ client }, 'asking ', 1);
      (await bench.next()).answer({ calls: [{ name: 'ask', arguments: { question: 'Which?' } }] });
      const { pendingInteraction } = await reaches(client, id, 'awaiting_input');
      await bench.create(await makeMember(bench.service), 'other ', 1);
      (await bench.next()).answer({ text: 'Done.' });
      await bench.endOf(2);
      const answer = { interactionId: pendingInteraction?.id, content: 'This one.' };
      expect((await client.post(`/v1/tasks/${id}/interaction`, answer)).status).toBe(202);
      const next = await bench.next();
      expect(next.task).toBe('asking 1');
      next.answer({ text: 'Done.' });
      expect(await finished(client, id)).toMatchObject({ status: 'completed' });
    });

    slowIt('what was lost goes on in a kept place only when its workspace has none running', async () => {
      bench = await Bench.start({ WORKER_CONCURRENCY: '4', LEASE_SECONDS: '600' }, UNCAPPED);
      const { db, app } = bench.service;
      const lose = async (id = '') => {
        await db.query(`UPDATE runs SET lease_until = now() - interval '1 second' WHERE task_id = $1`, [id]);
        await until('the run to be recovered', async () => {
          app.get(Reconciler, { strict: false }).tick();
          return (await db.query('SELECT 1 FROM runs WHERE task_id = $1 AND recovery_count = 1', [id])).length > 0;
        });
      };
      const ids = await bench.create(await makeMember(bench.service), 'busy ', 4);
      const held = await bench.some(3);
      const [single] = await bench.create(await makeMember(bench.service), 'single ', 1);
      const lost = await bench.next();
      const answer = (task: string) => held.find((one) => one.task === task)?.answer({ text: 'Done.' });
      // A lost run holds its place here until it is told.
      await lose(single);
      lost.answer({ text: 'From the grave.' });
      const again = await bench.next();
      expect(again.task).toBe('single 1');
      await lose(ids[0]);
      answer('busy 1');
      await bench.create(await makeMember(bench.service), 'other ', 1);
      expect((await bench.next()).task).toBe('other 1');
      again.answer({ text: 'Done.' });
      await bench.endOf(1);
      answer('busy 2');
      expect((await bench.next()).task).toBe('busy 1');
    });

    it('a free place goes to the workspace with the fewest running tasks', async () => {
      bench = await Bench.start({ WORKER_CONCURRENCY: '4' });
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

    slowIt('tasks above the cap of their workspace hide no others, of workspaces that have more running neither', async () => {
      bench = await Bench.start({ WORKER_CONCURRENCY: '8' });
      await bench.create(await makeMember(bench.service, { plan: 'free' }), 'full ', 30);
      // Claims of tasks that come one after the other may overtake each other.
      expect(names(await bench.some(2))).toEqual([expect.stringMatching(/^full/), expect.stringMatching(/^full/)]);
      await bench.create(await makeMember(bench.service), 'other ', 5);
      const held = await bench.some(4);
      held[0]?.answer({ text: 'Done.' });
      const all = names([...held, await bench.next()]);
      expect(all.sort()).toEqual(['other 1', 'other 2', 'other 3', 'other 4', 'other 5']);
    }); // prettier-ignore

    slowIt('what a worker has lost goes before new work, that of other workspaces too', async () => {
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

    slowIt('a task that a stopped process has locked holds up no other', async () => {
      bench = await Bench.start({ WORKER_CONCURRENCY: '4' });
      const { client } = await makeMember(bench.service);
      const ids = await bench.create({ client }, 'task ', 5);
      const held = await bench.some(3);
      const stopped = await holdingTask(bench.service.db, ids[3] ?? '');
      for (const { answer } of held.slice(0, 2)) answer({ text: 'Done.' });
      expect((await bench.next()).task).toBe('task 5');
      await stopped.release();
      expect((await bench.next()).task).toBe('task 4');
    });
  });
});

function names(asked: { task: string }[]): string[] {
  return asked.map(({ task }) => task).toSorted();
}
