import { Injectable, Module } from '@nestjs/common';
import { LOCKS } from '../../src/platform/database/locks.js';
import { Chore, ChoreRunner } from '../../src/index.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { until } from '../harness/until.js';

const LONG = 3_600_000;
const [FIRST, SECOND] = [4_001, 4_002];

/** What a foreign module brings: two long chores, which end when they are told, and one that comes by itself. */
@Injectable()
class Chores {
  readonly runs: { signal: AbortSignal; end: () => void }[] = [];
  beats = 0;

  @Chore({ every: LONG, lock: FIRST })
  first(signal: AbortSignal): Promise<string> {
    return this.held(signal, 'first');
  }

  @Chore({ every: LONG, lock: SECOND })
  second(signal: AbortSignal): Promise<string> {
    return this.held(signal, 'second');
  }

  @Chore({ every: 20 })
  beat(): Promise<void> {
    this.beats += 1;
    return Promise.resolve();
  }

  private held(signal: AbortSignal, result: string): Promise<string> {
    return new Promise((resolve) => this.runs.push({ signal, end: () => resolve(result) }));
  }
}

@Module({ providers: [Chores] })
class ForeignChores {}

describe('Chores of two processes on one database', () => {
  let db: TestDatabase;
  let [one, other]: [TestApp, TestApp] = [] as never;

  beforeEach(async () => {
    db = await createDatabase();
    const boot = () => bootApp({ db, env: { ROLE: 'api' }, imports: [ForeignChores] });
    [one, other] = [await boot(), await boot()];
  });
  afterEach(async () => {
    for (const { end } of [one, other].flatMap((app) => choresOf(app).runs)) end();
    await Promise.all([one.close(), other.close()]);
    await db.drop();
  });

  const choresOf = ({ app }: TestApp) => app.get(Chores, { strict: false });
  const run = (service: TestApp, method: string) => service.app.get(ChoreRunner).run(choresOf(service), method);
  const begun = async (service: TestApp, count: number) => {
    await until('the chores to begin', () => choresOf(service).runs.length === count);
    return choresOf(service).runs[count - 1];
  };
  /** The connections that hold locks of the chores. */
  const holders = () =>
    db.query<{ pid: number; locks: number }>(
      `SELECT pid, count(*)::int AS locks FROM pg_locks WHERE locktype = 'advisory' AND granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND objid = ANY($1) GROUP BY pid`,
      [[FIRST, SECOND]],
    );

  it('come by themselves in each', async () => {
    await until('both to have beaten', () => choresOf(one).beats > 2 && choresOf(other).beats > 2);
  });

  it('with a lock run in one of them at a time, and then in the other', async () => {
    const first = run(one, 'first');
    const { end } = (await begun(one, 1)) ?? {};
    expect(await run(other, 'first')).toBeNull();
    expect(choresOf(other).runs).toHaveLength(0);
    end?.();
    expect(await first).toBe('first');
    expect(await holders()).toEqual([]);
    const second = run(other, 'first');
    (await begun(other, 1))?.end();
    expect(await second).toBe('first');
  });

  it('hold their locks on one connection of a process, and none when they are over', async () => {
    const runs = [run(one, 'first'), run(one, 'second')];
    await begun(one, 2);
    expect(await holders()).toEqual([{ pid: expect.any(Number), locks: 2 }]);
    choresOf(one).runs[0]?.end();
    await runs[0];
    expect(await holders()).toEqual([{ pid: expect.any(Number), locks: 1 }]);
    choresOf(one).runs[1]?.end();
    await runs[1];
    expect(await holders()).toEqual([]);
  });

  it('are told when the connection of their lock is lost; another process may go on, and so may they', async () => {
    const lost = run(one, 'first');
    const { signal, end } = (await begun(one, 1)) ?? {};
    expect(signal?.aborted).toBe(false);
    const [holder] = await holders();
    await db.query('SELECT pg_terminate_backend($1)', [holder?.pid]);
    await until('the chore to be told', () => signal?.aborted === true);
    const elsewhere = run(other, 'first');
    (await begun(other, 1))?.end();
    expect(await elsewhere).toBe('first');
    end?.();
    expect(await lost).toBe('first');
    const again = run(one, 'first');
    (await begun(one, 2))?.end();
    expect(await again).toBe('first');
  });

  it('are waited for at the end, which gives the lock back', async () => {
    void run(one, 'first');
    const { signal, end } = (await begun(one, 1)) ?? {};
    let closed = false;
    const closing = one.app.close().then(() => (closed = true));
    await until('the chore to be told', () => signal?.aborted === true);
    expect(await run(other, 'first')).toBeNull();
    expect(closed).toBe(false);
    end?.();
    await closing;
    expect(await holders()).toEqual([]);
  });
});

it('The numbers of the locks are different', () => {
  const numbers = Object.values(LOCKS);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers.filter((number) => number < 7_163_000 || number > 7_163_999)).toEqual([]);
});
