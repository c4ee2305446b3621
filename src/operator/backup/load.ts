// The rows of a backup on their way into an empty database, in one transaction: it has all of them, or it stays empty.
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { OperatorError } from '../../access/auth/operator-error.js';
import { LOCKS } from '../../platform/database/locks.js';
import { filledOf, identifier, type Name, partitionsOf, quoted, spoken, tablesOf } from './catalog.js';
import { listOf } from './dump.js';
import type { Manifest } from './manifest.js';
import { readPacked } from './parts.js';
import { recordBackup } from './record.js';

type Loaded = Pick<Manifest, 'createdAt' | 'tables' | 'partitions' | 'sequences' | 'histories'>;

/** A statement for each of what the database has, made by PostgreSQL; `t` is the table. */
const ON_TABLES = `
FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
WHERE t.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'`;
/**
 * The owner of a table may switch off its triggers and take its foreign keys away, and that no more: `session_replication_role`
 * and the triggers behind a foreign key are for superusers. Adding a foreign key checks all rows at once, which costs
 * less than a check for each row, and asks for no order of the tables.
 */
const FOREIGN_KEYS = `
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname) AS undo,
  format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) AS redo
FROM pg_constraint c WHERE c.contype = 'f' AND c.conparentid = 0 AND c.conrelid IN (SELECT t.oid ${ON_TABLES}) ORDER BY 1`;
const TRIGGERS = `
SELECT format('ALTER TABLE %s DISABLE TRIGGER %I', g.tgrelid::regclass, g.tgname) AS undo,
  format('ALTER TABLE %s ENABLE %s TRIGGER %I', g.tgrelid::regclass,
    CASE g.tgenabled WHEN 'A' THEN 'ALWAYS' WHEN 'R' THEN 'REPLICA' ELSE '' END, g.tgname) AS redo
FROM pg_trigger g WHERE NOT g.tgisinternal AND g.tgenabled <> 'D' AND g.tgrelid IN (SELECT t.oid ${ON_TABLES}) ORDER BY 1`;

/** Nobody renews what was leased in the original; from here on it counts as ended (reference §5). */
const LEASED = ['runs', 'jobs'];
/** The mark of the original: the copy is another installation (docs/decisions/0072). */
const MARKS = 'installation';

export class Loader {
  /** @param histories tables that have migrations on record: the migrations that have run here wrote them. */
  constructor(
    private readonly client: ClientBase,
    private readonly histories: readonly string[],
  ) {}

  /** In a transaction that {@link commit} ends; `mark` is the one of the new installation. Rejects, and leaves the database as it was, when it is not empty, or has not what the backup needs. */
  async load(folder: string, backup: Loaded, mark: string, say: (text: string) => void): Promise<void> {
    const { client } = this;
    await client.query('BEGIN');
    try {
      await this.lock();
      await this.makePartitions(backup.partitions);
      const put = await this.strip();
      const tables = backup.tables.filter((table) => !this.isHistory(table));
      await this.requireColumns(tables);
      // A storage that keeps its bytes in tables has been given them by now; they are among the rows too.
      await client.query(`TRUNCATE ${tables.map(quoted).join(', ')}`);
      for (const [at, table] of tables.entries()) {
        say(`${spoken(table)} (${at + 1} of ${tables.length} tables)`);
        await this.loadTable(folder, table);
      }
      for (const { value, ...sequence } of backup.sequences) {
        if (value !== null) await client.query('SELECT setval($1::regclass, $2::bigint)', [quoted(sequence), value]);
      }
      for (const table of tables) {
        if (LEASED.includes(table.name)) await this.endLeases(table);
        if (table.name === MARKS) await client.query(`UPDATE ${quoted(table)} SET mark = $1`, [mark]);
      }
      say('foreign keys');
      for (const statement of put) await client.query(statement);
      await recordBackup(client, 'restore', backup.createdAt);
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  /** From here on the rows are there. */
  async commit(): Promise<void> {
    await this.client.query('COMMIT');
    // Without statistics the first queries are slow, until PostgreSQL gathers them by itself.
    await this.client.query('ANALYZE').catch(() => undefined);
  }

  /** From here on nobody writes: a service that boots on this database waits to furnish it, and then finds that it is. */
  private async lock(): Promise<void> {
    await this.client.query(`SELECT pg_advisory_xact_lock(${LOCKS.firstBoot})`);
    const tables = (await tablesOf(this.client)).filter((table) => !this.isHistory(table));
    await this.client.query(`LOCK TABLE ${tables.map(quoted).join(', ')} IN ACCESS EXCLUSIVE MODE`);
    // A service that has booted since the first check has made a workspace.
    const filled = await filledOf(
      this.client,
      tables.filter(({ name }) => name === 'workspaces' || name === 'users'),
    );
    if (filled !== undefined) throw notEmpty(filled);
  }

  /** Those of a table are of the time of the backup, not of now. */
  private async makePartitions(partitions: Manifest['partitions']): Promise<void> {
    const there = (await partitionsOf(this.client)).map(keyOf);
    const wanted = partitions.map(keyOf);
    for (const one of await partitionsOf(this.client)) {
      if (!wanted.includes(keyOf(one))) await this.client.query(`DROP TABLE ${quoted(one)}`);
    }
    for (const one of partitions) {
      if (there.includes(keyOf(one))) continue;
      await this.client.query(`CREATE TABLE ${quoted(one)} PARTITION OF ${quoted(one.parent)} ${one.bound}`);
      for (const trigger of one.triggers) await this.client.query(trigger);
    }
  }

  /** Takes away what would act on each row. Resolves with the statements that put it back. */
  private async strip(): Promise<string[]> {
    const found: { undo: string; redo: string }[] = [];
    for (const select of [FOREIGN_KEYS, TRIGGERS]) {
      found.push(...(await this.client.query<{ undo: string; redo: string }>(select)).rows);
    }
    for (const { undo } of found) await this.client.query(undo);
    return found.map(({ redo }) => redo);
  }

  private async requireColumns(tables: Manifest['tables']): Promise<void> {
    const there = new Map((await tablesOf(this.client)).map((table) => [spoken(table), table.columns]));
    for (const table of tables) {
      const columns = there.get(spoken(table));
      if (columns === undefined) {
        throw new OperatorError(
          `The backup holds the table ${spoken(table)}, which this program does not make. Restore it with the extensions of the program that made it.`,
        );
      }
      const missing = table.columns.find((column) => !columns.includes(column));
      if (missing === undefined) continue;
      throw new OperatorError(
        `The backup holds the column ${missing} of ${spoken(table)}, which this program does not make.`,
      );
    }
  }

  private async loadTable(folder: string, table: Manifest['tables'][number]): Promise<void> {
    const rows = this.client.query(copyFrom(`COPY ${quoted(table)} (${listOf(table)}) FROM STDIN`));
    await readPacked(folder, table, rows);
    if (rows.rowCount === table.rows) return;
    throw new OperatorError(
      `The backup has ${rows.rowCount} rows of ${spoken(table)} where ${table.rows} were written.`,
    );
  }

  private async endLeases(table: Name): Promise<void> {
    await this.client.query(
      `UPDATE ${quoted(table)} SET lease_until = least(lease_until, clock_timestamp()) WHERE status = 'running'`,
    );
  }

  private isHistory({ name }: Name): boolean {
    return this.histories.includes(name);
  }
}

export function notEmpty(table: Name): OperatorError {
  return new OperatorError(
    `The database is not empty: ${spoken(table)} has rows. Nothing was changed. A backup is restored into an empty database; nothing is ever restored over what is there.`,
  );
}

const keyOf = ({ parent, bound, ...name }: Manifest['partitions'][number]) =>
  [spoken(name), spoken(parent), identifier(bound)].join(' ');
