import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A database of one's own, cloned from the migrated template of the test run. */
export interface TestDatabase {
  url: string;
  query<T extends pg.QueryResultRow>(sql: string, parameters?: unknown[]): Promise<T[]>;
  drop(): Promise<void>;
}

/** What must hold of a database before it goes; for the setup of a suite. */
export const beforeDrop: ((db: Pick<TestDatabase, 'query'>) => Promise<void>)[] = [];

export async function createDatabase(): Promise<TestDatabase> {
  const admin = setting('MILLWRIGHT_TEST_ADMIN_URL');
  const name = `mw_${process.pid}_${randomBytes(5).toString('hex')}`;
  const from = `${setting('MILLWRIGHT_TEST_TEMPLATE')} STRATEGY ${process.env['MILLWRIGHT_TEST_STRATEGY'] ?? 'wal_log'}`;
  await once(admin, `CREATE DATABASE ${name} TEMPLATE ${from}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 2, idleTimeoutMillis: 1000 });
  pool.on('error', () => undefined);
  const query = async <T extends pg.QueryResultRow>(sql: string, parameters?: unknown[]) =>
    (await pool.query<T>(sql, parameters)).rows;
  return {
    url: url.href,
    query,
    drop: async () => {
      try {
        for (const check of beforeDrop) await check({ query });
      } finally {
        await pool.end();
        await once(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }
    },
  };
}

async function once(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: e2e tests run through 'npm test'.`);
  return value;
}

/** The tables with a row that holds a text in any column, in whatever case. */
export async function tablesWith(db: TestDatabase, text: string): Promise<string[]> {
  const tables = await db.query<{ name: string }>(
    `SELECT quote_ident(table_name) AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await db.query(`SELECT 1 FROM ${name} t WHERE t::text ILIKE '%' || $1 || '%' LIMIT 1`, [text]);
    if (rows.length > 0) found.push(name);
  }
  return found;
}
