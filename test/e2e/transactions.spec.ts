import { DataSource, type EntityManager } from 'typeorm';
import { databaseError } from '../../src/platform/database/database-errors.js';
import { UnitOfWork } from '../../src/platform/database/unit-of-work.js';
import { bootApp, useService } from '../harness/app.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { countRoundTrips, type RoundTrips } from '../harness/round-trips.js';
import { until } from '../harness/until.js';

// Reference §8: effect and stored answer exist together or not at all, also when several statements travel in one write.
describe('The transaction of a write', () => {
  let db: TestDatabase;
  let trips: RoundTrips;
  let dataSource: DataSource;

  const service = useService(async () => {
    db = await createDatabase();
    trips = await countRoundTrips(db.url);
    return bootApp({ db: { ...db, url: trips.url } });
  });
  beforeAll(async () => {
    dataSource = service.app.get(DataSource);
    await db.query('CREATE TABLE drawers (name text PRIMARY KEY)');
  });
  beforeEach(() => db.query('TRUNCATE drawers'));
  afterAll(async () => {
    await trips.close();
    await db.drop();
  });

  const transaction = <T>(work: (tx: UnitOfWork, manager: EntityManager) => Promise<T>): Promise<T> =>
    dataSource.transaction((manager) => work(new UnitOfWork(manager), manager));
  const drawers = async () =>
    (await db.query<{ name: string }>('SELECT name FROM drawers ORDER BY 1')).map((row) => row.name);
  const put = 'INSERT INTO drawers VALUES ($1)';

  it('asks nothing when it has no statement, whether it is committed or rolled back', async () => {
    expect(await trips.during(() => transaction(() => Promise.resolve()))).toBe(0);
    const refused = () => transaction(() => Promise.reject(new Error('refused'))).catch(() => undefined);
    expect(await trips.during(refused)).toBe(0);
  });

  it('begins with its first statement and ends with its last, each in one round trip', async () => {
    const work = async (tx: UnitOfWork) => {
      await tx.query(put, ['first']);
      await tx.queryWithCommit(put, ['last']);
    };
    expect(await trips.during(() => transaction(work))).toBe(2);
    expect(await drawers()).toEqual(['first', 'last']);
  });

  it('really is one: another connection sees nothing of it before the commit', async () => {
    await transaction(async (tx) => {
      await tx.query(put, ['mine']);
      expect(await drawers()).toEqual([]);
      const began = () => tx.query<{ at: Date }>('SELECT now() AS at');
      expect(await began()).toEqual(await began());
    });
    expect(await drawers()).toEqual(['mine']);
  });

  it('is undone as a whole when what travels with the commit fails, and says why', async () => {
    const work = async (tx: UnitOfWork) => {
      await tx.query(put, ['once']);
      await tx.queryWithCommit(put, ['once']);
    };
    await expect(transaction(work)).rejects.toMatchObject({ driverError: { code: '23505' } });
    expect(await drawers()).toEqual([]);
  });

  it('is undone when its first statement fails, and leaves the connection as it was', async () => {
    await expect(transaction((tx) => tx.query('SELECT 1 / $1::int', [0]))).rejects.toMatchObject({ code: '22012' });
    for (let round = 0; round < 12; round++) await transaction((tx) => tx.query(put, [`after ${round}`]));
    expect(await drawers()).toHaveLength(12);
    const open = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`;
    expect(await db.query(open)).toEqual([]);
  });

  it('sends what was to travel with the commit with a later statement, and not at all when it is rolled back', async () => {
    const seen = await transaction(async (tx) => {
      await tx.queryWithCommit(put, ['held']);
      return tx.query('SELECT name FROM drawers');
    });
    expect(seen).toEqual([{ name: 'held' }]);
    const refused = async () => {
      const work = transaction(async (tx) => {
        await tx.query(put, ['undone']);
        await tx.queryWithCommit(put, ['unsent']);
        throw new Error('refused');
      });
      await expect(work).rejects.toThrow('refused');
    };
    expect(await trips.during(refused)).toBe(2);
    expect(await drawers()).toEqual(['held']);
  });

  it('is no success when a statement in it has failed, even if nobody minded', async () => {
    const careless = transaction(async (tx) => {
      await tx.query(put, ['lost']);
      await tx.query('SELECT 1 / $1::int', [0]).catch(() => undefined);
    });
    await expect(careless).rejects.toThrow('Rolled back');
    expect(await drawers()).toEqual([]);
  });

  it('is over with its end: nothing of it can reach the next one on its connection', async () => {
    const kept: UnitOfWork[] = [];
    await transaction((tx) => Promise.resolve(kept.push(tx)));
    await expect(kept[0]?.queryWithCommit(put, ['stray'])).rejects.toThrow('already released');
    await transaction((tx) => tx.query(put, ['next']));
    expect(await drawers()).toEqual(['next']);
  });

  it('fails as a passing fault when its connection is lost before the commit', async () => {
    const cut = transaction(async (tx) => {
      const [self] = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await tx.query(put, ['cut']);
      await db.query('SELECT pg_terminate_backend($1)', [self?.pid]);
      const gone = 'SELECT 1 FROM pg_stat_activity WHERE pid = $1';
      await until('it to be gone', async () => (await db.query(gone, [self?.pid])).length === 0);
      await tx.queryWithCommit(put, ['unsent']);
    });
    const error: unknown = await cut.catch((reason: unknown) => reason);
    expect(databaseError(error)).toMatchObject({ code: 'unavailable' });
    expect(await drawers()).toEqual([]);
  });

  it('holds transactions within it, as TypeORM has them', async () => {
    await transaction(async (tx, manager) => {
      const inner = manager.transaction(async (within) => {
        await within.query(put, ['inner']);
        throw new Error('only this');
      });
      await expect(inner).rejects.toThrow('only this');
      await tx.query(put, ['outer']);
    });
    expect(await drawers()).toEqual(['outer']);
  });
});
