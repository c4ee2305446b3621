import { getQueueToken } from '@nestjs/bull';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { Queue } from 'bull';
import { Notices } from '../../src/platform/notices/notices.js';
import { bootApp, bootWorker, type TestApp } from '../harness/app.js';
import { addJob, gone, HeldJobs, heldWork } from '../harness/jobs.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { until } from '../harness/until.js';
import { slowDescribe, slowIt } from '../harness/slow.js';

/** Nothing but signals brings work to it from now on. */
function stopLooking({ app }: TestApp): void {
  const intervals = app.get(SchedulerRegistry, { strict: false });
  for (const name of intervals.getIntervals()) intervals.deleteInterval(name);
}

function signals(redisUrl: () => string | null): void {
  let api: TestApp;
  let worker: TestApp;
  let other: TestApp;

  beforeAll(async () => {
    const url = redisUrl();
    const env: Record<string, string> = url === null ? {} : { REDIS_URL: url };
    api = await bootApp({ env, imports: [HeldJobs] });
    worker = await bootWorker({ db: api.db, env, imports: [HeldJobs] });
    other = await bootWorker({ db: api.db, env: { ...env, ROLE: 'worker' }, imports: [HeldJobs] });
    for (const app of [worker, other]) stopLooking(app);
  });
  afterAll(async () => {
    await other.close();
    await worker.close();
    await api.close();
  });

  const begun = (n: number) =>
    until(`job ${n} to begin`, () =>
      [worker, other].flatMap((app) => heldWork(app).begun).find(({ job }) => job.data.n === n),
    );

  it('a job of an api process is brought to a worker', async () => {
    await addJob(api, 1);
    (await begun(1)).done();
    await gone(api, 1);
    expect(heldWork(api).begun).toEqual([]);
  });

  it('a job of a process that works itself is brought to it', async () => {
    await addJob(worker, 2);
    (await begun(2)).done();
    await gone(api, 2);
  });

  it('a job whose signal comes to a worker without a place is brought to another', async () => {
    // Two places each. Which worker has none differs from round to round.
    for (let n = 10; n < 40; n += 4) {
      for (const one of [n, n + 1, n + 2, n + 3]) await addJob(api, one);
      for (const one of [n, n + 1, n + 2, n + 3]) await begun(one);
      for (const one of [n, n + 1, n + 2, n + 3]) (await begun(one)).done();
      for (const one of [n, n + 1, n + 2, n + 3]) await gone(api, one);
    }
  });

  it('a job that waits for a place begins when there is one', async () => {
    const numbers = [50, 51, 52, 53, 54, 55];
    for (const n of numbers) await addJob(api, n);
    for (const n of numbers) (await begun(n)).done();
    for (const n of numbers) await gone(api, n);
  });
}

describe('Without Redis', () => signals(() => null));

describeWithRedis('With Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis.stop());

  // Closed before the next test: workers of one Redis share what it brings.
  slowDescribe('work is brought', () => signals(() => redis.url));

  it('signals for automations have a Bull queue of their own; each leaves nothing in Redis', async () => {
    const service = await bootWorker({ env: { REDIS_URL: redis.url } });
    const brought: unknown[] = [];
    for (const name of ['automation', 'jobs']) {
      const queue = service.app.get<Queue>(getQueueToken(name));
      queue.on('completed', ({ data }) => brought.push([name, data]));
    }
    const notices = service.app.get(Notices);
    await until('Redis to take signals', () => notices.connected);
    notices.send({ work: { kind: 'automation', id: 'one' } });
    notices.send({ work: { kind: 'held', id: 'two' } });
    notices.send({ work: { kind: 'held', id: 'no id at all' } });
    await until('all to be brought', () => brought.length === 3);
    expect(brought).toContainEqual(['automation', { kind: 'automation', id: 'one' }]);
    expect(brought).toContainEqual(['jobs', { kind: 'held', id: 'two' }]);
    const left = async () => (await redis.command('KEYS', 'bull:*:[0-9]*')) as unknown[];
    await until('Redis to hold no job', async () => (await left()).length === 0);
    await service.close();
  });

  slowIt.each(['reached', 'frozen'])(
    'a process that has ended keeps no connection to Redis that was %s',
    async (state) => {
      const service = await bootWorker({ env: { REDIS_URL: redis.url } });
      const connections = async () =>
        String(await redis.command('CLIENT', 'LIST'))
          .trim()
          .split('\n').length - 1;
      await until('Bull to be connected', async () => (await connections()) > 3);
      if (state === 'frozen') redis.freeze();
      await service.close();
      redis.thaw();
      await until('no connection to be left', async () => (await connections()) === 0);
    },
  );
});
