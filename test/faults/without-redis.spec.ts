import { Client } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { freePort } from '../harness/ports.js';
import { createTask, finished } from '../harness/tasks.js';
import { expectWhole } from './verdict.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { report } from './report.js';
import { underMishaps } from './under-mishaps.js';
import { World } from './world.js';

/** In a round. */
const TASKS = LONG ? 20_000 : 100;
/** Sent one after the other. */
const SINGLE = 20;
const LEASE_SECONDS = 2;

describe(`Redis is configured and away for the whole run: seed ${SEED} (reference §16)`, () => {
  let db: TestDatabase;
  let world: World;

  beforeAll(async () => {
    db = await createDatabase();
    // Nobody listens there.
    const redisUrl = `redis://127.0.0.1:${await freePort()}`;
    world = await World.start({ databaseUrl: db.url, redisUrl, leaseSeconds: LEASE_SECONDS });
  });
  afterAll(async () => {
    await world.close();
    await db.drop();
  });

  it('a task begins within 2 s, 19 times of 20', async () => {
    const client = new Client(world.api.url, world.secret);
    for (let n = 0; n < SINGLE; n++) {
      const { id } = await createTask(client, { title: 'single', content: 'Hello', model: 'runbook' });
      expect(await finished(client, id)).toMatchObject({ status: 'completed' });
    }
    const sql = `SELECT extract(epoch FROM r.claimed_at - r.created_at)::float8 AS seconds
      FROM runs r JOIN tasks t ON t.id = r.task_id WHERE t.title = 'single' ORDER BY 1`;
    const seconds = (await db.query<{ seconds: number }>(sql)).map((row) => row.seconds);
    const [median, p95] = [0.5, 0.95].map((part) => seconds[Math.ceil(SINGLE * part) - 1]);
    report(`queued to running without Redis, ${seconds.length} times`, { median, p95 });
    expect(seconds).toHaveLength(SINGLE);
    expect(p95).toBeLessThanOrEqual(2);
  });

  it(`of at least ${TASKS} accepted tasks none is lost, and no step is lost, doubled or in a wrong place`, async () => {
    const { load, happened, seconds } = await underMishaps(db, world, {
      name: 'away',
      count: TASKS,
      least: { kills: 2, freezes: 0, flushes: 0 },
      random: numbers(SEED),
      redis: null,
      freezeMs: LEASE_SECONDS * 1000 + 1500,
    });
    report(`${load.length} tasks in ${seconds.toFixed(1)} s without Redis`, { ...happened });
    await expectWhole(db, world, 'away', load);
    expect(happened.kills).toBeGreaterThanOrEqual(2);
  }, 3_600_000);
});
