import { readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { send } from './load.js';
import { LONG } from '../harness/numbers.js';
import { orders } from './orders.js';
import { report } from './report.js';
import { settled } from './settled.js';
import { expectWhole } from './verdict.js';
import { World } from './world.js';

const MINUTES = 10;
/** Tasks that are sent together, and how often. */
const BATCH = 40;
const EVERY_MS = 4_000;

const READ = `
SELECT (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections,
  sum(n_dead_tup)::float8 / greatest(sum(n_live_tup), 1) AS dead FROM pg_stat_user_tables`;

const READ_TABLES = `SELECT relname AS name, n_dead_tup::float8 AS dead, n_live_tup::float8 AS live FROM pg_stat_user_tables`;

interface Table {
  name: string;
  dead: number;
  live: number;
}

interface Sample {
  /** Resident memory of all processes, MiB. */
  memory: number;
  descriptors: number;
  connections: number;
  redisKeys: number;
  /** Dead rows for each live one. */
  dead: number;
}

/** Dead rows at which autovacuum visits a table, by PostgreSQL's defaults. */
const visitedAt = ({ live }: Table): number => 50 + 0.2 * live;

/** How much more the last quarter may have than the second; the first one warms up. */
const MAY_GROW: Sample = { memory: 60, descriptors: 12, connections: 6, redisKeys: 10, dead: 0.3 };

// Ten minutes: in the long form alone.
(LONG ? describeWithRedis : describe.skip)(`Under a steady load for ${MINUTES} minutes`, () => {
  let db: TestDatabase;
  let redis: RedisServer;
  let world: World;
  beforeAll(async () => {
    [db, redis] = await Promise.all([createDatabase(), RedisServer.start()]);
    world = await World.start({ databaseUrl: db.url, redisUrl: redis.url, workers: 2 });
  });
  afterAll(async () => {
    await world.close();
    await redis.stop();
    await db.drop();
  });

  it('memory, descriptors, connections, keys in Redis and dead rows stay flat', async () => {
    const load = orders('soak', Math.ceil((MINUTES * 60_000) / EVERY_MS) * BATCH);
    const samples: Sample[] = [];
    const tables: Table[][] = [];
    for (let sent = 0; sent < load.length; sent += BATCH) {
      const began = Date.now();
      await send(world, load.slice(sent, sent + BATCH), 4);
      await settled(db, 'soak');
      samples.push(await sample());
      tables.push(await db.query<Table>(READ_TABLES));
      await wait(Math.max(0, began + EVERY_MS - Date.now()));
    }
    const quarter = Math.floor(samples.length / 4);
    const [early, late] = [mean(samples.slice(quarter, 2 * quarter)), mean(samples.slice(-quarter))];
    report('second quarter', { ...early });
    report('last quarter', { ...late });
    for (const name of Object.keys(MAY_GROW) as (keyof Sample)[]) {
      expect({ [name]: late[name] - early[name] <= MAY_GROW[name] }).toEqual({ [name]: true });
    }
    // The share of dead rows would stay flat even if both grew. Between two visits they pile up, so what counts is the least.
    const before = leastDead(tables.slice(quarter, 2 * quarter));
    const after = leastDead(tables.slice(-quarter));
    report('dead rows that stay', Object.fromEntries([...after].map(([name, { dead }]) => [name, dead])));
    const grown = [...after].filter(([name, table]) => table.dead - (before.get(name)?.dead ?? 0) > visitedAt(table));
    expect(grown).toEqual([]);
    await expectWhole(db, world, 'soak', load);
  }, 3_600_000);

  async function sample(): Promise<Sample> {
    const processes = [world.api, ...world.workers];
    const [row] = await db.query<{ connections: number; dead: number }>(READ);
    return {
      memory: processes.reduce((sum, { residentMiB }) => sum + residentMiB, 0),
      descriptors: processes.reduce((sum, { child }) => sum + readdirSync(`/proc/${child.pid}/fd`).length, 0),
      connections: row?.connections ?? 0,
      redisKeys: Number(await redis.command('DBSIZE')),
      dead: row?.dead ?? 0,
    };
  }
});

/** Of each table the sample in which it had the fewest dead rows. */
function leastDead(samples: Table[][]): Map<string, Table> {
  const least = new Map<string, Table>();
  for (const table of samples.flat()) {
    if (table.dead < (least.get(table.name)?.dead ?? Infinity)) least.set(table.name, table);
  }
  return least;
}

function mean(samples: Sample[]): Sample {
  const of = (name: keyof Sample) => samples.reduce((sum, one) => sum + one[name], 0) / samples.length;
  return {
    memory: of('memory'),
    descriptors: of('descriptors'),
    connections: of('connections'),
    redisKeys: of('redisKeys'),
    dead: of('dead'),
  };
}
