// What the verbs of agents and of environments have in common: both are kept in versions, under a slug.
import { MillwrightError } from '@millwright/sdk';
import { type Line, UsageError } from './line.js';
import { plain } from './terminal.js';

/** Prints the newest version, or the one that the line names. */
export async function show(
  line: Line,
  all: { get(slug: string): Promise<unknown>; version(slug: string, version: number): Promise<unknown> },
): Promise<number> {
  const [slug, version] = [line.word(0), line.optionalWord(1)];
  if (version !== undefined && !/^[1-9]\d*$/.test(version)) throw new UsageError('The version is a number, such as 1.');
  const one = version === undefined ? await all.get(slug) : await all.version(slug, Number(version));
  console.log(line.json ? JSON.stringify(one) : plain(JSON.stringify(one, null, 2)));
  return 0;
}

/** Null when the service has none of that name. */
export async function found<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof MillwrightError && error.status === 404) return null;
    throw error;
  }
}
