// Whether the tables are those of this version: of the service itself, and of each extension.
import type { MigrationSet } from '../../platform/database/migrate.js';
import { raw, sql, text } from '../../platform/database/sql.js';
import { type Check, fail, type Finding, ok, warn } from './check.js';
import { historiesOf } from '../migrations/index.js';
import type { OpenDatabase } from './examination.js';
import { count } from './words.js';

const IS_THERE = sql`SELECT to_regclass(quote_ident(${text('table')})) IS NOT NULL AS there`.rows<{ there: boolean }>();
const SERVICES = sql`
SELECT count(*)::int AS n FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'millwright channel'`.rows<{ n: number }>();

export const migrationsCheck: Check = {
  name: 'migrations',
  asksDatabase: true,
  async run(at) {
    const database = await at.database;
    const [services] = await database.sql.run(SERVICES());
    const running = (services?.n ?? 0) > 0;
    const findings: Finding[] = [];
    for (const { table, migrations } of historiesOf(at.extensions)) {
      const known = migrations.map(nameOf);
      findings.push(judge(table, known, await appliedOf(database, table), running));
    }
    return findings;
  },
};

/** As TypeORM records it. */
function nameOf(migration: MigrationSet['migrations'][number]): string {
  return new migration().name ?? migration.name;
}

/** Null where there is no such table. */
async function appliedOf({ sql: database }: OpenDatabase, table: string): Promise<string[] | null> {
  const [found] = await database.run(IS_THERE({ table }));
  if (found?.there !== true) return null;
  const rows = await database.run(sql`SELECT name FROM ${raw(table)} ORDER BY id`.rows<{ name: string }>()());
  return rows.map(({ name }) => name);
}

function judge(table: string, known: string[], applied: string[] | null, running: boolean): Finding {
  const name = table.replace('_', ' ');
  const pending = known.filter((one) => applied?.includes(one) !== true);
  const unknown = (applied ?? []).filter((one) => !known.includes(one));
  const detail = `${known.length - pending.length} applied, ${pending.length} pending, ${unknown.length} unknown.`;
  if (unknown.length > 0) {
    const which = `${detail} Unknown: ${unknown.join(', ')}.`;
    return fail(name, which, 'A newer version has used this database: run that version. Migrations only go forward.');
  }
  if (pending.length === 0) return ok(name, detail);
  const what = count(pending.length, 'migration');
  return running
    ? fail(name, detail, `Stop all processes of the older version and start this one: its boot applies ${what}.`)
    : warn(name, detail, `Nothing but a backup: the next start of the service applies ${what}.`);
}
