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
