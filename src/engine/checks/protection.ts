import { globToRegex } from '../agent/tools/glob.js';

/** Paths that a check names and the agent has changed: so many are told, by name. */
const TOLD = 100;

/** Whether a path below the folder of a check is protected; a name may have line breaks. @param globs that {@link globFault} has nothing against. */
export function protects(globs: readonly string[]): (path: string) => boolean {
  const patterns = globs.map((glob) => new RegExp(globToRegex(glob), 'us'));
  return (path) => patterns.some((pattern) => pattern.test(path));
}

/** Why a glob cannot be used; null: it can. */
export function globFault(glob: string): string | null {
  try {
    new RegExp(globToRegex(glob), 'u');
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function told(paths: readonly string[]): string[] {
  return [...paths].sort().slice(0, TOLD);
}

/** The paths that a command has printed with a NUL behind each. A name is bytes and need not be UTF-8: in these a byte is a character. */
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
