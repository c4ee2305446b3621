import { DataSource } from 'typeorm';
import { databaseError } from '../../src/platform/database/database-errors.js';
import { checkPipelining, PipelinedClient } from '../../src/platform/database/pipelined-client.js';
import { int, sql, text } from '../../src/platform/database/sql.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import type { UnitOfWork } from '../../src/platform/database/unit-of-work.js';
import { bootApp, useService } from '../harness/app.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { countRoundTrips, type RoundTrips } from '../harness/round-trips.js';
import { until } from '../harness/until.js';

const PUT = sql`INSERT INTO drawers VALUES (${text('name')})`.rows();
const DIVIDE = sql`SELECT 1 / ${int('by')}`.rows();
const BEGAN = sql`SELECT now() AS at`.rows<{ at: Date }>();
const PID = sql`SELECT pg_backend_pid() AS pid`.rows<{ pid: number }>();
const ALL = sql`SELECT name FROM drawers`.rows<{ name: string }>();

// Reference §8: effect and stored answer exist together or not at all, also when several statements travel in one write.
describe('The transaction of a write', () => {
  let db: TestDatabase;
  let trips: RoundTrips;

  const service = useService(async () => {
    db = await createDatabase();
    trips = await countRoundTrips(db.url);
    return bootApp({ db: { ...db, url: trips.url } });
  });
  beforeAll(async () => {
    await db.query('CREATE TABLE drawers (name text PRIMARY KEY)');
  });
  beforeEach(() => db.query('TRUNCATE drawers'));
  afterAll(async () => {
    await trips.close();
    await db.drop();
  });

  const transaction = <T>(work: (tx: UnitOfWork) => Promise<T>): Promise<T> => service.app.get(Transactions).open(work);
  const drawers = async () =>
    (await db.query<{ name: string }>('SELECT name FROM drawers ORDER BY 1')).map((row) => row.name);

  it('asks nothing when it has no statement, whether it is committed or rolled back', async () => {
    expect(await trips.during(() => transaction(() => Promise.resolve()))).toBe(0);
    const refused = () => transaction(() => Promise.reject(new Error('refused'))).catch(() => undefined);
    expect(await trips.during(refused)).toBe(0);
  });

  it('begins with its first statement and ends with its last, each in one round trip', async () => {
    const work = async (tx: UnitOfWork) => {
      await tx.run(PUT({ name: 'first' }));
      await tx.runWithNext(PUT({ name: 'last' }));
    };
    expect(await trips.during(() => transaction(work))).toBe(2);
    expect(await drawers()).toEqual(['first', 'last']);
  });

  it('really is one: another connection sees nothing of it before the commit', async () => {
    await transaction(async (tx) => {
      await tx.run(PUT({ name: 'mine' }));
      expect(await drawers()).toEqual([]);
      const began = () => tx.run(BEGAN());
      expect(await began()).toEqual(await began());
    });
    expect(await drawers()).toEqual(['mine']);
  });

  it('is undone as a whole when what travels with the commit fails, and says why', async () => {
    const work = async (tx: UnitOfWork) => {
      await tx.run(PUT({ name: 'once' }));
      await tx.runWithNext(PUT({ name: 'once' }));
    };
    await expect(transaction(work)).rejects.toMatchObject({ driverError: { code: '23505' } });
    expect(await drawers()).toEqual([]);
  });

  it('is undone when its first statement fails, and leaves the connection as it was', async () => {
    await expect(transaction((tx) => tx.run(DIVIDE({ by: 0 })))).rejects.toMatchObject({ code: '22012' });
    for (let round = 0; round < 12; round++) await transaction((tx) => tx.run(PUT({ name: `after ${round}` })));
    expect(await drawers()).toHaveLength(12);
    const open = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`;
    expect(await db.query(open)).toEqual([]);
  });

  it('sends what was to travel with the commit with a later statement, and not at all when it is rolled back', async () => {
    const seen = await transaction(async (tx) => {
      await tx.runWithNext(PUT({ name: 'held' }));
      return tx.run(ALL());
    });
    expect(seen).toEqual([{ name: 'held' }]);
    const refused = async () => {
      const work = transaction(async (tx) => {
        await tx.run(PUT({ name: 'undone' }));
        await tx.runWithNext(PUT({ name: 'unsent' }));
        throw new Error('refused');
      });
      await expect(work).rejects.toThrow('refused');
    };
    expect(await trips.during(refused)).toBe(2);
    expect(await drawers()).toEqual(['held']);
  });

  it('is no success when a statement in it has failed, even if nobody minded', async () => {
    const careless = transaction(async (tx) => {
      await tx.run(PUT({ name: 'lost' }));
      await tx.run(DIVIDE({ by: 0 })).catch(() => undefined);
    });
    await expect(careless).rejects.toThrow('Rolled back');
    expect(await drawers()).toEqual([]);
  });

  it('is over with its end: nothing of it can reach the next one on its connection', async () => {
    const kept: UnitOfWork[] = [];
    await transaction((tx) => Promise.resolve(kept.push(tx)));
    await expect(kept[0]?.runWithNext(PUT({ name: 'stray' }))).rejects.toThrow('already released');
    await transaction((tx) => tx.run(PUT({ name: 'next' })));
    expect(await drawers()).toEqual(['next']);
  });

  it('fails as a passing fault when its connection is lost before the commit', async () => {
    const cut = transaction(async (tx) => {
      const [self] = await tx.run(PID());
      await tx.run(PUT({ name: 'cut' }));
      await db.query('SELECT pg_terminate_backend($1)', [self?.pid]);
      const gone = 'SELECT 1 FROM pg_stat_activity WHERE pid = $1';
      await until('it to be gone', async () => (await db.query(gone, [self?.pid])).length === 0);
      await tx.runWithNext(PUT({ name: 'unsent' }));
    });
    const error: unknown = await cut.catch((reason: unknown) => reason);
    expect(databaseError(error)).toMatchObject({ code: 'unavailable' });
    expect(await drawers()).toEqual([]);
  });

  it('holds transactions within it, as TypeORM has them', async () => {
    await transaction(async (tx) => {
      const inner = tx.manager.transaction(async (within) => {
        await within.query(`INSERT INTO drawers VALUES ('inner')`);
        throw new Error('only this');
      });
      await expect(inner).rejects.toThrow('only this');
      await tx.run(PUT({ name: 'outer' }));
    });
    expect(await drawers()).toEqual(['outer']);
  });

  it('is checked at boot: a TypeORM of other words, or a driver that sends one statement after the other, stops it', async () => {
    class OtherWords extends PipelinedClient {
      override query(text: unknown, values?: unknown): unknown {
        return super.query(text === 'START TRANSACTION' ? 'BEGIN' : text, values);
      }
    }
    class OneByOne extends PipelinedClient {
      constructor(config: object) {
        super(config);
        this.pipeline = false;
      }
    }
    const checked = async (Client: typeof PipelinedClient) => {
      const dataSource = new DataSource({ type: 'postgres', url: db.url, extra: { Client } });
      await dataSource.initialize();
      return checkPipelining(dataSource).finally(() => dataSource.destroy());
    };
    await expect(checked(PipelinedClient)).resolves.toBeUndefined();
    await expect(checked(OtherWords)).rejects.toThrow('The installed TypeORM sends transactions in another way');
    await expect(checked(OneByOne)).rejects.toThrow('The installed pg sends transactions in another way');
  });
});
