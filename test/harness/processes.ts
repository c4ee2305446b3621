import { readdirSync, readFileSync } from 'node:fs';
import { until } from './until.js';

/**
 * Ids of the processes of this machine whose command line holds a text; not this one's. Words stand with spaces between them;
 * a text with NUL in place of them is compared with the words as they were given: `sleep\0…` finds the program itself, not
 * a shell that was told `sleep …`.
 */
export function processesWith(text: string): number[] {
  const line = text.includes('\0') ? commandLine : words;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && line(pid).includes(text));
}

let lastMark = 0;

/**
 * A time for `sleep`, years long, by which {@link processesWith} finds what was told it and nothing else: no other test has it,
 * nor one that begins with it.
 */
export function newMark(): string {
  lastMark = Math.max(lastMark + 1, Date.now());
  return `9${String(process.pid).padStart(7, '0')}.${lastMark}`;
}

/** Resolves when a `sleep` of this mark runs itself, and not only the shell or the launcher that was told of it. */
export async function sleeps(mark: string): Promise<void> {
  await until('the command to run', () => processesWith(`sleep\0${mark}`).length > 0);
}

/** Resolves when there are none left; fails with what those that are left do. `within` in milliseconds. */
export async function processesGone(text: string, within?: number): Promise<void> {
  const options = within === undefined ? {} : { within };
  await until('its processes to be gone', () => processesWith(text).length === 0, options).catch((error: unknown) => {
    const left = processesWith(text).map((pid) => `${pid} ${stateOf(pid)} ${words(pid).slice(-200)}`);
    throw new Error([String(error), ...left].join('\n'));
  });
}

/** Those that a process has started, by whichever of its threads. */
export function childrenOf(pid: number): number[] {
  return foldersIn(`/proc/${pid}/task`)
    .flatMap((thread) => read(`/proc/${pid}/task/${thread}/children`).split(' '))
    .filter((child) => child !== '')
    .map(Number);
}

/** The words that it was started with, each with a NUL behind it; empty for a process that has just ended. */
export const commandLine = (pid: number): string => read(`/proc/${pid}/cmdline`);
const words = (pid: number): string => commandLine(pid).replaceAll('\0', ' ');

/** `D (disk sleep)`, and in which call of the kernel it waits. */
function stateOf(pid: number): string {
  const state = /^State:\s+(.*)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 'ended';
  return `${state} ${read(`/proc/${pid}/wchan`)}`;
}

/** None of what has just ended. */
function foldersIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
