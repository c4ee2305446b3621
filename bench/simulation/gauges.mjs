// What is read of PostgreSQL and Redis beside the work: totals before and after, and samples meanwhile.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Redis } from 'ioredis';

const TOTALS = `
SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS wal, pg_database_size(current_database())::float8 AS bytes,
  (SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database())::float8 AS transactions,
  (SELECT count(*) FROM usage_ledger)::float8 AS steps,
  (SELECT count(*) FROM tasks WHERE status = 'completed')::float8 AS tasks`;

/** The name of the api's connections; those of workers have the service's own names. */
export const API_NAME = 'simulated api';
const CONNECTIONS = `
SELECT count(*) FILTER (WHERE application_name LIKE 'millwright%')::int AS workers, count(*) FILTER (WHERE application_name = '${API_NAME}')::int AS api
FROM pg_stat_activity WHERE datname = current_database()`;
const PROBE_MS = 100;
const SAMPLE_MS = 500;

/** Totals so far; rates and shares come from two of them. */
export async function totals(world) {
  const { rows } = await world.db.query(TOTALS);
  return { ...rows[0], cpu: await world.databaseCpu(), at: performance.now() };
}

/** From now until `stop`: the floors of this very minute, and the most connections. Resolves there with all of it. */
export async function gauge(world) {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  const redis = new Redis(world.redisUrl);
  await client.connect();
  await client.query('CREATE TABLE IF NOT EXISTS floor.probes (at timestamptz)');
  const seen = { trip: [], commit: [], workers: 0, api: 0, redis: 0 };
  let over = false;
  const probes = (async () => {
    for (; !over; await delay(PROBE_MS)) {
      seen.trip.push(await timed(() => client.query({ name: 'trip', text: 'SELECT 1' })));
      seen.commit.push(
        await timed(() => client.query({ name: 'commit', text: 'INSERT INTO floor.probes VALUES (now())' })),
      );
    }
  })();
  const samples = (async () => {
    for (; !over; await delay(SAMPLE_MS)) {
      const { rows } = await world.db.query(CONNECTIONS);
      const [, clients = 0] = /connected_clients:(\d+)/.exec(await redis.info('clients')) ?? [];
      seen.workers = Math.max(seen.workers, rows[0].workers);
      seen.api = Math.max(seen.api, rows[0].api);
      seen.redis = Math.max(seen.redis, Number(clients) - 1);
    }
  })();
  return async function stop() {
    over = true;
    try {
      await Promise.all([probes, samples]);
      return seen;
    } finally {
      redis.disconnect();
      await client.end();
    }
  };
}

/** Memory that PostgreSQL has for each connection alone, MiB on average: statements that are prepared, and what they were planned with. */
export async function memoryOfConnections(world) {
  const { rows } = await world.db.query(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'millwright%'`,
  );
  const all = rows.flatMap(({ pid }) => ownMiB(pid));
  return all.reduce((sum, one) => sum + one, 0) / all.length;
}

/** Nothing of one that has ended meanwhile. */
function ownMiB(pid) {
  try {
    const found = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+:\s+(\d+) kB/gm);
    return [[...found].reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0) / 1024];
  } catch {
    return [];
  }
}

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
