import { createHash } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { canWalk } from '../../../platform/config/reachable.js';
import { needProgram, run } from '../host.js';

/** A file or folder of the host, mounted read-only inside. */
export interface Mount {
  source: string;
  target: string;
}

/** Node as the service runs it. Nothing but its binary and npm: a prefix like `~/.local` has much else in it. */
export function nodePrograms(): { mounts: Mount[]; path: string; node: string } {
  const node = realpathSync(process.execPath);
  if (node.startsWith('/usr/')) return { mounts: [], path: dirname(node), node };
  const inside = '/opt/node/bin/node';
  const mounts = [{ source: node, target: inside }];
  const npm = join(dirname(node), '../lib/node_modules/npm');
  if (existsSync(npm)) mounts.push({ source: realpathSync(npm), target: '/opt/node/lib/node_modules/npm' });
  return { mounts, path: dirname(inside), node: inside };
}

/** ripgrep's binary, null when npm has left out the package of this platform. */
export function ripgrep(): Mount | null {
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('@vscode/ripgrep'));
    const source = realpathSync(require.resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`));
    return { source, target: '/opt/millwright/rg' };
  } catch {
    return null;
  }
}

/**
 * A path of the same file or folder that `uid` can reach: itself, or a mirror below `base`, made when missing. A mirror
 * keeps the name, by which commands call it, in a folder of its own.
 */
export async function reachableCopy(source: string, base: string, uid: number | null): Promise<string> {
  if (uid === null || (canWalk(source, uid, uid) && open(source))) return source;
  const { mtimeMs, size } = statSync(source);
  const hash = createHash('sha256').update(`${source}\n${mtimeMs}\n${size}`).digest('hex').slice(0, 12);
  const name = basename(source);
  const folder = join(base, 'programs', hash);
  if (existsSync(folder)) return join(folder, name);
  worldFolder(dirname(folder));
  const draft = `${folder}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  worldFolder(draft);
  const copy = join(draft, name);
  const cp = needProgram('cp', 'coreutils');
  // A hard link has the rights of the original: it serves only where others may read that.
  const linked = open(source) && (await run(cp, ['-al', source, copy]).catch(() => null)) !== null;
  if (!linked) {
    rmSync(copy, { recursive: true, force: true });
    await run(cp, ['-a', source, copy]);
    await run(needProgram('chmod', 'coreutils'), ['-R', 'go+rX,go-w', copy]);
  }
  replace(draft, folder);
  return join(folder, name);
}

/** Gives a finished draft its name; of two processes at once one wins, and their drafts are the same. */
export function replace(draft: string, target: string): void {
  try {
    renameSync(draft, target);
  } catch (error) {
    if (!existsSync(target)) throw error;
    rmSync(draft, { recursive: true, force: true });
  }
}

/** A folder that every uid may look into, whatever the service's umask is. */
export function worldFolder(path: string): void {
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o755);
}

function open(path: string): boolean {
  return (lstatSync(path).mode & 0o005) === 0o005;
}
