import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { describeWithRedis, RedisServer } from '../../../test/harness/redis.js';
import { until } from '../../../test/harness/until.js';
import { Env, readEnv } from '../../platform/config/env.js';
import { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { RateLimiter } from './rate-limiter.js';

Logger.overrideLogger(['fatal']);

/** Limits of three and five requests a minute. */
function environment(variables: Record<string, string>): Env {
  const { variables: read, modelKeys } = readEnv(variables);
  const rate = (capacity: number) => ({ capacity, windowSeconds: 60 });
  const free = { global: rate(5), policies: { metadata_read: rate(3) } };
  return new Env(read, { rateLimits: { free } }, modelKeys);
}

describe('The rate limiter', () => {
  let limiter: RateLimiter;
  const started = async (variables: Record<string, string>) => {
    limiter = new RateLimiter(environment(variables), new ExtensionSet([]));
    await limiter.onModuleInit();
    return limiter;
  };
  afterEach(() => limiter.onApplicationShutdown());

  it('counts in memory without Redis, per key and per policy; that is no fall-back', async () => {
    await started({});
    const allowed = async (key: string, policy: 'metadata_read' | 'resource_read') =>
      (await limiter.charge(key, 'free', policy)).allowed;
    for (const expected of [true, true, true, false]) expect(await allowed('a', 'metadata_read')).toBe(expected);
    for (const expected of [true, true, false]) expect(await allowed('a', 'resource_read')).toBe(expected);
    expect(await allowed('b', 'metadata_read')).toBe(true);
    expect(limiter.fallbacks).toBe(0);
  });

  it('without Redis an api process warns that limits count per process; one process for all has nothing to warn of', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    try {
      await started({ ROLE: 'all' });
      await started({ ROLE: 'worker' });
      expect(warn).not.toHaveBeenCalled();
      await started({ ROLE: 'api' });
      expect(warn).toHaveBeenCalledWith(expect.stringMatching(/REDIS_URL.* per process/));
    } finally {
      warn.mockRestore();
    }
  });

  it('a worker serves no requests, and does not connect to Redis for their limits', async () => {
    let connections = 0;
    // It answers nothing, so a boot that connects waits for a second, and is seen here by then.
    const redis = createServer(() => (connections += 1)).listen(0, '127.0.0.1');
    await once(redis, 'listening');
    const REDIS_URL = `redis://127.0.0.1:${(redis.address() as AddressInfo).port}`;
    try {
      await started({ ROLE: 'worker', REDIS_URL });
      expect(connections).toBe(0);
    } finally {
      limiter.onApplicationShutdown();
      redis.close();
    }
  });

  describeWithRedis('with Redis', () => {
    let redis: RedisServer;
    beforeAll(async () => {
      redis = await RedisServer.start();
    });
    afterAll(() => redis.stop());

    it('goes on in memory where Redis was, counts its fall-backs, and comes back', async () => {
      await started({ REDIS_URL: redis.url });
      const charge = () => limiter.charge('key', 'free', 'metadata_read');
      const other = await limiter.charge('other', 'free', 'metadata_read');
      expect(Math.abs(other.now / 1000 - Date.now())).toBeLessThan(5000);
      await until('Redis to decide', async () => {
        const before = limiter.fallbacks;
        await charge();
        return limiter.fallbacks === before;
      });
      await charge();
      await charge();
      expect((await charge()).allowed).toBe(false);
      await redis.kill();
      const before = limiter.fallbacks;
      const refused = await charge();
      expect(refused.allowed).toBe(false);
      expect(Math.abs(refused.now / 1000 - Date.now())).toBeLessThan(5000);
      expect((await limiter.charge('new', 'free', 'metadata_read')).allowed).toBe(true);
      expect(limiter.fallbacks).toBe(before + 2);
      await redis.run();
      await until('Redis to decide again', async () => {
        const count = limiter.fallbacks;
        await limiter.charge(crypto.randomUUID(), 'free', 'metadata_read');
        return limiter.fallbacks === count;
      });
    });
  });
});
