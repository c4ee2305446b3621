// Negative controls: with a safeguard taken out of the service, the suite has to say so.
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { until } from '../harness/until.js';
import { type Fault, type Violation, violations } from './checker.js';
import { readHistory } from './history.js';
import { KeyedWrites } from './keyed-writes.js';
import { send } from './load.js';
import { lossyRelay } from './lossy-relay.js';
import { type Mutant, type Mutation, mutantOf } from './mutant.js';
import { numbers, SEED } from '../harness/numbers.js';
import { orderOf, orders } from './orders.js';
import { settled } from './settled.js';
import { World } from './world.js';

const NO_EPOCH: Mutation = {
  file: 'execution/record-sql.js',
  text: `r.epoch = $3 AND r.status = 'running'`,
  instead: `$3::int IS NOT NULL AND r.status = 'running'`,
};
const NO_RECONCILER: Mutation = {
  file: 'execution/reconciler.js',
  text: 'if (this.stopping || this.ticking !== null)',
  instead: 'if (true)',
};
const NO_UNIQUE_KEY: Mutation = {
  file: 'idempotency/idempotency.service.js',
  text: `
ON CONFLICT (workspace_id, user_id, method, path, key) DO UPDATE
SET fingerprint = EXCLUDED.fingerprint, status = NULL, body = NULL, location = NULL,
    created_at = now(), expires_at = EXCLUDED.expires_at
WHERE k.expires_at <= now()`,
  instead: '',
};

describe(`With a safeguard taken out, seed ${SEED}`, () => {
  let mutant: Mutant;
  let db: TestDatabase;
  afterEach(async () => {
    mutant.remove();
    await db.drop();
  });

  it('without the epoch in the fence, zombies corrupt the history and the checker says so', async () => {
    mutant = mutantOf(NO_EPOCH);
    db = await createDatabase();
    expect(faultsOf(await zombies(db, mutant.dist))).toContain('duplicate');
  }, 600_000);

  it('with the epoch, the same zombies do no harm', async () => {
    mutant = mutantOf({ ...NO_EPOCH, instead: NO_EPOCH.text });
    db = await createDatabase();
    expect(await zombies(db, mutant.dist)).toEqual([]);
  }, 600_000);

  it('without the unique key, a repeated write has two effects and the count of keys says so', async () => {
    mutant = mutantOf(NO_UNIQUE_KEY);
    const writes = await KeyedWrites.start(mutant.dist);
    ({ db } = writes.service);
    await db.query('ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey');
    try {
      const { keys } = await writes.run(({ kills }) => kills >= 2);
      const { tasks, titles } = await writes.effects();
      expect(titles).toBe(keys);
      expect(tasks).toBeGreaterThan(keys);
    } finally {
      await writes.close();
    }
  }, 600_000);
});

describeWithRedis(`Without the reconciler, seed ${SEED}`, () => {
  it('signals that are lost lose their tasks and the checker says so', async () => {
    const mutant = mutantOf(NO_RECONCILER);
    const db = await createDatabase();
    const redis = await RedisServer.start();
    const relay = await lossyRelay(redis.url, 0.1, numbers(SEED));
    const options = {
      databaseUrl: db.url,
      redisUrl: redis.url,
      ringUrl: relay.url,
      dist: mutant.dist,
      workers: 1,
      leaseSeconds: 2,
    };
    const world = await World.start(options);
    const load = orders('alone', 60);
    await send(world, load);
    await settled(db, 'alone', 5_000);
    const found = violations(load, await readHistory(db, world, 'alone'));
    await world.close();
    await relay.close();
    await redis.stop();
    await db.drop();
    mutant.remove();
    expect(relay.dropped).toBeGreaterThan(0);
    expect(faultsOf(found)).toContain('lost');
  }, 600_000);
});

/**
 * Freezes a worker while its runs wait for the model, until another one has taken them over and is at their next steps, and
 * lets it wake. Its answers have come meanwhile: it writes before it can look at the clock.
 */
async function zombies(db: TestDatabase, dist: string): Promise<Violation[]> {
  const world = await World.start({ databaseUrl: db.url, workers: 2, leaseSeconds: 2, dist });
  const load = Array.from({ length: 24 }, (_, n) => orderOf(`zombie-${n}`, 'slow', 700));
  const running = (epoch: number) => async () => {
    const sql = `SELECT count(*)::int AS n FROM runs WHERE status = 'running' AND epoch >= $1`;
    return ((await db.query<{ n: number }>(sql, [epoch]))[0]?.n ?? 0) >= 6;
  };
  try {
    await send(world, load);
    await until('the runs to be under way', running(1), { within: 60_000 });
    const [worker] = world.workers;
    worker?.child.kill('SIGSTOP');
    // Claimed is epoch 1, recovered 2, claimed again 3.
    await until('another worker to take them over', running(3), { within: 60_000 });
    worker?.child.kill('SIGCONT');
    await settled(db, 'zombie', 15_000);
    return violations(load, await readHistory(db, world, 'zombie'));
  } finally {
    await world.close();
  }
}

function faultsOf(found: Violation[]): Fault[] {
  return [...new Set(found.map(({ fault }) => fault))];
}
