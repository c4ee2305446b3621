// Redis, where REDIS_URL names one. What it holds may be lost at any time, so how it keeps its data does not matter.
import { Redis } from 'ioredis';
import { type Check, fail, type Finding, ok, warn } from './check.js';
import { latencyOf } from './latency.js';
import { inMs, reasonOf } from './words.js';

/** docs/operating.md. */
const OLDEST = 5;
/** Milliseconds; after 50 without an answer a process goes on alone. */
const SLOW = 20;
const PATIENCE = 3_000;

export const redisCheck: Check = {
  name: 'redis',
  measures: true,
  async run(at) {
    const { REDIS_URL } = at.env.variables;
    if (REDIS_URL === undefined) {
      return [ok('redis', 'Not used: signals go through PostgreSQL, and rate limits count in each process.')];
    }
    const redis = connectionTo(REDIS_URL);
    let reason: unknown;
    // What the commands reject with says only that there is no connection.
    redis.on('error', (error) => (reason = error));
    try {
      await redis.connect();
      const latency = await latencyOf(() => redis.ping());
      return [judge(fieldsOf(await redis.info()), latency.median, `20 looks: ${inMs(latency.median)} in the middle, ${inMs(latency.worst)} at most`)];
    } catch (error) {
      const advice = 'Start Redis or correct REDIS_URL. Until then work is found by looking each second, and rate limits count in each process.';
      return [fail('redis', `It does not answer: ${reasonOf(reason ?? error)}`, advice)];
    } finally {
      redis.disconnect();
    }
  },
}; // prettier-ignore

/** A connection for a moment: it tries once. The caller connects and disconnects it. */
export function connectionTo(url: string): Redis {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: PATIENCE,
    commandTimeout: PATIENCE,
    disconnectTimeout: 20,
  });
  redis.on('error', () => undefined);
  return redis;
}

/** The lines `name:value` of INFO. */
function fieldsOf(info: string): Map<string, string> {
  return new Map([...info.matchAll(/^([a-z_0-9]+):(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name, value]));
}

function judge(fields: Map<string, string>, median: number, speed: string): Finding {
  const version = fields.get('redis_version') ?? 'of unknown version';
  const policy = fields.get('maxmemory_policy') ?? 'unknown';
  const detail = `Redis ${version}; ${speed}; maxmemory-policy ${policy}. Whether it keeps its data on disk does not matter.`;
  if (Number.parseInt(version, 10) < OLDEST) return fail('redis', detail, `Upgrade Redis: ${OLDEST} or later is needed.`);
  if (fields.get('role') === 'slave') return fail('redis', detail, 'It is a replica: point REDIS_URL to the master.');
  if (policy !== 'noeviction') {
    return warn('redis', detail, 'Set maxmemory-policy to noeviction: else Redis drops signals and counts when its memory is full.');
  }
  if (median > SLOW) return warn('redis', detail, 'Bring Redis nearer: each request asks it once.');
  return ok('redis', detail);
} // prettier-ignore
