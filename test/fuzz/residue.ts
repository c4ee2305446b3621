// What a service must not keep when all requests are over.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { BESIDE } from '../../src/engine/sandbox/workdir/workdirs.js';
import { FileCleaner } from '../../src/resources/files/file-cleaner.js';
import { snapshotsPlaceOf } from '../../src/resources/files/storage/snapshots-place.js';
import { until } from '../harness/until.js';
import type { World } from './world.js';

/** Waits until nothing is under way: no task works, but one that is paused, and no more connections are open than `idle`. */
export async function calm(world: World, idle: number): Promise<void> {
  const { db } = world;
  await until('all tasks to be at rest', async () => {
    const [row] = await db.query<{ busy: number }>(
      `SELECT (SELECT count(*) FROM tasks WHERE status = 'running' OR status = 'queued' AND NOT paused)
        + (SELECT count(*) FROM runs WHERE status IN ('queued', 'running')) + (SELECT count(*) FROM folder_removals
          WHERE not_before <= clock_timestamp()) AS busy`,
    );
    return Number(row?.busy) === 0;
  }, { within: 120_000 });
  await until('all connections to be closed', () => connections(world) <= idle, { within: 150_000 });
} // prettier-ignore

/** How many connections the service holds, as the kernel knows them: established, or closed by the client alone. */
export function connections({ service }: World): number {
  const port = Number(new URL(service.url).port).toString(16).toUpperCase().padStart(4, '0');
  const pattern = new RegExp(`^\\s*\\d+: \\w+:${port} \\w+:\\w+ 0[18] `);
  return readFileSync('/proc/net/tcp', 'utf8').split('\n').filter((line) => pattern.test(line)).length;
} // prettier-ignore

/**
 * What the service has open, by kind: files by their path, the others (sockets, pipes) counted. Without its connections to
 * the database, of which it keeps as many as it has needed at once.
 */
export async function descriptors({ service, db }: World): Promise<Record<string, number>> {
  const folder = `/proc/${service.child.pid}/fd`;
  const counts: Record<string, number> = {};
  for (const fd of readdirSync(folder)) {
    const kind = kindOf(join(folder, fd));
    if (kind !== null) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  const [pools] = await db.query<{ connections: string }>(
    `SELECT count(*) AS connections FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'millwright%'`,
  );
  counts['socket'] = (counts['socket'] ?? 0) - Number(pools?.connections);
  return counts;
}

function kindOf(path: string): string | null {
  try {
    return readlinkSync(path).replace(/:\[\d+\]$/, '');
  } catch {
    // Closed since the folder was read.
    return null;
  }
}

/** Transactions of the service that are open for more than a moment, and locks that somebody waits for. */
export function openTransactions({ db }: World): Promise<object[]> {
  return db.query(
    `SELECT state, query, wait_event_type FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND (state LIKE 'idle in transaction%' OR wait_event_type = 'Lock' OR now() - xact_start > interval '5 seconds')`,
  );
}

/** Uploads that were not taken to their end. */
export function halfWritten({ dataDir }: World): Promise<string[]> {
  return readdir(join(dataDir, 'files', 'incoming')).catch(() => []);
}

/** Folders of tasks that do not exist, and whose removal is not on record either. */
export async function orphanedWorkdirs({ dataDir, db }: World): Promise<string[]> {
  const rows = await db.query<{ id: string }>('SELECT id FROM tasks UNION SELECT id FROM folder_removals');
  const known = new Set(rows.map(({ id }) => id));
  const folders = await readdir(join(dataDir, 'workdirs')).catch(() => []);
  // What builds have prepared is no task's.
  const tasks = folders.filter((name) => !name.startsWith('.'));
  return tasks.filter((name) => !known.has(name.endsWith(BESIDE) ? name.slice(0, -BESIDE.length) : name));
}

export interface Bytes {
  /** `<workspace>/<sha256>` */
  stored: string[];
  /** What rows point at. */
  known: string[];
}

/** The stored bytes after the service's own cleaning, as if all of them were old, beside those that rows point at. */
export async function bytesAfterCleaning(world: World): Promise<Bytes> {
  const root = join(world.dataDir, 'files');
  const old = new Date(Date.now() - 48 * 3_600_000);
  for (const path of await filesIn(root)) await utimes(path, old, old);
  const app = await world.reopen();
  await app.app.get(FileCleaner, { strict: false }).sweep();
  await app.close();
  const rows = await world.db.query<{ path: string }>(
    `SELECT workspace_id || '/' || sha256 AS path FROM uploads UNION SELECT workspace_id || '/' || sha256 FROM files
     UNION SELECT ${snapshotsPlaceOf('workspace_id')} || '/' || sha256 FROM snapshot_objects`,
  );
  const stored = (await filesIn(root)).map((path) => path.slice(root.length + 1).replace(/\/[0-9a-f]{2}\//, '/'));
  return { stored: stored.sort(), known: rows.map(({ path }) => path).sort() };
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
