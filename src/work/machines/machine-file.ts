import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigurationError } from '../../platform/config/env.js';
import { writeOnce } from '../../platform/config/whole-files.js';

/** In `DATA_DIR`: the id of the machine. */
const MACHINE_FILE = 'machine';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id of the machine that has this `DATA_DIR`; null before the first process has worked there. Throws {@link ConfigurationError}. */
export function machineIn(folder: string): string | null {
  const path = join(folder, MACHINE_FILE);
  const content = contentOf(path);
  if (content === null || UUID.test(content)) return content;
  throw new ConfigurationError(
    `DATA_DIR: the id of a machine is expected in ${path}, and what is there is none. Remove the file: the next start makes a new id, and restores the folders of tasks from their snapshots.`,
  );
}

/** Makes the id where there is none; of several processes at once one does. Throws {@link ConfigurationError}. */
export function makeMachine(folder: string, id: string = randomUUID()): string {
  const found = machineIn(folder);
  if (found !== null) return found;
  const path = join(folder, MACHINE_FILE);
  attempt(path, () => writeOnce(path, `${id}\n`));
  return makeMachine(folder, id);
}

function contentOf(path: string): string | null {
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
