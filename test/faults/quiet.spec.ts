// How fast it is when nothing goes wrong. The limits are those of an idle machine with two cores, so they hold in the long
// form; in CI, where others may be at work, they are wider and only tell that the signals arrive.
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { Client } from '../harness/client.js';
import { createTask, finished } from '../harness/tasks.js';
import { send } from './load.js';
import { LONG } from '../harness/numbers.js';
import { orders } from './orders.js';
import { report } from './report.js';
import { settled } from './settled.js';
import { expectWhole } from './verdict.js';
import { World } from './world.js';

const WIDER = LONG ? 1 : 10;
const ASKED = LONG ? 200 : 20;
const TASKS = LONG ? 5_000 : 200;

describeWithRedis('With Redis, in the quiet', () => {
  let db: TestDatabase;
  let redis: RedisServer;
  let world: World;
  beforeAll(async () => {
    [db, redis] = await Promise.all([createDatabase(), RedisServer.start()]);
    world = await World.start({ databaseUrl: db.url, redisUrl: redis.url });
  });
  afterAll(async () => {
    await world.close();
    await redis.stop();
    await db.drop();
  });

  it('a queued task runs within 25 ms, half of the time', async () => {
    expect(await medianStart(db, world)).toBeLessThanOrEqual(25 * WIDER);
  });

  it(`tasks of five steps are done${LONG ? ', 100 in a second' : ''}`, async () => {
    const load = orders('quiet', TASKS);
    const began = Date.now();
    await send(world, load);
    await settled(db, 'quiet');
    const perSecond = (TASKS * 1000) / (Date.now() - began);
    report(`${perSecond.toFixed(0)} tasks a second in the quiet`);
    await expectWhole(db, world, 'quiet', load);
    if (LONG) expect(perSecond).toBeGreaterThanOrEqual(100);
  }, 600_000);
});

describe('Without Redis, in the quiet', () => {
  let db: TestDatabase;
  let world: World;
  beforeAll(async () => {
    db = await createDatabase();
    world = await World.start({ databaseUrl: db.url, workers: 1 });
  });
  afterAll(async () => {
    await world.close();
    await db.drop();
  });

  it('a queued task runs within 40 ms, half of the time', async () => {
    expect(await medianStart(db, world)).toBeLessThanOrEqual(40 * WIDER);
  });
});

/** From `queued` to `running` on an otherwise idle system, in milliseconds. */
async function medianStart(db: TestDatabase, world: World): Promise<number> {
  const client = new Client(world.api.url, world.secret);
  // The first ones warm the processes.
  for (let n = 0; n < ASKED + 10; n++) {
    const { id } = await createTask(client, { title: n < 10 ? 'warm' : 'timed', content: 'Hello', model: 'runbook' });
    await finished(client, id);
  }
  const [row] = await db.query<{ ms: number }>(
    `SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY 1000 * extract(epoch FROM r.claimed_at - r.created_at))::float8 AS ms
     FROM runs r JOIN tasks t ON t.id = r.task_id WHERE t.title = 'timed'`,
  );
  const median = row?.ms ?? Number.NaN;
  report(`queued to running: median ${median.toFixed(1)} ms of ${ASKED}`);
  return median;
}
