import { readdirSync, readFileSync } from 'node:fs';
import { until } from './until.js';

/**
 * Ids of the processes of this machine whose command line holds a text; not this one's. Between words stands a space, or NUL:
 * `sleep\05` is the program itself, not a shell that was given `sleep 5`.
 */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && [commandLine(pid), words(pid)].some((line) => line.includes(text)));
}

/** Resolves when there are none left; fails with what those that are left do. `within` in milliseconds. */
export async function processesGone(text: string, within?: number): Promise<void> {
  const options = within === undefined ? {} : { within };
  await until('its processes to be gone', () => processesWith(text).length === 0, options).catch((error: unknown) => {
    const left = processesWith(text).map((pid) => `${pid} ${stateOf(pid)} ${words(pid).slice(-200)}`);
    throw new Error([String(error), ...left].join('\n'));
  });
}

/** Empty for a process that has just ended. */
const commandLine = (pid: number): string => read(`/proc/${pid}/cmdline`);
const words = (pid: number): string => commandLine(pid).replaceAll('\0', ' ');

/** `D (disk sleep)`, and in which call of the kernel it waits. */
function stateOf(pid: number): string {
  const state = /^State:\s+(.*)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 'ended';
  return `${state} ${read(`/proc/${pid}/wchan`)}`;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
