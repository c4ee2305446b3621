import { readdir, readFile, stat } from 'node:fs/promises';
import { needProgram, run } from '../host.js';

/** A session has at most `sandbox.processes`; this only ends a walk that has gone wrong. */
const MOST_PROCESSES = 10_000;

/** The processes of one box: the first one as the host numbers it, and the sizes of the nameless files that it was handed. */
export interface ProcessTree {
  pid: number;
  handed: readonly number[];
}

const BLOCK = 4096;

/**
 * The size of files on the workdir's file system that have no name any more and that processes still have open, run, or (as root)
 * mapped by these processes: du(1) cannot see them. Not seen are files that only a message in a socket holds, and for an
 * ordinary user those that are only mapped. In a process of its own: 256 processes with 4,096 descriptors each take seconds.
 */
export async function openWithoutName(workdir: string, trees: ProcessTree[]): Promise<{ bytes: number; inodes: number }> {
  const [{ dev }, ...pids] = await Promise.all([stat(workdir), ...trees.map(({ pid }) => descendants(pid))]);
  const links = pids.flat().flatMap((pid) => ['exe', 'fd', 'map_files'].map((name) => `/proc/${pid}/${name}`));
  if (links.length === 0) return { bytes: 0, inodes: 0 };
  const script = ['-c', SUM, 'sum', String(dev), ...links];
  const { stdout } = await run(needProgram('sh', 'dash'), script, { env: { PATH: '/usr/bin:/bin' } });
  const [bytes = 0, inodes = 0] = stdout.trim().split(' ').map(Number);
  // By their sizes: an inode that the command has closed may be one of its own files by now.
  const handed = trees.flatMap((tree) => tree.handed);
  const blocks = handed.reduce((sum, size) => sum + Math.ceil(size / BLOCK), 0);
  return { bytes: Math.max(0, bytes - blocks * BLOCK), inodes: Math.max(0, inodes - handed.length) };
} // prettier-ignore

// The same file may be open many times: one line for each inode. %b counts blocks of 512 bytes.
const SUM = `dev=$1; shift
find -L "$@" -maxdepth 1 -type f -links 0 -printf '%D %i %b\\n' 2>/dev/null | sort -u |
awk -v dev="$dev" '$1 == dev { bytes += $3 * 512; n++ }
END { printf "%.0f %d\\n", bytes, n }'`;

/** A process and all below it. What loses its parent is given to the first process of the sandbox, so the tree is whole. */
export async function descendants(pid: number): Promise<number[]> {
  const found = [pid];
  for (const one of found) {
    if (found.length > MOST_PROCESSES) break;
    const threads = await readdir(`/proc/${one}/task`).catch(() => []);
    const lists = threads.map((thread) => readFile(`/proc/${one}/task/${thread}/children`, 'utf8').catch(() => ''));
    for (const list of await Promise.all(lists)) found.push(...list.split(' ').filter(Boolean).map(Number));
  }
  return found;
}
