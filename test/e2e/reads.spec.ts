import { int, sql } from '../../src/platform/database/sql.js';
import { Database } from '../../src/platform/database/database.js';
import { databaseError } from '../../src/platform/database/database-errors.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { countRoundTrips, type RoundTrips } from '../harness/round-trips.js';
import { createTask, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('Reads that come together travel together', () => {
  let db: TestDatabase;
  let trips: RoundTrips;
  let member: Member;
  let read: Database['read'];

  const service = useService(async () => {
    db = await createDatabase();
    trips = await countRoundTrips(db.url);
    return bootApp({ db: { ...db, url: trips.url } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
    ({ read } = service.app.get(Database));
  });
  afterAll(async () => {
    await trips.close();
    await db.drop();
  });

  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
  const inverse = sql`SELECT 60 / ${int('n')} AS answer`.rows<{ answer: number }>();
  const sleep = sql`SELECT pg_sleep(60)`.rows();
  const ask = async (n: number): Promise<number> => (await read.run(inverse({ n })))[0]?.answer ?? 0;

  it('in one round trip for eight at most, each with its own answer', async () => {
    const answers = (count: number) => Promise.all(numbers(count).map((n) => ask(n + 1)));
    expect(await answers(8)).toEqual([60, 30, 20, 15, 12, 10, 8, 7]);
    expect(await trips.during(() => answers(1))).toBe(1);
    expect(await trips.during(() => answers(8))).toBe(1);
    expect(await trips.during(() => answers(9))).toBe(2);
  });

  it('and fail by themselves', async () => {
    const [one, none, four] = await Promise.allSettled([ask(1), ask(0), ask(4)]);
    expect(one).toEqual({ status: 'fulfilled', value: 60 });
    expect(none).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
    expect(four).toEqual({ status: 'fulfilled', value: 15 });
    expect(await ask(2)).toBe(30);
  });

  it('and fail together when their connection is lost, as a passing fault; the next ones have another', async () => {
    const sleeping = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(60)%'
      AND pid <> pg_backend_pid()`;
    const lost = Promise.allSettled([read.run(sleep()), ask(1), ask(2)]);
    const [found] = await until('it to sleep', async () => {
      const rows = await db.query<{ pid: number }>(sleeping);
      return rows.length > 0 && rows;
    });
    await db.query('SELECT pg_terminate_backend($1)', [found?.pid]);
    const reasons = (await lost).map((outcome) => outcome.status === 'rejected' && databaseError(outcome.reason)?.code);
    expect(reasons).toEqual(['unavailable', 'unavailable', 'unavailable']);
    expect(await Promise.all(numbers(20).map((n) => ask(n + 1)))).toHaveLength(20);
  });

  it('each who asks through HTTP gets the own answer, and nobody that of a neighbour', async () => {
    const other = await makeMember(service);
    const tasks: string[] = [];
    for (const n of numbers(10)) tasks.push((await createTask(member.client, { content: `Task ${n}` })).id);
    const own = Promise.all(tasks.map((id) => readTask(member.client, id)));
    const foreign = Promise.all(tasks.map((id) => other.client.get(`/v1/tasks/${id}`)));
    expect((await own).map(({ id }) => id)).toEqual(tasks);
    expect((await foreign).map(({ status }) => status)).toEqual(tasks.map(() => 404));
  });
});
