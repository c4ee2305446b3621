import { RateLimiter } from '../../src/access/rate-limit/rate-limiter.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { type Answer, Client, makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { until } from '../harness/until.js';

const CAPACITY = 60;
const WINDOW_SECONDS = 30;
const CONNECTIONS = 8;
const PATH = '/v1/auth/context';
const rate = { capacity: CAPACITY, windowSeconds: WINDOW_SECONDS };
const config = {
  rateLimits: { free: { policies: { metadata_read: rate } }, paid: { policies: { metadata_read: rate } } },
};

/** How many requests a bucket may have let in since it was full. */
const boundSince = (begun: number) =>
  CAPACITY + Math.floor(((Date.now() - begun) * CAPACITY) / (WINDOW_SECONDS * 1000));
const granted = (answers: Answer<unknown>[]) => answers.filter(({ status }) => status === 200).length;

describeWithRedis('Rate limits of several processes (reference §9)', () => {
  let redis: RedisServer;
  let db: TestDatabase;
  let services: TestApp[];
  let member: Member;

  beforeAll(async () => {
    redis = await RedisServer.start();
    db = await createDatabase();
    const boot = () => bootApp({ db, env: { REDIS_URL: redis.url }, config });
    services = [await boot(), await boot()];
  });
  afterAll(async () => {
    redis.thaw();
    for (const service of services) await service.close();
    await db.drop();
    await redis.stop();
  });
  beforeEach(async () => {
    const [service] = services;
    if (service !== undefined) member = await makeMember(service);
  });

  const fallbacks = () => services.map(({ app }) => app.get(RateLimiter).fallbacks);
  /** Waits until both decide in Redis. */
  const settled = () =>
    until('both processes to use Redis', async () => {
      const other = await makeMember(services[0] as TestApp);
      const before = fallbacks();
      for (const { url } of services) await new Client(url, other.key.secret).get(PATH);
      return String(fallbacks()) === String(before);
    });
  /** Asks both services in turn until `enough`; every answer, as they came. */
  const load = async (enough: (answers: Answer<unknown>[]) => boolean): Promise<Answer<unknown>[]> => {
    const answers: Answer<unknown>[] = [];
    const clients = services.map(({ url }) => new Client(url, member.key.secret));
    const connection = async (i: number) => {
      while (!enough(answers)) answers.push(await (clients[i % clients.length] as Client).get(PATH));
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, i) => connection(i)));
    return answers;
  };
  const expectLimited = (answers: Answer<unknown>[]) => {
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    for (const { headers } of answers) {
      expect(headers.get('x-ratelimit-limit')).toBe(String(CAPACITY));
      expect(headers.get('ratelimit')).toMatch(/^"(metadata_read|global)";r=\d+;t=\d+$/);
    }
  };

  it(`${CONNECTIONS} connections to two processes never get more of one key than the bound`, async () => {
    await settled();
    const before = fallbacks();
    const begun = Date.now();
    const answers = await load(({ length }) => length >= 300);
    expectLimited(answers);
    // A machine that is too busy for 50 ms may have decided some in memory; then each process has its own.
    if (String(fallbacks()) === String(before)) expect(granted(answers)).toBeLessThanOrEqual(boundSince(begun) + 1);
    expect(granted(answers)).toBeLessThanOrEqual(2 * boundSince(begun));
    expect(granted(answers)).toBeGreaterThanOrEqual(CAPACITY);
  });

  it('Redis killed under load: no 5xx, the headers stay, and what was taken before is not given again', async () => {
    await settled();
    const before = fallbacks();
    const begun = Date.now();
    let killed: Promise<void> | undefined;
    let shared = false;
    const answers = await load((so_far) => {
      if (killed === undefined && granted(so_far) >= CAPACITY / 2) {
        shared = String(fallbacks()) === String(before);
        killed = redis.kill();
      }
      return so_far.length >= 300;
    });
    try {
      await killed;
      expectLimited(answers);
      // Each process goes on from the last state it saw: at worst both give the second half. Or all, where a busy machine has
      // made one of them decide in memory before.
      const both = 2 * boundSince(begun);
      expect(granted(answers)).toBeLessThanOrEqual(shared ? both - CAPACITY / 2 + CONNECTIONS : both);
      for (const [i, count] of fallbacks().entries()) expect(count).toBeGreaterThan(before[i] ?? 0);
    } finally {
      await redis.run();
    }
    const left = await until('both processes to take from one bucket again', async () => {
      const other = await makeMember(services[0] as TestApp);
      const before = fallbacks();
      const remaining = await Promise.all(
        services.map(async ({ url }) =>
          (await new Client(url, other.key.secret).get(PATH)).headers.get('x-ratelimit-remaining'),
        ),
      );
      return String(fallbacks()) === String(before) && remaining;
    });
    expect(left.sort()).toEqual([String(CAPACITY - 2), String(CAPACITY - 1)]);
  });

  it('Redis frozen: requests are answered all the same, in memory, and it is used again', async () => {
    await settled();
    redis.freeze();
    try {
      // It stays frozen until all of them are answered: none waits for it.
      const answers = await load(({ length }) => length >= 200);
      expectLimited(answers);
    } finally {
      redis.thaw();
    }
    await settled();
  });
});
