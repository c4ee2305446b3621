import { Redis } from 'ioredis';

/** Takes the number of a name, or gives it the next one. */
const NUMBER = `
local number = redis.call('HGET', 'numbers', ARGV[1])
if not number then
  number = redis.call('INCR', 'last')
  redis.call('HSET', 'numbers', ARGV[1], number)
end
return tonumber(number)`;

/**
 * `REDIS_URL` for a service, during the pass on Redis (`npm run test:redis`): MILLWRIGHT_TEST_REDIS names the server, and the
 * services of one database, or of one DATA_DIR, share a numbered database of their own. Outside of it, and for a service that
 * has neither, nothing.
 */
export async function sharedRedis(env: Record<string, string>): Promise<{ REDIS_URL?: string }> {
  const server = process.env['MILLWRIGHT_TEST_REDIS'];
  // The name alone: a relay leads to the same database.
  const name = env['DATABASE_URL'] === undefined ? env['DATA_DIR'] : new URL(env['DATABASE_URL']).pathname;
  if (server === undefined || name === undefined) return {};
  const redis = new Redis(server);
  try {
    return { REDIS_URL: `${server}/${String(await redis.eval(NUMBER, 0, name))}` };
  } finally {
    redis.disconnect();
  }
}
