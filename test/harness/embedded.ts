// For the specs of the embedded PostgreSQL: folders, queries and processes that clean up after themselves.
import { chmodSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { removeReachable, removeTree } from '../../src/platform/config/reachable.js';

export const IS_ROOT = process.getuid?.() === 0;

/** Keeps what was logged. */
export class Lines {
  readonly logged: string[] = [];
  readonly errors: string[] = [];
  log(line: string): void {
    this.logged.push(line);
  }
  debug(): void {}
  error(line: string): void {
    this.errors.push(line);
  }
}

/** A `DATA_DIR` as the service makes it, and its removal. */
export function temporaryDataDir(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'millwright-spec-'));
  if (IS_ROOT) chmodSync(path, 0o711);
  return {
    path,
    remove: () => {
      removeTree(path);
      removeReachable(path);
    },
  };
}

/** Runs one statement on a connection of its own. */
export async function query<T extends pg.QueryResultRow>(
  url: string,
  sql: string,
  parameters: unknown[] = [],
): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  // A server that ends closes idle connections; the query's own rejection is what counts.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<T>(sql, parameters)).rows;
  } finally {
    await client.end();
  }
}

/** Whether a process runs (one that ended and was not reaped yet does not). */
export function isAlive(pid: number): boolean {
  const status = `/proc/${pid}/status`;
  try {
    return existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, 'utf8'));
  } catch {
    return false;
  }
}

/** Process id of the server of a data folder. */
export function serverPid(folder: string): number {
  return Number.parseInt(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10);
}
