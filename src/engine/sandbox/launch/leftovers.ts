// Ends the processes of a command where no control group does it.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { descendants } from '../workdir/open-files.js';
import { signal } from './launch.js';

/** Processes that are ended meanwhile may go on making others for so long. */
const END_MS = 2000;
const LOOK_MS = 2;

export interface Found {
  pids: number[];
  /** Those that have ended, and keep their number until their parents ask for it. */
  ended: number[];
  /** One was gone before it could be looked at, and may have made another. */
  unsure: boolean;
}

/**
 * Ends processes until none is found. False: there still are some after two seconds.
 * All are stopped before the first one is ended: what is stopped makes no others, and takes the places that others would need.
 */
export async function endAll(find: () => Promise<Found>): Promise<boolean> {
  let known = new Set<number>();
  for (const until = performance.now() + END_MS; performance.now() < until;) {
    const { pids, ended, unsure } = await find();
    // One that ended while they were looked for may have made another, which the search has missed.
    const endedMeanwhile = ended.some((pid) => !known.has(pid));
    if (pids.length === 0 && !unsure && !endedMeanwhile) return true;
    known = new Set(ended);
    for (const name of ['SIGSTOP', 'SIGKILL'] as const) pids.forEach((pid) => signal(pid, name));
    if (pids.length > 0) await later(LOOK_MS);
  }
  return false;
}

/** Of a process and all below it those that `ends` is true for, told their marks. */
export async function below(pid: number, ends: (pid: number, mark: string) => boolean): Promise<Found> {
  const found: Found = { pids: [], ended: [], unsure: false };
  for (const one of await descendants(pid)) {
    const mark = markOf(one);
    if (mark === null) found.unsure = true;
    else if (ends(one, mark)) (hasEnded(one) ? found.ended : found.pids).push(one);
  }
  return found;
}

/** Of all processes of the host those with a mark. */
export function everywhere(mark: string): Found {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found: Found = { pids: [], ended: [], unsure: false };
  for (const one of all.map(Number).filter((pid) => markOf(pid) === mark)) {
    (hasEnded(one) ? found.ended : found.pids).push(one);
  }
  return found;
}

/**
 * By which the processes of a command are known: a limit that nothing here is bound by (RLIMIT_RTTIME: nobody inside may run in real time). All
 * inherit it, and may lower theirs, but not raise it. Null: it is gone.
 */
export function markOf(pid: number): string | null {
  try {
    return /^Max realtime timeout +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** It is gone but for its number, which its parent has not asked for yet. */
function hasEnded(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^ [ZX]/.test(stat.slice(stat.lastIndexOf(')') + 1));
  } catch {
    return true;
  }
}
