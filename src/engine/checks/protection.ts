import { setImmediate } from 'node:timers/promises';
import { Script } from 'node:vm';
import { globToRegex } from '../agent/tools/glob.js';
import { inWords } from './byte-paths.js';
import { CheckError } from './check.js';

/** Paths that a check names and the agent has changed: so many are told, by name. */
const TOLD = 100;

/** So many paths are looked at in one go, which may take so long: for usual patterns a thousandth of it. */
const PATHS = 1_000;
const LONGEST_MS = 500;
const MATCH = new Script('paths.filter((path) => patterns.some((pattern) => pattern.test(path)))');

/** Which of these paths below the folder of a check are protected. */
export type Protects = (paths: readonly string[]) => Promise<ReadonlySet<string>>;

/**
 * A name may have line breaks. A pattern and a name that are made for each other could hold up the whole process: that rejects with
 * {@link CheckError}. @param globs that {@link globFault} has nothing against.
 */
export function protects(globs: readonly string[]): Protects {
  const patterns = [...globs, ...globs.flatMap(foldersOf)].map((glob) => new RegExp(globToRegex(glob), 'us'));
  return async (all) => {
    const found = new Set<string>();
    for (let from = 0; from < all.length; from += PATHS) {
      for (const path of matching(patterns, all.slice(from, from + PATHS))) found.add(path);
      await setImmediate();
    }
    return found;
  };
}

/** What lies in the folder of a check; the path as `bytePaths` has it. */
export interface Entry {
  path: string;
  isLink: boolean;
}

/** The paths that are protected. A link may stand in the place of a protected folder, and what is reached through it is in none. */
export async function protectedAmong(entries: readonly Entry[], isProtected: Protects): Promise<string[]> {
  const asFolder = ({ path, isLink }: Entry) => (isLink ? [`${inWords(path)}/`] : []);
  const found = await isProtected(entries.flatMap((entry) => [inWords(entry.path), ...asFolder(entry)]));
  const among = entries.filter((entry) => [inWords(entry.path), ...asFolder(entry)].some((path) => found.has(path)));
  return among.map(({ path }) => path);
}

/** The folders that a pattern names on the way to what it protects, with a slash behind: what is a mere star names none. */
function foldersOf(glob: string): string[] {
  const parts = glob.replace(/^\.?\//, '').split('/');
  const folders = parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1));
  const named = folders.filter((folder) => !/^\**$/.test(folder.at(-1) ?? '')).map((folder) => `${folder.join('/')}/`);
  // Of braces around a slash there is half.
  return named.filter((folder) => globFault(folder) === null);
}

function matching(patterns: RegExp[], paths: string[]): string[] {
  try {
    return MATCH.runInNewContext({ paths, patterns }, { timeout: LONGEST_MS }) as string[];
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new CheckError('The patterns of `protect` take too long on the files of this task.');
  }
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
