import { opendir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { isUuid } from '../../../../platform/database/ids.js';
import type { StoredBytes } from '../storage-driver.js';

/** Where the local storage keeps what. */
export interface Folders {
  root: string;
  incoming: string;
  pathOf(workspaceId: string, sha256: string): string;
}

const BATCH = 500;

const SHA256 = /^([0-9a-f]{64})(\.leaving)?$/;

/** Stored bytes that nobody has stored anew for `idleMs`, one after the other, however many there are. */
export async function* idleBytes(storage: Folders, idleMs: number): AsyncGenerator<StoredBytes> {
  for await (const workspace of entries(storage.root)) {
    if (!isUuid(workspace)) continue;
    for await (const shelf of entries(join(storage.root, workspace))) {
      for await (const name of entries(join(storage.root, workspace, shelf))) {
        const [, sha256, leaving] = SHA256.exec(name) ?? [];
        if (sha256 === undefined) continue;
        const path = storage.pathOf(workspace, sha256);
        // Set aside by a process that was killed before it could decide.
        if (leaving !== undefined) await bringBack(path);
        else if (await isIdle(path, idleMs)) yield { workspaceId: workspace, sha256 };
      }
    }
  }
}

/** Deletes all bytes that are idle and that `unused` names. @returns how many. */
export async function deleteUnused(
  storage: Folders,
  idleMs: number,
  unused: (bytes: StoredBytes[]) => Promise<StoredBytes[]>,
  signal?: AbortSignal,
): Promise<number> {
  let deleted = 0;
  let batch: StoredBytes[] = [];
  const flush = async () => {
    deleted += await deleteBytes(storage, await unused(batch), idleMs, unused);
    batch = [];
  };
  for await (const bytes of idleBytes(storage, idleMs)) {
    if (signal?.aborted === true) return deleted;
    batch.push(bytes);
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return deleted;
}

/**
 * Deletes bytes that no row points at. Somebody may store the same bytes at this very moment, so they are first moved
 * aside, where nobody can begin to use them. `stillUnused` is then asked once for all: what is used after all, or was
 * stored anew just before the move, goes back.
 * @returns how many were deleted.
 */
export async function deleteBytes(
  storage: Folders,
  unused: StoredBytes[],
  idleMs: number,
  stillUnused: (bytes: StoredBytes[]) => Promise<StoredBytes[]>,
): Promise<number> {
  for (const bytes of unused) {
    const path = storage.pathOf(bytes.workspaceId, bytes.sha256);
    await rename(path, leavingPath(path)).catch(ignoreMissing);
  }
  const confirmed = new Set((await stillUnused(unused)).map(key));
  let deleted = 0;
  for (const bytes of unused) {
    const path = storage.pathOf(bytes.workspaceId, bytes.sha256);
    if (confirmed.has(key(bytes)) && (await isIdle(leavingPath(path), idleMs))) {
      await rm(leavingPath(path), { force: true });
      deleted += 1;
    } else {
      await bringBack(path);
    }
  }
  return deleted;
}

/** Deletes what killed processes left half-written. @returns how many. */
export async function deleteLeftOvers(storage: Folders, idleMs: number): Promise<number> {
  let deleted = 0;
  for await (const name of entries(storage.incoming)) {
    const path = join(storage.incoming, name);
    if (!(await isIdle(path, idleMs))) continue;
    await rm(path, { force: true });
    deleted += 1;
  }
  return deleted;
}

// Back with a new time: it may replace bytes that were stored while these were aside, and must be as young as they.
async function bringBack(path: string): Promise<void> {
  const now = new Date();
  await utimes(leavingPath(path), now, now).catch(ignoreMissing);
  await rename(leavingPath(path), path).catch(ignoreMissing);
}

function leavingPath(path: string): string {
  return `${path}.leaving`;
}

function key({ workspaceId, sha256 }: StoredBytes): string {
  return `${workspaceId}/${sha256}`;
}

async function isIdle(path: string, idleMs: number): Promise<boolean> {
  const found = await stat(path).catch(ignoreMissing);
  return found !== undefined && Date.now() - found.mtimeMs > idleMs;
}

async function* entries(folder: string): AsyncGenerator<string> {
  const found = await opendir(folder).catch(ignoreMissing);
  if (found === undefined) return;
  for await (const entry of found) yield entry.name;
}

function ignoreMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}
