// The mark of an installation in its DATA_DIR.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from '../config/env.js';
import { writeOnce, writeWhole } from '../config/whole-files.js';

/** In `DATA_DIR`: the mark that the database has too. */
export const INSTALLATION_FILE = 'installation';

const MARK = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The mark in a folder; null where there is none. Throws {@link ConfigurationError}. */
export function markIn(folder: string): string | null {
  const content = contentIn(folder);
  if (content === null || MARK.test(content)) return content;
  throw new ConfigurationError(
    `DATA_DIR: the mark of an installation is expected in ${join(folder, INSTALLATION_FILE)}, and what is there is none. The operator command 'adopt' writes it anew.`,
  );
}

/** Whether a folder has the mark of another installation; what is no mark is nobody's. Throws {@link ConfigurationError}. */
export function hasOtherMark(folder: string, mark: string): boolean {
  const content = contentIn(folder);
  return content !== null && MARK.test(content) && content !== mark;
}

/** Whether a folder has this mark. Throws {@link ConfigurationError}. */
export function hasMark(folder: string, mark: string): boolean {
  return contentIn(folder) === mark;
}

/** The mark in a folder, a new one where there is none. Throws {@link ConfigurationError}. */
export function makeMark(folder: string): string {
  const path = join(folder, INSTALLATION_FILE);
  const found = markIn(folder);
  if (found !== null) return found;
  attempt(path, () => writeOnce(path, `${randomUUID()}\n`));
  // Another process may have been faster.
  return makeMark(folder);
}

/** In place of the one that is there. Throws {@link ConfigurationError}. */
export function replaceMark(folder: string, mark: string): void {
  const path = join(folder, INSTALLATION_FILE);
  attempt(path, () => writeWhole(path, `${mark}\n`));
}

function contentIn(folder: string): string | null {
  const path = join(folder, INSTALLATION_FILE);
  return attempt(path, () => {
    try {
      return readFileSync(path, 'utf8').trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  });
}

function attempt<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new ConfigurationError(`DATA_DIR: a file that can be read and written is expected at ${path} (${reason}).`, {
      cause,
    });
  }
}
