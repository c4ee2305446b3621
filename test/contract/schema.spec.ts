import pg from 'pg';
import { DataSource } from 'typeorm';
import { ENTITIES } from '../../src/operator/entities.js';
import { PostgresNaming } from '../../src/platform/database/naming.js';
import { filledOf, tablesOf, unknownTo } from '../../src/operator/backup/catalog.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';

const PARTITIONS = 'SELECT oid FROM pg_class WHERE relispartition';

// The migrations alone change a database; the entities describe it. Here the two are held against each other.
describe('The schema', () => {
  let db: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    db = await createDatabase();
    dataSource = await new DataSource({
      type: 'postgres',
      url: db.url,
      entities: ENTITIES,
      namingStrategy: new PostgresNaming(),
    }).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await db.drop();
  });

  it('of the migrations is what the entities describe: the schema builder has nothing to do', async () => {
    const log = await dataSource.driver.createSchemaBuilder().log();
    expect(log.upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('has an entity for every table', async () => {
    const tables = await db.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace ORDER BY 1`,
    );
    const described = dataSource.entityMetadatas.map(({ tableName }) => tableName);
    expect(tables.map(({ name }) => name).filter((name) => name !== 'migrations')).toEqual(described.sort());
  });

  // A kind of relation that a backup leaves out, or a row that a migration makes and every restored database has already.
  it('holds nothing that a backup cannot keep, and no row', async () => {
    const client = new pg.Client({ connectionString: db.url });
    await client.connect();
    try {
      expect(await unknownTo(client)).toEqual([]);
      const tables = await tablesOf(client);
      expect(tables.length).toBeGreaterThan(20);
      const loaded = tables.filter(({ name }) => name !== 'migrations');
      expect(await filledOf(client, loaded)).toBeUndefined();
    } finally {
      await client.end();
    }
  });

  // What the schema builder does not compare: the text of checks, the columns, order and condition of indexes, deferrable
  // constraints, triggers, storage parameters. A partition has what its table has, and its name is that of a month.
  it('has these constraints, indexes, triggers, functions and storage parameters', async () => {
    const lines = async (select: string) => (await db.query<{ line: string }>(select)).map(({ line }) => line);
    const found = [
      ...(await lines(
        `SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS line FROM pg_constraint
         WHERE connamespace = 'public'::regnamespace AND contype <> 'n' AND conrelid <> 'migrations'::regclass
           AND conrelid NOT IN (${PARTITIONS}) ORDER BY 1`,
      )),
      ...(await lines(
        `SELECT indexdef AS line FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'migrations'
           AND tablename NOT IN (SELECT relname FROM pg_class WHERE relispartition) ORDER BY 1`,
      )),
      ...(await lines(
        `SELECT pg_get_triggerdef(oid) AS line FROM pg_trigger
         WHERE NOT tgisinternal AND tgrelid NOT IN (${PARTITIONS}) ORDER BY 1`,
      )),
      ...(await lines(
        `SELECT format('function %s', oid::regprocedure) AS line FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`,
      )),
      ...(await lines(
        `SELECT format('%s with %s', relname, reloptions) AS line FROM pg_class
         WHERE reloptions IS NOT NULL AND relnamespace = 'public'::regnamespace ORDER BY 1`,
      )),
    ];
    expect(found.join('\n')).toMatchSnapshot();
  });
});
