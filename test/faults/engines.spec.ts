import { createDatabase, type TestDatabase } from '../harness/database.js';
import { FakeModel } from '../harness/engines/fake-model.js';
import { engineOf } from '../harness/engines/worker.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { ENGINES } from './orders.js';
import { report } from './report.js';
import { underMishaps } from './under-mishaps.js';
import { expectWhole } from './verdict.js';
import { World } from './world.js';

/** In a round. */
const TASKS = LONG ? 500 : 16;
const LEAST = LONG ? { kills: 30, freezes: 10, flushes: 10 } : { kills: 2, freezes: 1, flushes: 1 };
/** On a machine that is busy a shorter one runs out by itself. */
const LEASE_SECONDS = 15;
/** Of each engine in each worker: more programs at once would be at no step before the next kill, on a machine that is busy. */
const SHARE = { concurrency: 1, startSeconds: 180 };
/** A kill every 14 tasks, and every 4 in the short form: a run that is cut off six times before its first step counts as lost. */
const TASK_MS = LONG ? 140 : 500;

describeWithRedis(
  `Workers are killed and frozen and Redis is emptied while agent programs drive tasks: seed ${SEED} (reference §30)`,
  () => {
    let [model, db, redis, world] = [] as unknown as [FakeModel, TestDatabase, RedisServer, World];
    beforeAll(async () => {
      [model, db, redis] = await Promise.all([FakeModel.start(), createDatabase(), RedisServer.start()]);
      const models = ENGINES.map((id) => ({ id, engine: id, provider: 'openai-compatible', baseUrl: model.url }));
      world = await World.start({
        ...{ databaseUrl: db.url, redisUrl: redis.url, leaseSeconds: LEASE_SECONDS },
        engines: { engines: { engine: engineOf({}, SHARE), forgetful: engineOf({ FORGETS: '1' }, SHARE) }, models },
      });
    }, 900_000);
    afterAll(async () => {
      await world.close();
      await redis.stop();
      await db.drop();
      await model.stop();
    }, 120_000);

    it(`of at least ${TASKS} accepted tasks none is lost, and no step is lost, doubled or in a wrong place`, async () => {
      const { load, accepted, happened, seconds } = await underMishaps(db, world, {
        ...{ name: 'engines', count: TASKS, kinds: ENGINES, least: LEAST, random: numbers(SEED), redis },
        taskMs: TASK_MS,
        freezeMs: LEASE_SECONDS * 1000 + 1500,
      });
      const [taken] = await db.query<{ over: number }>('SELECT count(*)::int AS over FROM runs WHERE epoch > 1');
      const [calls] = await db.query<{ interrupted: number }>(
        `SELECT count(*)::int AS interrupted FROM tool_invocations WHERE state = 'error'`,
      );
      const figures = { ...happened, takenOver: taken?.over, interrupted: calls?.interrupted };
      report(`${load.length} tasks of an engine in ${seconds.toFixed(1)} s under faults`, figures);
      expect(accepted).toHaveLength(load.length);
      await expectWhole(db, world, 'engines', load);
      // Else nothing was proved.
      expect(taken?.over).toBeGreaterThan(0);
      if (LONG) expect(calls?.interrupted).toBeGreaterThan(0);
    }, 7_200_000);
  },
);
