// Started by root, the database and the sandbox run as users of their own. Those cannot enter a folder that lies below
// a closed one (mode 0700, such as root's home); their files then lie in a fixed place, never in a temporary folder.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const OUTSIDE = '/var/lib/millwright';

/** Whether a user may enter (folder) or execute (file) an existing path: the execute bit on it and on all above it. */
export function canWalk(path: string, uid: number, gid: number): boolean {
  if (uid === 0) return true;
  for (let at = realpathSync(path); ; at = dirname(at)) {
    const { mode, uid: owner, gid: group } = statSync(at);
    const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/**
 * The folder for what a user has to reach: `DATA_DIR` itself, or one in `/var/lib/millwright` when that user cannot walk
 * there. `uid` is `null` when nothing runs as another user. Makes nothing: see {@link makeReachable}.
 */
export function reachableFolder(dataDir: string, uid: number | null): string {
  // Only the bits for "others" count (no group has the number -1), so that the answer hangs on the user alone.
  return uid === null || canWalk(dataDir, uid, -1) ? dataDir : outside(dataDir);
}

/** Makes the folder that {@link reachableFolder} named outside of `DATA_DIR`; all users may pass, whatever the umask. */
export function makeReachable(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const made of [OUTSIDE, folder]) chmodSync(made, 0o711);
}

/** Deletes what lies outside of a temporary `DATA_DIR` on its behalf. */
export function removeReachable(dataDir: string): void {
  removeTree(outside(dataDir));
}

/**
 * Deletes a folder with all that commands made in it. rm(1) manages paths beyond the kernel's 4,096 bytes, `rmSync` does not. A folder that
 * its owner has closed stops an ordinary user's rm: then the folders are opened first.
 */
export function removeTree(path: string): void {
  // A process costs more than to look, and outside of most folders there is nothing.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  if (spawnSync('rm', ['-rf', '--', path]).status === 0) return;
  spawnSync('chmod', ['-R', 'u+rwX', '--', path]);
  execFileSync('rm', ['-rf', '--', path]);
}

function outside(dataDir: string): string {
  return join(OUTSIDE, createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 16));
}
