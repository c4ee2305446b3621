// How far the clocks of the database, of Redis and of the running service are from the one of this machine.
import { sql } from '../../platform/database/sql.js';
import { type Check, fail, type Finding, ok, warn } from './check.js';
import type { Examination } from './examination.js';
import { connectionTo } from './redis.check.js';
import { inTime } from './words.js';

/** Milliseconds. Signatures of providers and expiry of keys are read to the second. */
const NOTICED = 2_000;
const TOO_FAR = 60_000;

const NOW = sql`SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms`.rows<{ ms: number }>();

export const clocksCheck: Check = {
  name: 'clocks',
  async run(at) {
    const [database, redis, service] = await Promise.all([ofDatabase(at), ofRedis(at), at.service]);
    const clocks = [
      ['database', database],
      ['Redis', redis],
      ['service', service.aheadMs],
    ] as const;
    const known = clocks.flatMap(([whose, ms]) => (ms === null ? [] : [{ whose, ms }]));
    return [judge(known)];
  },
};

/** Milliseconds by which a clock is ahead of ours: it was read in the middle of the way there and back. */
async function aheadOf(read: () => Promise<number>): Promise<number> {
  const asked = Date.now();
  const there = await read();
  return there - (asked + Date.now()) / 2;
}

async function ofDatabase(at: Examination): Promise<number | null> {
  const database = await at.database.catch(() => null);
  if (database === null) return null;
  return aheadOf(async () => (await database.sql.run(NOW()))[0]?.ms ?? NaN);
}

async function ofRedis({ env }: Examination): Promise<number | null> {
  const { REDIS_URL } = env.variables;
  if (REDIS_URL === undefined) return null;
  const redis = connectionTo(REDIS_URL);
  try {
    await redis.connect();
    return await aheadOf(async () => {
      const [seconds, micros] = await redis.time();
      return Number(seconds) * 1000 + Number(micros) / 1000;
    });
  } catch {
    // The check of Redis says so.
    return null;
  } finally {
    redis.disconnect();
  }
}

function judge(known: { whose: string; ms: number }[]): Finding {
  const name = 'clocks';
  if (known.length === 0) return ok(name, 'There is no clock to compare this one with.');
  const detail = `Beside this machine: ${known.map(({ whose, ms }) => `${whose} ${inWords(ms)}`).join(', ')}.`;
  const worst = Math.max(...known.map(({ ms }) => Math.abs(ms)));
  const advice = 'Let all machines keep their clocks by NTP (chrony, systemd-timesyncd).';
  if (worst > TOO_FAR) return fail(name, detail, advice);
  return worst > NOTICED ? warn(name, detail, advice) : ok(name, detail);
}

function inWords(ms: number): string {
  // Smaller differences cannot be distinguished from the round trip and from the whole seconds of HTTP.
  if (Math.abs(ms) < 1000) return 'within 1 s';
  return `${inTime(Math.abs(ms) / 1000)} ${ms > 0 ? 'ahead' : 'behind'}`;
}
