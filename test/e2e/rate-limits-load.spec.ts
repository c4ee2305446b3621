import { RateLimiter } from '../../src/access/rate-limit/rate-limiter.js';
import { bootApp, type TestApp, useService } from '../harness/app.js';
import { type Answer, makeMember, type Member } from '../harness/client.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { until } from '../harness/until.js';

const CONNECTIONS = 8;
const REQUESTS = 240;
/** Refills while the test runs, and is never full again. */
const TIGHT = { capacity: 30, windowSeconds: 10 };
/** Larger than all the requests, and so slow to refill that what was taken from it can be counted. */
const WIDE = { capacity: 1000, windowSeconds: 86_400 };
const READ = '/v1/auth/context';

const limitsOf = (global: typeof TIGHT, metadata_read: typeof TIGHT) => {
  const plan = { global, policies: { metadata_read } };
  return { rateLimits: { free: plan, paid: plan } };
};

describe.each([
  ['the policy', 'x-ratelimit-global-remaining', limitsOf(WIDE, TIGHT)],
  ['the global', 'x-ratelimit-remaining', limitsOf(TIGHT, WIDE)],
])('Rate limits under load, %s bucket the tight one (reference §9)', (_which, otherHeader, limits) => {
  const suite = (service: TestApp) => {
    it(`${CONNECTIONS} connections never get more than the bound and 1; what was refused took nothing from the other bucket`, async () => {
      const { answers, begun, ended, member } = await withoutFallback(service, () => load(service));
      const granted = answers.filter(({ status }) => status === 200);
      const refused = answers.filter(({ status }) => status === 429);
      expect(granted.length + refused.length).toBe(REQUESTS);
      const refilled = ((ended - begun) / 1000) * (TIGHT.capacity / TIGHT.windowSeconds);
      expect(granted.length).toBeLessThanOrEqual(TIGHT.capacity + refilled + 1);
      expect(granted.length).toBeGreaterThanOrEqual(TIGHT.capacity);
      expect(refused.length).toBeGreaterThan(0);
      // Asked again after all of them, by a request that is itself granted or not.
      const last = await member.client.get(READ);
      const taken = granted.length + (last.status === 200 ? 1 : 0);
      expect(Number(last.headers.get(otherHeader))).toBe(WIDE.capacity - taken);
    });
  }; // prettier-ignore

  describe('in memory', () => {
    suite(useService(() => bootApp({ config: limits, env: { REDIS_URL: '' } })));
  });

  describeWithRedis('in Redis', () => {
    let redis: RedisServer;
    const service = useService(async () => {
      redis = await RedisServer.start();
      return bootApp({ config: limits, env: { REDIS_URL: redis.url } });
    });
    afterAll(() => redis.stop());
    suite(service);
  });

  /** A machine that is too busy for 50 ms decides some in memory and some in Redis: such a run says nothing of either. */
  async function withoutFallback(service: TestApp, run: () => Promise<Load>): Promise<Load> {
    const limiter = service.app.get(RateLimiter);
    return until(
      'a run that is decided in one place',
      async () => {
        const before = limiter.fallbacks;
        const result = await run();
        return limiter.fallbacks === before ? result : null;
      },
      { within: 150_000 },
    );
  }
});

interface Load {
  answers: Answer<unknown>[];
  begun: number;
  ended: number;
  member: Member;
}

/** As many requests as a few connections can send one after another, with a key of their own. */
async function load(service: TestApp): Promise<Load> {
  const member = await makeMember(service);
  const answers: Answer<unknown>[] = [];
  let left = REQUESTS;
  const begun = performance.now();
  const connection = async () => {
    while (left-- > 0) answers.push(await member.client.get(READ));
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return { answers, begun, ended: performance.now(), member };
}
