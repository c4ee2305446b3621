// The zip of a skill: read when it is uploaded, and again each time it is laid into a sandbox, by the same rules (reference §27).
import type { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';
import { HEAD_BYTES, readHead, SKILL_FILE, SkillError, type SkillHead } from '../../engine/skills/skill-file.js';
import type { SharedEntry } from '../../engine/sandbox/shared-files.js';

/** Bytes of a zip. */
export const MAX_ZIP = 10 * 1024 * 1024;
/** Bytes and files of what is in it. */
export const MAX_BYTES = 30 * 1024 * 1024;
export const MAX_FILES = 500;
/** Bytes of one name, and of a path. */
const MAX_NAME = 255;
const MAX_PATH = 1_024;
/** With the entries of folders, and what systems add. */
const MAX_ENTRIES = 4 * MAX_FILES;

const [STORED, DEFLATED] = [0, 8];
/** Of the mode in the external attributes. */
const [TYPE, REGULAR, FOLDER] = [0o170000, 0o100000, 0o040000];
/** What the Finder of macOS adds. */
const ADDED = /^__MACOSX\/|(^|\/)\.DS_Store$/;

export interface SkillZip extends SkillHead {
  files: number;
  /** The sum of their sizes. */
  bytes: number;
}

/** Reads all of a zip and keeps nothing of it. Throws {@link SkillError}. */
export async function readSkillZip(zip: Buffer): Promise<SkillZip> {
  const { opened, entries, root } = await open(zip);
  let head: SkillHead | null = null;
  let bytes = 0;
  for (const { path, entry } of entries) {
    const first: Buffer[] = [];
    let size = 0;
    for await (const chunk of contentOf(opened, entry, path, MAX_BYTES - bytes)) {
      if (path === SKILL_FILE && size <= HEAD_BYTES) first.push(chunk);
      size += chunk.length;
    }
    bytes += size;
    if (path === SKILL_FILE) head = await readHead(Buffer.concat(first));
  }
  if (head === null) throw noSkillFile();
  if (root !== '' && root !== `${head.name}/`) {
    const rule = `its folder is called ${root.slice(0, -1)} and the skill ${head.name}; both have to be the same.`;
    throw new SkillError(rule, SKILL_FILE);
  }
  return { ...head, files: entries.length, bytes };
}

/** The files of a zip that was read before, one after the other: each is read to its end before the next one comes. */
export async function* filesOf(zip: Buffer): AsyncGenerator<SharedEntry, void> {
  const { opened, entries } = await open(zip);
  let left = MAX_BYTES;
  for (const { path, entry } of entries) {
    async function* counted(): AsyncGenerator<Buffer> {
      for await (const chunk of contentOf(opened, entry, path, left)) {
        left -= chunk.length;
        yield chunk;
      }
    }
    yield { path, executable: ((entry.externalFileAttributes >>> 16) & 0o100) !== 0, content: counted() };
  }
}

interface Opened {
  opened: ZipFile;
  /** The files by their paths in the skill. */
  entries: { path: string; entry: Entry }[];
  /** The one folder around them, with a slash behind; empty for none. */
  root: string;
}

async function open(zip: Buffer): Promise<Opened> {
  // The package is loaded with the first skill, not at boot.
  const { default: yauzl } = await import('yauzl');
  try {
    const opened = await yauzl.fromBufferPromise(zip, { lazyEntries: true, strictFileNames: true });
    if (opened.entryCount > MAX_ENTRIES) throw tooManyFiles();
    const all = await entriesOf(opened);
    const root = rootOf(all.map(({ path }) => path));
    const entries = all.map(({ path, entry }) => ({ path: path.slice(root.length), entry }));
    return { opened, entries, root };
  } catch (error) {
    throw asSkillError(error);
  }
}

async function entriesOf(opened: ZipFile): Promise<{ path: string; entry: Entry }[]> {
  const found: { path: string; entry: Entry }[] = [];
  const paths = new Paths();
  let bytes = 0;
  for await (const entry of opened.eachEntry()) {
    const { fileName: path } = entry;
    if (ADDED.test(path)) continue;
    const isFolder = checked(path, entry);
    paths.add(isFolder ? path.slice(0, -1) : path, isFolder);
    if (isFolder) continue;
    found.push({ path, entry });
    if (found.length > MAX_FILES) throw tooManyFiles();
    // What it says of itself, for a quick answer: what comes out is counted as well.
    bytes += entry.uncompressedSize;
    if (bytes > MAX_BYTES) throw tooLarge(path);
  }
  return found;
}

/** Whether it is a folder. */
function checked(path: string, entry: Entry): boolean {
  const refuse = (what: string) => new SkillError(what, path);
  const type = (entry.externalFileAttributes >>> 16) & TYPE;
  const isFolder = path.endsWith('/');
  // eslint-disable-next-line no-control-regex -- none of them is a name that a person has given
  if (/[\x00-\x1f\x7f\ufffd]/.test(path))
    throw new SkillError('a name of the zip has characters that are none of a name.');
  const names = (isFolder ? path.slice(0, -1) : path).split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..'))
    throw refuse('a path has to lie in the skill, and to be in its shortest form.');
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME) || Buffer.byteLength(path) > MAX_PATH)
    throw refuse(`a name has at most ${MAX_NAME} bytes, and a path ${MAX_PATH}.`);
  if (type !== 0 && type !== (isFolder ? FOLDER : REGULAR))
    throw refuse('a skill has files and folders alone, and no links or devices.');
  if (isFolder) return true;
  if (entry.isEncrypted()) throw refuse('it is encrypted.');
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    throw refuse('it is compressed in a way that is not known here; use deflate.');
  return false;
}

/** Two that are one on some systems, or a file where another path needs a folder, are refused. */
class Paths {
  private readonly known = new Map<string, { path: string; isFolder: boolean; isNamed: boolean }>();

  add(path: string, isFolder: boolean): void {
    const names = path.split('/');
    for (let count = 1; count < names.length; count++) this.note(names.slice(0, count).join('/'), true, false);
    this.note(path, isFolder, true);
  }

  private note(path: string, isFolder: boolean, isNamed: boolean): void {
    const key = path.normalize('NFC').toLowerCase();
    const other = this.known.get(key);
    const same =
      other === undefined || (other.path === path && other.isFolder && isFolder && !(other.isNamed && isNamed));
    if (!same)
      throw new SkillError(`there is a second ${other.path}; names have to differ by more than their case.`, path);
    this.known.set(key, { path, isFolder, isNamed: isNamed || other?.isNamed === true });
  }
}

function rootOf(paths: string[]): string {
  if (paths.includes(SKILL_FILE)) return '';
  const [first = ''] = paths;
  const root = first.slice(0, first.indexOf('/') + 1);
  if (root !== '' && paths.every((path) => path.startsWith(root)) && paths.includes(root + SKILL_FILE)) return root;
  throw noSkillFile();
}

async function* contentOf(opened: ZipFile, entry: Entry, path: string, most: number): AsyncGenerator<Buffer> {
  let left = most;
  let stream: Readable | null = null;
  try {
    stream = await opened.openReadStreamPromise(entry);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      left -= chunk.length;
      if (left < 0) throw tooLarge(path);
      yield chunk;
    }
  } catch (error) {
    throw asSkillError(error, path);
  } finally {
    stream?.destroy();
  }
}

/** What the reader of zips, or zlib, says of the bytes. */
function asSkillError(error: unknown, path: string | null = null): SkillError {
  if (error instanceof SkillError) return error;
  return new SkillError(`the zip cannot be read: ${(error as Error).message}.`, path);
}

function noSkillFile(): SkillError {
  return new SkillError(`there is no ${SKILL_FILE}: it has to lie at the root of the zip, or in its one folder.`);
}

function tooManyFiles(): SkillError {
  return new SkillError(`a skill has at most ${MAX_FILES} files.`);
}

function tooLarge(path: string): SkillError {
  return new SkillError(`a skill has at most ${MAX_BYTES} bytes when it is unpacked.`, path);
}
