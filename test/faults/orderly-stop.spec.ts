import { Client } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { type ServiceProcess } from '../harness/service.js';
import { createTask, finished } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { LONG } from '../harness/numbers.js';
import { type Mutant, mutantOf, NO_RECONCILER } from './mutant.js';
import { report } from './report.js';
import { World } from './world.js';

/** Fewer than one worker has places for. */
const TASKS = 12;
const STOPS = LONG ? 20 : 1;

// A look each second would often find them within a second too, by luck; here it is taken out, and the signal is alone.
describe('Without Redis, a worker that is told to stop', () => stopping(false));
describeWithRedis('With Redis, a worker that is told to stop', () => stopping(true));

function stopping(withRedis: boolean): void {
  let db: TestDatabase;
  let redis: RedisServer | null = null;
  let mutant: Mutant;
  let world: World;
  beforeAll(async () => {
    mutant = mutantOf(NO_RECONCILER);
    db = await createDatabase();
    if (withRedis) redis = await RedisServer.start();
    const options = { databaseUrl: db.url, dist: mutant.dist, workers: 1 };
    world = await World.start(redis === null ? options : { ...options, redisUrl: redis.url });
    await recordHandedBack(db);
  });
  afterAll(async () => {
    await world.close();
    await redis?.stop();
    await db.drop();
    mutant.remove();
  });

  it('ends with code 0, and another has its runs as soon as they are handed back', async () => {
    const client = new Client(world.api.url, world.secret);
    const seconds: number[] = [];
    for (let stop = 0; stop < STOPS; stop++) {
      world.model.script = () => ({ hang: true });
      const ids: string[] = [];
      for (let n = 0; n < TASKS; n++) {
        ids.push((await createTask(client, { content: `${stop}-${n}`, model: 'faults' })).id);
      }
      await until('the model to be asked for all of them', () => world.model.openRequests === TASKS);
      // Started only now, so that all of them are with the one that is to stop.
      await world.startWorker(stop + 1);
      const [first, second] = world.workers.slice(-2) as [ServiceProcess, ServiceProcess];
      await until('the other worker to be up', () => world.isUp(second), { within: 150_000 });
      world.model.script = () => ({ text: 'Went on.' });
      const asked = Date.now();
      expect(await first.end('SIGTERM')).toBe(0);
      expect(Date.now() - asked).toBeLessThan(LONG ? 10_000 : 60_000);
      for (const id of ids) {
        expect(await finished(client, id)).toMatchObject({ status: 'completed', result: { text: 'Went on.' } });
      }
      seconds.push(...(await takeovers(ids)));
    }
    const last = Math.max(...seconds);
    report(`${seconds.length} runs handed back at ${STOPS} stops ${withRedis ? 'with' : 'without'} Redis`, { last });
    expect(seconds).toHaveLength(STOPS * TASKS);
    // Nothing looks here: without the notice it would be never. On machines that do other things as well, a second is a figure.
    expect(last).toBeLessThanOrEqual(LONG ? 1 : 30);
  }, 600_000);

  /** From hand-back to claim, each run of these tasks, by the database's clock. */
  async function takeovers(ids: string[]): Promise<number[]> {
    const rows = await db.query<{ seconds: number; recovery_count: number }>(
      `SELECT extract(epoch FROM r.claimed_at - h.at)::float8 AS seconds, r.recovery_count
       FROM handed_back h JOIN runs r ON r.id = h.run_id WHERE r.task_id = ANY ($1)`,
      [ids],
    );
    expect(rows.filter(({ recovery_count }) => recovery_count > 0)).toEqual([]);
    return rows.map(({ seconds }) => seconds);
  }
}

async function recordHandedBack(db: TestDatabase): Promise<void> {
  await db.query(`
    CREATE TABLE handed_back (run_id uuid NOT NULL, at timestamptz NOT NULL);
    CREATE FUNCTION record_handed_back() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO handed_back VALUES (NEW.id, clock_timestamp());
      RETURN NULL;
    END $$;
    CREATE TRIGGER record_handed_back AFTER UPDATE OF status ON runs FOR EACH ROW
      WHEN (NEW.status = 'queued' AND OLD.status = 'running') EXECUTE FUNCTION record_handed_back()`);
}
