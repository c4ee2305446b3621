import fc from 'fast-check';
import { Redis } from 'ioredis';
import { describeWithRedis, RedisServer } from '../../../test/harness/redis.js';
import type { Rate } from '../../platform/config/rate-limits.js';
import { type Bucket, bucketOf, type Decision, stateOf } from './gcra.js';
import { DECIDE } from './gcra-script.js';
import { MemoryBuckets } from './memory-buckets.js';

const SECOND = 1_000_000;
const START = 1_800_000_000 * SECOND + 123_456;

/** Microseconds since the step before, whether the request is let in, and the backlogs after it. */
type Step = [after: number, allowed: boolean, ...backlogs: number[]];
type Scenario = [what: string, rates: Rate[], steps: Step[]];

const per = (capacity: number, windowSeconds = 60): Rate => ({ capacity, windowSeconds });
const times = (n: number, make: (i: number) => Step): Step[] => Array.from({ length: n }, (_, i) => make(i));

// One table for the arithmetic in the process and for the one in Redis.
const SCENARIOS: Scenario[] = [
  [
    'a full bucket gives all of its requests at once, then one by one',
    [per(3)],
    [
      [0, true, 20 * SECOND],
      [0, true, 40 * SECOND],
      [0, true, 60 * SECOND],
      [0, false, 60 * SECOND],
      [20 * SECOND - 1, false, 40 * SECOND + 1],
      [1, true, 60 * SECOND],
      [0, false, 60 * SECOND],
      [30 * SECOND, true, 50 * SECOND],
    ],
  ],
  [
    'it refills continuously, and never above its capacity',
    [per(2)],
    [
      [0, true, 30 * SECOND],
      [15 * SECOND, true, 45 * SECOND],
      [3600 * SECOND, true, 30 * SECOND],
      [0, true, 60 * SECOND],
      [0, false, 60 * SECOND],
    ],
  ],
  [
    'a refusal by the first bucket takes nothing from the second',
    [per(1), per(3)],
    [
      [0, true, 60 * SECOND, 20 * SECOND],
      [0, false, 60 * SECOND, 20 * SECOND],
      [1, false, 60 * SECOND - 1, 20 * SECOND - 1],
      [60 * SECOND, true, 60 * SECOND, 20 * SECOND],
    ],
  ],
  [
    'a refusal by the second bucket takes nothing from the first',
    [per(3), per(1)],
    [
      [0, true, 20 * SECOND, 60 * SECOND],
      [0, false, 20 * SECOND, 60 * SECOND],
      [0, false, 20 * SECOND, 60 * SECOND],
    ],
  ],
  [
    'a window that the capacity does not divide: exactly the capacity, without a rounding error',
    [per(7)],
    [...times(7, (i): Step => [0, true, (i + 1) * 8_571_429]), [0, false, 7 * 8_571_429], [8_571_428, false, 6 * 8_571_429 + 1], [1, true, 7 * 8_571_429]],
  ],
  [
    'the smallest interval',
    [per(1_000_000, 1)],
    [
      [0, true, 1],
      [0, true, 2],
      [1, true, 2],
      [2, true, 1],
    ],
  ],
  [
    'the longest window',
    [per(1, 86_400)],
    [
      [0, true, 86_400 * SECOND],
      [86_400 * SECOND - 1, false, 1],
      [1, true, 86_400 * SECOND],
    ],
  ],
  [
    'a clock that was set back by an hour costs one window, not an hour',
    [per(2)],
    [
      [0, true, 30 * SECOND],
      [-3600 * SECOND, false, 60 * SECOND],
      [30 * SECOND, true, 60 * SECOND],
      [60 * SECOND, true, 30 * SECOND],
    ],
  ],
]; // prettier-ignore

type Take = (now: number) => Promise<Decision> | Decision;
type Store = (buckets: Bucket[]) => Take;

async function play(store: Store, rates: Rate[], elapsed: number[]): Promise<Decision[]> {
  const take = store(rates.map((rate, i) => bucketOf(`bucket${i}`, rate)));
  const decisions: Decision[] = [];
  let now = START;
  for (const after of elapsed) decisions.push(await take((now += after)));
  return decisions;
}

function table(store: Store): void {
  it.each(SCENARIOS)('%s', async (_what, rates, steps) => {
    const decisions = await play(store, rates, steps.map(([after]) => after)); // prettier-ignore
    expect(decisions).toEqual(steps.map(([, allowed, ...backlogs]) => ({ allowed, backlogs })));
  });

  // Said the other way round: tokens instead of times.
  it('agrees with a bucket of tokens, whatever the rates and the pauses', async () => {
    const rate = fc.record({
      capacity: fc.integer({ min: 1, max: 40 }),
      windowSeconds: fc.integer({ min: 1, max: 90 }),
    });
    const pause = fc.oneof(fc.constant(0), fc.nat(3 * SECOND), fc.nat(200 * SECOND));
    const property = fc.asyncProperty(
      fc.array(rate, { minLength: 1, maxLength: 2 }),
      fc.array(pause, { minLength: 1, maxLength: 60 }),
      async (rates, pauses) => {
        const decisions = await play(store, rates, pauses);
        expect(decisions.map(({ allowed }) => allowed)).toEqual(byTokens(rates, pauses));
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
}

function byTokens(rates: Rate[], pauses: number[]): boolean[] {
  const buckets = rates.map((rate) => bucketOf('', rate));
  const tokens = buckets.map(({ burst }) => burst);
  return pauses.map((pause) => {
    for (const [i, { burst }] of buckets.entries()) tokens[i] = Math.min(burst, (tokens[i] ?? 0) + pause);
    const allowed = buckets.every(({ interval }, i) => (tokens[i] ?? 0) >= interval);
    if (allowed) for (const [i, { interval }] of buckets.entries()) tokens[i] = (tokens[i] ?? 0) - interval;
    return allowed;
  });
}

describe('Buckets in memory (reference §9)', () => {
  table((buckets) => {
    let at = 0;
    const memory = new MemoryBuckets(10, () => at);
    return (now) => {
      at = now;
      return memory.take('key', buckets);
    };
  });
});

describeWithRedis('Buckets in Redis (reference §9)', () => {
  let server: RedisServer;
  let redis: Redis;
  let owners = 0;
  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    await redis.quit();
    await server.stop();
  });

  // The clock comes from the test, and keys do not expire by another one.
  const script = `
    local real, now = redis, tonumber(ARGV[#ARGV])
    local redis = { call = function(name, ...)
      local key, value = ...
      if name == 'SET' then return real.call('SET', key, value) end
      return real.call(name, ...)
    end }
    ${DECIDE}`;
  table((buckets) => {
    const owner = ++owners;
    const keys = buckets.map(({ name }) => `${owner}:${name}`);
    const words = buckets.flatMap(({ interval, burst }) => [interval, burst]);
    return async (now) => {
      const answer = (await redis.eval(script, keys.length, ...keys, ...words, now)) as number[];
      expect(answer[1]).toBe(now);
      return { allowed: answer[0] === 1, backlogs: answer.slice(2) };
    };
  });
});

describe('What is left of a bucket', () => {
  it.each([
    [per(1200), 0, { remaining: 1200, wait: 0 }],
    [per(1200), 50_000, { remaining: 1199, wait: 50_000 }],
    [per(1200), 60_000, { remaining: 1198, wait: 10_000 }],
    [per(2), 60 * SECOND, { remaining: 0, wait: 30 * SECOND }],
    [per(2), 60 * SECOND - 1, { remaining: 0, wait: 30 * SECOND - 1 }],
    [per(2), 30 * SECOND + 1, { remaining: 0, wait: 1 }],
    [per(2), 30 * SECOND, { remaining: 1, wait: 30 * SECOND }],
  ])('%j with a backlog of %d µs: %j', (rate, backlog, state) => {
    expect(stateOf(bucketOf('any', rate), backlog)).toEqual(state);
  });
});
