// The database on its way into a backup: every table by COPY, all in one snapshot (docs/decisions/0041).
import type { ClientBase } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { OperatorError } from '../../access/auth/operator-error.js';
import { LOCKS } from '../../platform/database/locks.js';
import { snapshotsPlaceOf } from '../../resources/files/storage/snapshots-place.js';
import {
  BOUND,
  identifier,
  type Partition,
  partitionsOf,
  quoted,
  sequencesOf,
  spoken,
  type Table,
  tablesOf,
  TRIGGER,
  unknownTo,
} from './catalog.js';
import type { Manifest } from './manifest.js';
import { type Part, writePacked } from './parts.js';

/** Stored bytes that a row of the snapshot points at: workspace, or the place of its snapshots, SHA-256 and size, one line each. */
export const NAMED_BYTES = `
SELECT workspace_id, sha256, max(size) AS size FROM (
  SELECT workspace_id, sha256, size FROM uploads UNION ALL SELECT workspace_id, sha256, size FROM files
  UNION ALL SELECT ${snapshotsPlaceOf('workspace_id')}, sha256, bytes FROM snapshot_objects) f
GROUP BY workspace_id, sha256`;
const STORED = `SELECT count(*)::float8 AS count, coalesce(sum(size), 0)::float8 AS bytes FROM (${NAMED_BYTES}) f`;

/** The snapshot of a backup. It is read by one connection, and closed as soon as the rows are written. */
export class Snapshot {
  private constructor(
    private readonly client: ClientBase,
    private readonly tables: Table[],
  ) {}

  /**
   * Opens it, between two migrations and not in the middle of one: what changes a table later waits until the tables are
   * written. Rejects with {@link OperatorError} when the database holds what a backup would leave out.
   */
  static async open(client: ClientBase): Promise<Snapshot> {
    await client.query(`SELECT pg_advisory_lock_shared(${LOCKS.migrations})`);
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const unknown = await unknownTo(client);
      if (unknown.length > 0) {
        throw new OperatorError(`The database holds what a backup does not know how to keep: ${unknown.join(', ')}.`);
      }
      const tables = await tablesOf(client);
      if (!tables.some(({ name }) => name === 'workspaces')) {
        throw new OperatorError('The database holds no Millwright installation, so there is nothing to back up.');
      }
      await client.query(`LOCK TABLE ${tables.map(quoted).join(', ')} IN ACCESS SHARE MODE`);
      return new Snapshot(client, tables);
    } finally {
      await client.query(`SELECT pg_advisory_unlock_shared(${LOCKS.migrations})`).catch(() => undefined);
    }
  }

  /** How much there is to store: bytes of the database on its disk, and of stored files. */
  async sizes(): Promise<{ database: number; files: { count: number; bytes: number } }> {
    const { rows } = await this.client.query<{ size: number }>(
      'SELECT pg_database_size(current_database())::float8 AS size',
    );
    const stored = await this.client.query<{ count: number; bytes: number }>(STORED);
    return { database: rows[0]?.size ?? 0, files: stored.rows[0] ?? { count: 0, bytes: 0 } };
  }

  /** Those among some tasks that the snapshot knows. */
  async tasksAmong(ids: string[]): Promise<Set<string>> {
    const { rows } = await this.client.query<{ id: string }>('SELECT id FROM tasks WHERE id = ANY ($1::uuid[])', [ids]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Writes which bytes are stored: lines of workspace, SHA-256 and size, with tabs between them. */
  writeFileList(folder: string): Promise<Part> {
    return writePacked(folder, 'files.gz', this.client.query(copyTo(`COPY (${NAMED_BYTES}) TO STDOUT`)));
  }

  /** Writes all rows; `say` is called before each table. */
  async writeTables(folder: string, say: (text: string) => void): Promise<Manifest['tables']> {
    const written: Manifest['tables'] = [];
    for (const [at, table] of this.tables.entries()) {
      say(`${spoken(table)} (${at + 1} of ${this.tables.length} tables)`);
      const rows = this.client.query(copyTo(`COPY ${quoted(table)} (${listOf(table)}) TO STDOUT`));
      const file = `tables/${String(at + 1).padStart(3, '0')}-${table.name.replace(/\W/g, '_')}.gz`;
      const part = await writePacked(folder, file, rows);
      written.push({ ...table, rows: rows.rowCount, ...part });
    }
    return written;
  }

  /**
   * What else there is to know.
   * @param histories the tables that have migrations on record.
   */
  async describe(
    histories: readonly string[],
  ): Promise<Pick<Manifest, 'partitions' | 'sequences' | 'histories' | 'postgres'>> {
    const { rows } = await this.client.query<{ server_version: string }>('SHOW server_version');
    return {
      postgres: rows[0]?.server_version ?? '',
      histories: await historiesOf(this.client, histories),
      partitions: await this.partitions(),
      sequences: await sequencesOf(this.client),
    };
  }

  /** Rejects with {@link OperatorError} where there is one that a restore would refuse. */
  private async partitions(): Promise<Partition[]> {
    const found = await partitionsOf(this.client);
    const odd = found.find(
      ({ bound, triggers }) => ![BOUND.test(bound), ...triggers.map((one) => TRIGGER.test(one))].every(Boolean),
    );
    if (odd === undefined) return found;
    throw new OperatorError(
      `The database holds what a backup does not know how to keep: the bound or a trigger of the partition ${spoken(odd)}.`,
    );
  }

  async close(): Promise<void> {
    await this.client.query('COMMIT');
  }
}

export const listOf = ({ columns }: Pick<Table, 'columns'>): string => columns.map(identifier).join(', ');

/** The migrations that have run, of the histories that are there. */
export async function historiesOf(
  client: Pick<ClientBase, 'query'>,
  tables: readonly string[],
): Promise<Manifest['histories']> {
  const found: Manifest['histories'] = [];
  for (const table of tables) {
    const { rows } = await client.query<{ there: boolean }>('SELECT to_regclass($1) IS NOT NULL AS there', [
      identifier(table),
    ]);
    if (rows[0]?.there !== true) continue;
    const ran = await client.query<{ name: string }>(`SELECT name FROM ${identifier(table)} ORDER BY id`);
    found.push({ table, migrations: ran.rows.map(({ name }) => name) });
  }
  return found;
}
