// Negative controls: with a safeguard taken out of the service, the suite has to say so.
import { createDatabase } from '../harness/database.js';
import { FakeModel } from '../harness/engines/fake-model.js';
import { engineOf } from '../harness/engines/worker.js';
import { sleeps } from '../harness/processes.js';
import { relayTo } from '../harness/proxy.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { until } from '../harness/until.js';
import { type Fault, type Violation, violations } from './checker.js';
import { readHistory } from './history.js';
import { KeyedWrites } from './keyed-writes.js';
import { send } from './load.js';
import { lossyRelay } from './lossy-relay.js';
import { type Mutation, mutantOf, NO_RECONCILER } from './mutant.js';
import { numbers, SEED } from '../harness/numbers.js';
import { orderOf, orders } from './orders.js';
import { settled } from './settled.js';
import { World } from './world.js';

const NO_EPOCH: Mutation = {
  file: 'work/runs/run-recorder.sql.js',
  text: 'r.epoch = ${EPOCH} AND ',
  instead: '${EPOCH} IS NOT NULL AND ',
};
const NO_UNIQUE_KEY: Mutation = {
  file: 'access/idempotency/stored-request.js',
  text: `
ON CONFLICT (workspace_id, user_id, method, path, key) DO UPDATE
SET fingerprint = EXCLUDED.fingerprint, status = NULL, body = NULL, location = NULL,
    created_at = now(), expires_at = EXCLUDED.expires_at
WHERE k.expires_at <= now() OR k.status IS NULL`,
  instead: '',
};

const NO_MARK: Mutation = {
  file: 'engine/engines/acp/held-step.js',
  text: "stage === 'begun'",
  instead: "stage === 'approved'",
};

/** How long a command takes: no other test has this one. */
const CALL_MS = 4_217;

describe(`With a safeguard taken out, seed ${SEED}`, () => {
  it('without the epoch in the fence, writes that arrive late corrupt the history and the checker says so', async () => {
    // On a loaded machine the writes of one try can all arrive between two runs.
    const found = new Set<Fault>();
    for (let tries = 0; tries < 3 && !found.has('duplicate'); tries++)
      for (const fault of faultsOf(await lateWrites(NO_EPOCH))) found.add(fault);
    expect([...found]).toContain('duplicate');
  }, 600_000);

  it('with the epoch, the same late writes do no harm', async () => {
    expect(await lateWrites({ ...NO_EPOCH, instead: NO_EPOCH.text })).toEqual([]);
  }, 600_000);

  it('without the mark of calls that have reached an agent program, one is carried out twice and the checker says so', async () => {
    const found = await killedInCall(NO_MARK);
    expect(found.map(({ what }) => what)).toContainEqual(expect.stringMatching(/^command \d ran 2 times$/));
  }, 600_000);

  it('with the mark, the same kill does no harm', async () => {
    expect(await killedInCall({ ...NO_MARK, instead: NO_MARK.text })).toEqual([]);
  }, 600_000);

  // Tasks and messages: an answer that is repeated finds no question.
  it('without the unique key, a repeated write has two effects and the count of keys says so', async () => {
    const mutant = mutantOf(NO_UNIQUE_KEY);
    const writes = await KeyedWrites.start(0, mutant.dist);
    await writes.service.db.query('ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey');
    const doubled = async () => {
      const { created = 0, sent = 0, keys = 0 } = await writes.effects();
      return created + sent > keys;
    };
    // A kill before the commit leaves nothing to double; about one in two comes after it.
    await writes.run(async ({ kills }) => kills >= 30 || (await doubled()));
    expect(await doubled()).toBe(true);
    await writes.close();
    mutant.remove();
  }, 600_000);
});

describeWithRedis(`With all signals lost, seed ${SEED}`, () => {
  it('without the reconciler, tasks are lost and the checker says so', async () => {
    expect(faultsOf(await lostSignals(NO_RECONCILER))).toContain('lost');
  }, 600_000);

  it('with the reconciler, the same loss does no harm', async () => {
    expect(await lostSignals({ ...NO_RECONCILER, instead: NO_RECONCILER.text })).toEqual([]);
  }, 600_000);
});

/** All of them: a worker that ends a run looks for what waits, and one signal that comes through would save the others. */
async function lostSignals(mutation: Mutation): Promise<Violation[]> {
  const mutant = mutantOf(mutation);
  const db = await createDatabase();
  const redis = await RedisServer.start();
  const relay = await lossyRelay(redis.url, 1, numbers(SEED));
  const options = { databaseUrl: db.url, redisUrl: redis.url, ringUrl: relay.url, dist: mutant.dist, workers: 1 };
  const world = await World.start(options);
  const load = orders('alone', 20);
  await send(world, load);
  await settled(db, 'alone', 5_000);
  const found = violations(load, await readHistory(db, world, 'alone'));
  await world.close();
  await relay.close();
  await redis.stop();
  await db.drop();
  mutant.remove();
  expect(relay.dropped).toBeGreaterThan(0);
  return found;
}

/**
 * A worker's network stands still while its runs wait for the model; the writes that follow are on their way until another
 * worker has taken the runs over and is at their next steps. Then they arrive. (A frozen process is no such case: when it
 * wakes it looks at the clock first.)
 */
async function lateWrites(mutation: Mutation): Promise<Violation[]> {
  const mutant = mutantOf(mutation);
  const db = await createDatabase();
  const network = await relayTo(db.url);
  const options = { databaseUrl: db.url, firstWorkerUrl: network.url, dist: mutant.dist, workers: 2, leaseSeconds: 2 };
  const world = await World.start(options);
  const load = Array.from({ length: 24 }, (_, n) => orderOf(`late-${n}`, 'slow', 700));
  const running =
    (count: number, which = 'epoch = 1') =>
    async () => {
      const sql = `SELECT count(*)::int AS n FROM runs r WHERE status = 'running' AND ${which}`;
      return ((await db.query<{ n: number }>(sql))[0]?.n ?? 0) >= count;
    };
  try {
    await send(world, load);
    // More than the other worker has places for: the first one has some.
    await until('the runs to be under way', running(20), { within: 150_000 });
    network.hold();
    // Claimed is epoch 1, recovered 2, claimed again 3.
    const written = 'SELECT FROM messages m WHERE m.task_id = r.task_id AND m.created_at > r.claimed_at';
    await until('another worker to write', running(4, `epoch >= 3 AND EXISTS (${written})`), { within: 150_000 });
    network.release();
    await settled(db, 'late');
    return violations(load, await readHistory(db, world, 'late'));
  } finally {
    await world.close();
    await network.close();
    await db.drop();
    mutant.remove();
  }
}

/** A worker is killed while an agent program is in the middle of a call. */
async function killedInCall(mutation: Mutation): Promise<Violation[]> {
  const mutant = mutantOf(mutation);
  const [db, model] = await Promise.all([createDatabase(), FakeModel.start()]);
  const about = { id: 'forgetful', engine: 'forgetful', provider: 'openai-compatible', baseUrl: model.url };
  const engines = { engines: { forgetful: engineOf({ FORGETS: '1' }) }, models: [about] };
  const world = await World.start({ databaseUrl: db.url, dist: mutant.dist, workers: 1, leaseSeconds: 8, engines });
  const load = [orderOf('call-1', 'forgetful', CALL_MS)];
  try {
    await send(world, load);
    await sleeps(String(CALL_MS / 1000));
    await world.workers[0]?.end('SIGKILL');
    await world.startWorker(0);
    await settled(db, 'call');
    return violations(load, await readHistory(db, world, 'call'));
  } finally {
    await world.close();
    await model.stop();
    await db.drop();
    mutant.remove();
  }
}

function faultsOf(found: Violation[]): Fault[] {
  return [...new Set(found.map(({ fault }) => fault))];
}
