import { createDatabase, type TestDatabase } from '../harness/database.js';
import { newMark, processesWith, sleeps } from '../harness/processes.js';
import { relayTo } from '../harness/proxy.js';
import { call, createTask, script } from '../harness/tasks.js';
import { Client } from '../harness/client.js';
import { until } from '../harness/until.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { report } from './report.js';
import { World } from './world.js';

/** The service's own lease in the long form, and one that takes a third of the time; heartbeat and fence are fractions of it. */
const LEASE_SECONDS = LONG ? 12 : 4;
const DEATHS = LONG ? 10 : 1;
/** Held by three workers, of whose 16 places each one workspace gets 12: so that two can hold them all. */
const TASKS = 24;

describe(`After a worker's death another takes its runs over: seed ${SEED} (reference §5)`, () => {
  let db: TestDatabase;
  let world: World;

  beforeAll(async () => {
    db = await createDatabase();
    world = await World.start({ databaseUrl: db.url, ...(LONG ? {} : { leaseSeconds: LEASE_SECONDS }) });
  });
  afterAll(async () => {
    await world.close();
    await db.drop();
  });

  it(`within ${LEASE_SECONDS + 3} s, the lease and 3 s`, async () => {
    const client = new Client(world.api.url, world.secret);
    for (let n = 0; n < TASKS; n++) await createTask(client, { content: script({ hang: true }), model: 'faults' });
    await until('all of them to run', async () => (await epochs()).size === TASKS, { within: 150_000 });
    const random = numbers(SEED);
    const seconds: number[] = [];
    for (let death = 0; death < DEATHS; death++) seconds.push(...(await takeoversAfterDeath(Math.floor(random() * 3))));
    seconds.sort((a, b) => a - b);
    const p99 = seconds[Math.ceil(seconds.length * 0.99) - 1];
    report(`${seconds.length} takeovers after ${DEATHS} deaths, lease ${LEASE_SECONDS} s`, {
      p99,
      last: seconds.at(-1),
    });
    expect(seconds.length).toBeGreaterThanOrEqual(DEATHS);
    expect(p99).toBeLessThanOrEqual(LEASE_SECONDS + 3);
  }, 600_000);

  /** How long each run of the dead worker was without one that works, in seconds by the database's clock. */
  async function takeoversAfterDeath(place: number): Promise<number[]> {
    const before = await epochs();
    const [killed] = await db.query<{ at: Date }>('SELECT clock_timestamp() AS at');
    await world.workers[place]?.end('SIGKILL');
    // What the dead one held can only run out; who lives has renewed.
    const sql = `SELECT count(*)::int AS n FROM runs
      WHERE status <> 'running' OR lease_until <= $1::timestamptz + make_interval(secs => $2)`;
    const values = [killed?.at, LEASE_SECONDS];
    const all = async () => (await db.query<{ n: number }>(sql, values))[0]?.n === 0;
    await until('all runs to be held by the living', all, { within: 150_000 });
    const taken = await db.query<{ id: string; epoch: number; seconds: number }>(
      `SELECT id, epoch, extract(epoch FROM claimed_at - $1::timestamptz)::float8 AS seconds FROM runs`,
      [killed?.at],
    );
    await world.startWorker(place);
    await world.workersAreUp();
    return taken.flatMap(({ id, epoch, seconds }) => (epoch > (before.get(id) ?? 0) ? [seconds] : []));
  }

  async function epochs(): Promise<Map<string, number>> {
    const sql = `SELECT id, epoch FROM runs WHERE status = 'running'`;
    const rows = await db.query<{ id: string; epoch: number }>(sql);
    return new Map(rows.map(({ id, epoch }) => [id, epoch]));
  }
});

describe('A frozen worker (reference §5)', () => {
  const LEASE = 12;

  it.each([
    ['', false],
    [', if the database was lost to it before, too', true],
  ])(
    `has lost its command before its run is recovered%s`,
    async (_, alone) => {
      const db = await createDatabase();
      const network = await relayTo(db.url);
      const options = { databaseUrl: db.url, firstWorkerUrl: network.url, leaseSeconds: LEASE, workers: 1 };
      const world = await World.start(options);
      const run = async () => {
        const sql = `SELECT epoch, extract(epoch FROM lease_until - clock_timestamp())::float8 AS left FROM runs`;
        return (await db.query<{ epoch: number; left: number }>(sql))[0];
      };
      try {
        const mark = newMark();
        const client = new Client(world.api.url, world.secret);
        await createTask(client, {
          content: script(call('bash', { command: `sleep ${mark}` }), { text: 'Done.' }),
          model: 'faults',
        });
        await sleeps(mark);
        await world.startWorker(1);
        await world.workersAreUp();
        if (alone) {
          await network.cut();
          // A moment before it would stop the run by itself: its sandboxes hear nothing any more.
          await until('the lease to be left alone', async () => ((await run())?.left ?? 0) < LEASE / 3 + 1.5);
        }
        world.workers[0]?.child.kill('SIGSTOP');
        expect(processesWith(mark)).not.toEqual([]);
        let left: number[] = [];
        const recovered = async () => {
          left = processesWith(mark);
          return (await run())?.epoch !== 1;
        };
        await until('the run to be recovered', recovered, { within: (LEASE + 5) * 1000 });
        expect(left).toEqual([]);
      } finally {
        await world.close();
        await network.close();
        await db.drop();
      }
    },
    240_000,
  );
});
