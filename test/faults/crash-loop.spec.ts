import { createDatabase, type TestDatabase } from '../harness/database.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { expectWhole } from './verdict.js';
import { send } from './load.js';
import { type LossyRelay, lossyRelay } from './lossy-relay.js';
import { happen, mishapsOf } from './mishaps.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { orders } from './orders.js';
import { report } from './report.js';
import { settled } from './settled.js';
import { World } from './world.js';

const TASKS = LONG ? 20_000 : 600;
const LEASE_SECONDS = 2;

describeWithRedis(
  `Workers are killed and frozen, Redis is emptied, signals are lost: seed ${SEED} (reference §5)`,
  () => {
    let db: TestDatabase;
    let redis: RedisServer;
    let relay: LossyRelay;
    let world: World;
    const random = numbers(SEED);

    beforeAll(async () => {
      db = await createDatabase();
      redis = await RedisServer.start();
      relay = await lossyRelay(redis.url, 0.1, random);
      const options = { databaseUrl: db.url, redisUrl: redis.url, ringUrl: relay.url, leaseSeconds: LEASE_SECONDS };
      world = await World.start(options);
    }, 120_000);
    afterAll(async () => {
      await world.close();
      await relay.close();
      await redis.stop();
      await db.drop();
    }, 60_000);

    it(`of ${TASKS} accepted tasks none is lost, and no step is lost, doubled or in a wrong place`, async () => {
      const load = orders('loop', TASKS);
      const over = new AbortController();
      const began = Date.now();
      const mishaps = happen(mishapsOf(random, 3600, world.workers.length), world, {
        redis,
        freezeMs: LEASE_SECONDS * 1000 + 1500,
        signal: over.signal,
      });
      const accepted = await send(world, load);
      await settled(db, 'loop');
      const seconds = (Date.now() - began) / 1000;
      over.abort();
      const happened = await mishaps;
      const [taken] = await db.query<{ over: number }>('SELECT count(*)::int AS over FROM runs WHERE epoch > 1');
      report(`${TASKS} tasks in ${seconds.toFixed(1)} s under faults`, {
        ...happened,
        takenOver: taken?.over,
        signals: relay.passed + relay.dropped,
        lost: relay.dropped,
      });
      expect(accepted).toHaveLength(TASKS);
      await expectWhole(db, world, 'loop', load);
      // Else nothing was proved.
      expect(happened.kills).toBeGreaterThanOrEqual(3);
      expect(happened.freezes).toBeGreaterThanOrEqual(1);
      expect(happened.flushes).toBeGreaterThanOrEqual(1);
      expect(taken?.over).toBeGreaterThan(0);
      expect(relay.dropped / (relay.passed + relay.dropped)).toBeGreaterThan(0.05);
    }, 3_600_000);
  },
);
