import { Logger } from '@nestjs/common';
import { describeWithRedis, RedisServer } from '../../../test/harness/redis.js';
import { until } from '../../../test/harness/until.js';
import { bucketOf, type Decision } from './gcra.js';
import { MemoryBuckets } from './memory-buckets.js';
import { RedisBuckets } from './redis-buckets.js';
import { slowIt } from '../../../test/harness/slow.js';

const BUCKETS = [
  bucketOf('policy', { capacity: 2, windowSeconds: 60 }),
  bucketOf('global', { capacity: 5, windowSeconds: 60 }),
];
Logger.overrideLogger(['fatal']);

// Long enough that a busy machine is not taken for a Redis that is gone.
const PATIENT_MS = 10_000;
const CONNECTIONS = 8;
const CALLS = 600;

type Timed = Decision & { now: number };
const bucket = bucketOf('hammered', { capacity: 100, windowSeconds: 1 });

/** How many of these moments a bucket of tokens lets in, full before the first: what refills it beyond that is lost. */
function byTokens(moments: number[]): number {
  let [allowed, tokens, last] = [0, bucket.burst, moments[0] ?? 0];
  for (const moment of moments) {
    tokens = Math.min(bucket.burst, tokens + moment - last);
    last = moment;
    if (tokens < bucket.interval) continue;
    tokens -= bucket.interval;
    allowed += 1;
  }
  return allowed;
}

/** Calls all of them without a pause; how many were allowed, and how many one bucket lets in at the same moments. */
async function hammer(takers: (() => Promise<Timed>)[]): Promise<{ allowed: number; expected: number }> {
  const each = takers.map(async (take) => {
    const decisions: Timed[] = [];
    for (let n = 0; n < CALLS; n++) decisions.push(await take());
    return decisions;
  });
  const decisions = (await Promise.all(each)).flat();
  const moments = decisions.map(({ now }) => now).sort((a, b) => a - b);
  return { allowed: decisions.filter((decision) => decision.allowed).length, expected: byTokens(moments) };
}

it(`in memory, ${CONNECTIONS} at once get what one bucket gives`, async () => {
  let now = 0;
  const memory = new MemoryBuckets(10, () => now);
  const take = async (): Promise<Timed> => {
    // Its own: while it waits below, others move the clock on.
    const at = (now = Math.round(performance.now() * 1000));
    const decision = memory.take('key', [bucket]);
    await Promise.resolve();
    return { ...decision, now: at };
  };
  const { allowed, expected } = await hammer(Array<typeof take>(CONNECTIONS).fill(take));
  expect(allowed).toBe(expected);
});

describeWithRedis('Buckets in Redis', () => {
  let server: RedisServer;
  const opened: RedisBuckets[] = [];
  let owners = 0;

  const open = async (patienceMs?: number, url = server.url) => {
    const redis = new RedisBuckets(url, patienceMs);
    opened.push(redis);
    await redis.open();
    return redis;
  };
  const owner = () => `owner${++owners}`;
  /** Waits until Redis decides again. */
  const back = (redis: RedisBuckets) => until('Redis to decide again', () => redis.take(owner(), BUCKETS));

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterEach(() => opened.splice(0).forEach((redis) => redis.close()));
  afterAll(() => server.stop());

  it(`${CONNECTIONS} connections that hammer one bucket get what it gives`, async () => {
    const all = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(PATIENT_MS)));
    const key = owner();
    const takers = all.map((redis) => async () => {
      const decision = await redis.take(key, [bucket]);
      if (decision === null) throw new Error('Redis was lost.');
      return decision;
    });
    const { allowed, expected } = await hammer(takers);
    expect(allowed).toBe(expected);
  });

  it('both buckets are taken from in one step, lie on one node of a cluster, and vanish when they are full', async () => {
    const redis = await open(PATIENT_MS);
    const key = owner();
    await redis.take(key, BUCKETS);
    expect(await redis.take(key, BUCKETS)).toMatchObject({ allowed: true });
    const names = ['policy:2/60', 'global:5/60'].map((name) => `millwright:limit:{${key}}:${name}`);
    expect(((await server.command('KEYS', `*${key}*`)) as string[]).sort()).toEqual([...names].sort());
    const [policy = 0, global = 0] = await Promise.all(
      names.map((name) => server.command('PTTL', name) as Promise<number>),
    );
    expect(policy).toBeGreaterThan(50_000);
    expect(policy).toBeLessThanOrEqual(60_000);
    expect(global).toBeLessThanOrEqual(24_000);
    const before = await server.command('MGET', ...names);
    expect(await redis.take(key, BUCKETS)).toMatchObject({ allowed: false });
    expect(await server.command('MGET', ...names)).toEqual(before);
  });

  it('killed: no decision, at once, and again when it is back; scripts are loaded anew', async () => {
    const redis = await open(PATIENT_MS);
    expect(await redis.take(owner(), BUCKETS)).toMatchObject({ allowed: true });
    await server.kill();
    // Within PATIENT_MS nothing would come from waiting.
    for (let n = 0; n < 3; n++) expect(await redis.take(owner(), BUCKETS)).toBeNull();
    await server.run();
    await back(redis);
    await server.command('SCRIPT', 'FLUSH');
    expect(await redis.take(owner(), BUCKETS)).toMatchObject({ allowed: true });
  });

  it('frozen: who asked first waits for the patience, the others not at all; and it is used again', async () => {
    const redis = await open(200);
    await back(redis);
    server.freeze();
    try {
      const waited = redis.take(owner(), BUCKETS);
      let others = 0;
      expect(await waited).toBeNull();
      // A timer of 0 ms comes after all that needs no waiting.
      const timer = new Promise<string>((resolve) => setTimeout(resolve, 0, 'late'));
      const at_once = Array.from({ length: 20 }, () => redis.take(owner(), BUCKETS).then(() => (others += 1)));
      expect(await Promise.race([timer, Promise.all(at_once)])).toHaveLength(20);
    } finally {
      server.thaw();
    }
    await back(redis);
  });

  slowIt('frozen for longer than a connection is trusted: a new one is made, and used when it is back', async () => {
    const redis = await open(20);
    await back(redis);
    const connected = async () =>
      String(await server.command('INFO', 'stats')).match(/total_connections_received:(\d+)/)?.[1];
    const before = Number(await connected());
    server.freeze();
    expect(await redis.take(owner(), BUCKETS)).toBeNull();
    const connection = redis['redis'];
    await until('the connection to be given up', () => connection.status !== 'ready', { within: 10_000 });
    server.thaw();
    await back(redis);
    expect(Number(await connected())).toBeGreaterThan(before + 1);
  });

  it('full, or a replica: it answers, but does not decide', async () => {
    const redis = await open(PATIENT_MS);
    await back(redis);
    for (const [break_it, mend] of [
      [
        ['CONFIG', 'SET', 'maxmemory', '1'],
        ['CONFIG', 'SET', 'maxmemory', '0'],
      ],
      [
        ['REPLICAOF', '127.0.0.1', '1'],
        ['REPLICAOF', 'NO', 'ONE'],
      ],
    ] as [[string, ...string[]], [string, ...string[]]][]) {
      await server.command(...break_it);
      expect(await redis.take(owner(), BUCKETS)).toBeNull();
      await server.command(...mend);
      await back(redis);
    }
  });

  it('absent at boot: the service boots, and uses it when it comes', async () => {
    await server.kill();
    const redis = await open(PATIENT_MS);
    expect(await redis.take(owner(), BUCKETS)).toBeNull();
    await server.run();
    await back(redis);
  });

  it('frozen at boot: the service boots, and uses it later', async () => {
    server.freeze();
    const redis = await open(PATIENT_MS).finally(() => server.thaw());
    await back(redis);
  });
});
