import { setTimeout as wait } from 'node:timers/promises';
import { PostgresServer } from '../harness/postgres.js';
import { until } from '../harness/until.js';
import { expectWhole } from './verdict.js';
import { type Refusal, send, watch } from './load.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { orders } from './orders.js';
import { report } from './report.js';
import { settled } from './settled.js';
import { World } from './world.js';

const RESTARTS = LONG ? 5 : 3;
/** In each time between two kills. */
const TASKS = LONG ? 4_000 : 80;

describe(`PostgreSQL is killed and started again ${RESTARTS} times: seed ${SEED} (reference §5)`, () => {
  let database: PostgresServer;
  let world: World;

  beforeAll(async () => {
    database = await PostgresServer.start();
    world = await World.start({ databaseUrl: database.url, workers: 2, leaseSeconds: 2 });
  });
  afterAll(async () => {
    await world.close();
    await database.stop();
  });

  it('nothing that was acknowledged is lost, no step is doubled, work goes on by itself, and what is refused is 503', async () => {
    const random = numbers(SEED);
    const load = Array.from({ length: RESTARTS }, (_, n) => orders(`restart-${n}`, TASKS)).flat();
    const away: number[] = [];
    const refusals: Refusal[] = [];
    const over = new AbortController();
    const watching = watch(world, over.signal, refusals);
    for (let n = 0; n < RESTARTS; n++) {
      const sending = send(world, load.slice(n * TASKS, (n + 1) * TASKS), 8, refusals);
      // In the middle of it: some of this round are over, others are on their way.
      const recorded = async () => (await count(`restart-${n}-%`)) > TASKS * (0.1 + random() * 0.4);
      await until('some of them to be on record', recorded, { within: 600_000 });
      const killed = Date.now();
      await database.kill();
      await wait(random() * 500);
      await database.run();
      away.push(Date.now() - killed);
      await sending;
    }
    await settled(database, 'restart');
    over.abort();
    await watching;
    report(`PostgreSQL was away for ${away.join(', ')} ms, and ${refusals.length} requests were refused`);
    await expectWhole(database, world, 'restart', load);
    // Each kind of them; no connection is cut.
    const unavailable = { status: 503, code: 'unavailable', retryAfter: '1' };
    expect(kindsOf(refusals)).toEqual(['GET', 'POST'].map((method) => ({ method, ...unavailable })));
    expect([world.api, ...world.workers].filter((process) => process.ended)).toEqual([]);
  }, 3_600_000);

  function kindsOf(refusals: Refusal[]): unknown[] {
    const kinds = new Set(refusals.map((refusal) => JSON.stringify(refusal)));
    return [...kinds].sort().map((kind): unknown => JSON.parse(kind));
  }

  async function count(title: string): Promise<number> {
    const [row] = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM tasks WHERE title LIKE $1', [
      title,
    ]);
    return row?.n ?? 0;
  }
});
