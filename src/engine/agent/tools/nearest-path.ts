// What a path that does not exist was probably meant to be: a model writes a plain space for U+202F, or a letter in another case.
import { posix } from 'node:path';
import { type OpenedFile, SandboxError, SandboxFileError, type SandboxSession } from '../../sandbox/sandbox.js';
import { plain } from './edit/look-alikes.js';
import { shellPath } from './tool-text.js';

/** Entries of a folder that are looked at, bytes of their names, and folders of a path. */
const ENTRIES = 2_000;
const BYTES = 256 * 1024;
const FOLDERS = 32;
const SECONDS = 10;
/** The exit code that says that the name is there. */
const THERE = 3;

/** Opens a file as `SandboxSession.readFile`; the error for one that does not exist names the nearest path that does. */
export async function openNamed(session: SandboxSession, path: string): Promise<OpenedFile> {
  try {
    return await session.readFile(path);
  } catch (error) {
    if (!(error instanceof SandboxFileError) || error.code !== 'not_found') throw error;
    throw new SandboxFileError('not_found', error.message + (await nearestNote(session, path)));
  }
}

/** For a search that failed in that path: throws its error, which then names the nearest path that exists. */
export function nearestNamed(session: SandboxSession, path: string): (error: Error) => Promise<never> {
  return async (error) => {
    if (error instanceof SandboxError) throw error;
    throw new Error(error.message + (await nearestNote(session, path)), { cause: error });
  };
}

/** A sentence, with a space before it, that names the nearest path that exists; empty when there is none, or the path itself exists. */
export async function nearestNote(session: SandboxSession, path: string): Promise<string> {
  const nearest = await nearestPath(session, path);
  if (nearest === null || nearest === path) return '';
  if (nearest.toLowerCase() === path.toLowerCase()) return ` Nearest is ${nearest}`;
  // Of what looks the same a model sees the difference in JSON alone.
  return ` Nearest is ${nearest}, in JSON ${escaped(nearest)}`;
}

/** Walks the folders of the path; of each name that is not there it takes one that looks alike. */
async function nearestPath(session: SandboxSession, path: string): Promise<string | null> {
  const names = path.split('/').filter((name) => name !== '');
  if (names.length > FOLDERS) return null;
  let found = path.startsWith('/') ? '/' : '';
  for (const name of names) {
    const next = ['.', '..', '~'].includes(name) ? name : await entryLike(session, found || '.', name);
    if (next === null) return null;
    found = posix.join(found, next);
  }
  return found;
}

async function entryLike(session: SandboxSession, folder: string, name: string): Promise<string | null> {
  const target = shellPath(posix.join(folder, name));
  // Nothing is sorted: of a folder of millions only the first entries are read.
  const list = `[ -e ${target} ] && exit ${THERE}; ls -1AU -- ${shellPath(folder)} | head -n ${ENTRIES}`;
  const { exitCode, stdout } = await session.run(list, { keep: { first: BYTES, last: 0 }, timeoutSeconds: SECONDS });
  if (exitCode === THERE) return name;
  const [sameCase, anyCase] = [looks(name), looks(name).toLowerCase()];
  const alike = stdout.split('\n').filter((one) => looks(one).toLowerCase() === anyCase);
  return alike.find((one) => looks(one) === sameCase) ?? alike[0] ?? null;
}

/** One text for all that look the same. */
function looks(name: string): string {
  return plain(name.normalize('NFC'));
}

function escaped(text: string): string {
  return JSON.stringify(text).replace(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
