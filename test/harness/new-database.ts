// A database as an operator is given one: without tables, owned by an account that may do nothing else.
import { randomBytes } from 'node:crypto';
import { query } from './embedded.js';
import type { TestDatabase } from './database.js';

/** For the superuser: a restore fails when the rows are loaded and the first foreign key is put back. */
export const FAILS_AT_THE_END = `
CREATE FUNCTION broken() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN IF to_regclass('workspaces') IS NOT NULL THEN
  IF EXISTS (SELECT FROM workspaces) THEN RAISE EXCEPTION 'no space left'; END IF; END IF; END $$;
CREATE EVENT TRIGGER broken ON ddl_command_end WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION broken()`;

export interface NewDatabase extends TestDatabase {
  /** As the superuser. */
  adminUrl: string;
}

export async function emptyDatabase(): Promise<NewDatabase> {
  const admin = process.env['MILLWRIGHT_TEST_ADMIN_URL'] ?? '';
  const name = `mw_${process.pid}_${randomBytes(5).toString('hex')}`;
  await query(admin, `CREATE ROLE ${name} LOGIN PASSWORD 'owner'`);
  await query(admin, `CREATE DATABASE ${name} OWNER ${name} TEMPLATE template0`);
  const [adminUrl, url] = [new URL(admin), new URL(admin)];
  adminUrl.pathname = url.pathname = `/${name}`;
  Object.assign(url, { username: name, password: 'owner' });
  return {
    url: url.href,
    adminUrl: adminUrl.href,
    query: (sql, parameters) => query(url.href, sql, parameters),
    drop: async () => {
      await query(admin, `DROP DATABASE ${name} WITH (FORCE)`);
      await query(admin, `DROP ROLE ${name}`);
    },
  };
}

/** What the tables of a database are: columns, constraints, indexes, triggers, partitions. Empty when there are none. */
export async function structureOf(db: Pick<TestDatabase, 'query'>): Promise<string[]> {
  const ours = `(SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)`;
  const lines = await db.query<{ line: string }>(`
    SELECT line FROM (SELECT format('%s.%s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull) AS line
    FROM pg_attribute WHERE attrelid IN ${ours} AND attnum > 0
    UNION ALL SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint WHERE conrelid IN ${ours}
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT format('%s %s', tgenabled, pg_get_triggerdef(oid)) FROM pg_trigger WHERE NOT tgisinternal AND tgrelid IN ${ours}
    UNION ALL SELECT format('%s %s', oid::regclass, pg_get_expr(relpartbound, oid)) FROM pg_class WHERE oid IN ${ours}) found
    -- What TypeORM makes for itself has names by its settings.
    WHERE line !~ 'migrations|PK_' ORDER BY 1`);
  return lines.map(({ line }) => line);
}
