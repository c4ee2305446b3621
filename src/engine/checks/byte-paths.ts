// Paths between commands, each with a NUL behind it. A name is bytes and need not be UTF-8: here a byte is a character.
import type { RunOptions } from '../sandbox/sandbox.js';

/** Takes what a command prints as it is: `how` goes into its options, and `bytes` is asked at its end. */
export function printedBytes(): { how: Pick<RunOptions, 'onOutput' | 'keepsOutput'>; bytes: () => Buffer } {
  const printed: Buffer[] = [];
  const onOutput = (stream: 0 | 1, chunk: Buffer) => void (stream === 0 && printed.push(chunk));
  return { how: { onOutput, keepsOutput: () => true }, bytes: () => Buffer.concat(printed) };
}

/** Those that a command has printed. */
export function bytePaths(printed: Buffer): string[] {
  return printed.toString('latin1').split('\0').filter((path) => path !== ''); // prettier-ignore
}

/** One of them, as people read it. */
export const inWords = (path: string): string => Buffer.from(path, 'latin1').toString();
/** A path as one of them. */
export const inBytes = (path: string): string => Buffer.from(path).toString('latin1');
/** What a command reads of them. @param before goes before each. */
export const asRead = (paths: readonly string[], before = ''): Buffer =>
  Buffer.from(paths.map((path) => `${before}${path}\0`).join(''), 'latin1');
