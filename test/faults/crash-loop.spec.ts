import { createDatabase, type TestDatabase } from '../harness/database.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { expectWhole } from './verdict.js';
import { type LossyRelay, lossyRelay } from './lossy-relay.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { report } from './report.js';
import { underMishaps } from './under-mishaps.js';
import { World } from './world.js';

/** In a round. */
const TASKS = LONG ? 20_000 : 200;
/** The share of signals that is lost. By chance, a tenth of 200 is now and then no more than the twentieth that is expected. */
const LOST = LONG ? 0.1 : 0.2;
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
      relay = await lossyRelay(redis.url, LOST, random);
      const options = { databaseUrl: db.url, redisUrl: redis.url, ringUrl: relay.url, leaseSeconds: LEASE_SECONDS };
      world = await World.start(options);
    });
    afterAll(async () => {
      await world.close();
      await relay.close();
      await redis.stop();
      await db.drop();
    });

    it(`of at least ${TASKS} accepted tasks none is lost, and no step is lost, doubled or in a wrong place`, async () => {
      const { load, accepted, happened, seconds } = await underMishaps(db, world, {
        name: 'loop',
        count: TASKS,
        least: { kills: 3, freezes: 1, flushes: 1 },
        random,
        redis,
        freezeMs: LEASE_SECONDS * 1000 + 1500,
      });
      const [taken] = await db.query<{ over: number }>('SELECT count(*)::int AS over FROM runs WHERE epoch > 1');
      report(`${load.length} tasks in ${seconds.toFixed(1)} s under faults`, {
        ...happened,
        takenOver: taken?.over,
        signals: relay.passed + relay.dropped,
        lost: relay.dropped,
      });
      expect(accepted).toHaveLength(load.length);
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
