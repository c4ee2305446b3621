// Stored bytes into a backup and out of it, through the storage that is configured.
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../access/auth/operator-error.js';
import { severally } from '../../platform/fairness/severally.js';
import type { FileStorage } from '../../resources/files/storage/file-storage.js';
import { BytesDamagedError, BytesGoneError, type StoredBytes } from '../../resources/files/storage/storage-driver.js';
import type { Manifest } from './manifest.js';
import { checkPart, inBytes, linesOf, type Part, writeBytes } from './parts.js';

/** Small files are mostly waiting for the disk. */
const AT_ONCE = 4;

type Stored = StoredBytes & { size: number };
type Say = (text: string) => void;

const fileOf = ({ workspaceId, sha256 }: StoredBytes) => `files/${workspaceId}/${sha256.slice(0, 2)}/${sha256}`;
const keyOf = ({ workspaceId, sha256 }: StoredBytes) => `${workspaceId}/${sha256}`;
const partOf = (stored: Stored): Part => ({ file: fileOf(stored), bytes: stored.size, sha256: stored.sha256 });

/**
 * Copies the bytes that a list names. What the storage has lost, or gives back damaged, is left out and named: it must not
 * stand in the way of all else.
 */
export async function copyFiles(
  storage: FileStorage,
  folder: string,
  { list, ...all }: { list: Part; count: number; bytes: number },
  say: Say,
): Promise<Manifest['files']> {
  const lost: string[] = [];
  const copied = { count: 0, bytes: 0 };
  await forEach(folder, list, async (stored) => {
    if (!(await copyFile(storage, folder, stored))) return void lost.push(keyOf(stored));
    copied.count++;
    copied.bytes += stored.size;
    say(`${copied.count} of ${all.count} files, ${inBytes(copied.bytes)} of ${inBytes(all.bytes)}`);
  });
  return { list, ...copied, lost, place: null };
}

/** Names the bytes of a list where they are. What the storage has lost, or has in another size, is left out and named. */
export async function nameFiles(
  storage: FileStorage,
  folder: string,
  { list, count }: { list: Part; count: number },
  place: string,
  say: Say,
): Promise<Manifest['files']> {
  const lost: string[] = [];
  const found = { count: 0, bytes: 0 };
  await forEach(folder, list, async (stored) => {
    if ((await storage.driver.sizeOf(stored)) !== stored.size) return void lost.push(keyOf(stored));
    found.count++;
    found.bytes += stored.size;
    say(`found ${found.count} of ${count} files`);
  });
  return { list, ...found, lost, place };
}

/** Throws {@link OperatorError} when the storage has not all files that a backup names, each in its size. */
export async function requireFiles(
  storage: FileStorage,
  folder: string,
  files: Manifest['files'],
  say: Say,
): Promise<void> {
  const { lost } = await nameFiles(storage, folder, files, files.place ?? '', say);
  const missing = lost.filter((key) => !files.lost.includes(key)).sort();
  if (missing.length === 0) return;
  throw new OperatorError(
    `The backup names files that were in ${files.place}. ${missing.length} of ${files.count} are not in this storage as they were: ${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ', …' : ''}. Nothing was restored. Set STORAGE, S3_BUCKET and S3_PREFIX to where they are, or bring back their versions.`,
  );
}

/** Whether what the storage gave is what its name says. */
async function copyFile(storage: FileStorage, folder: string, stored: Stored): Promise<boolean> {
  const { workspaceId, sha256 } = stored;
  const opened = await storage.open(workspaceId, sha256).catch((error: unknown) => {
    if (error instanceof BytesGoneError) return null;
    throw error;
  });
  if (opened === null) return false;
  const file = fileOf(stored);
  const part = await writeBytes(folder, file, opened.stream).catch((error: unknown) => {
    if (error instanceof BytesDamagedError) return null;
    throw error;
  });
  const whole = part?.sha256 === sha256 && part.bytes === stored.size;
  // What is damaged from the first byte on was perhaps never written.
  if (!whole) await rm(join(folder, file), { force: true });
  return whole;
}

/** Throws {@link OperatorError} when a file of the backup is not what was written. */
export async function checkFiles(folder: string, files: Manifest['files'], say: Say): Promise<void> {
  const found = { count: 0, bytes: 0 };
  await forEach(folder, files.list, async (stored) => {
    if (files.lost.includes(keyOf(stored))) return;
    if (files.place === null) await checkPart(folder, partOf(stored));
    found.count++;
    found.bytes += stored.size;
    say(`checks ${found.count} of ${files.count} files`);
  });
  if (found.count !== files.count || found.bytes !== files.bytes) {
    throw new OperatorError(`The backup is not whole: it has ${found.count} files where ${files.count} were written.`);
  }
}

/** Puts the bytes of a backup into the storage. */
export async function putFiles(
  storage: FileStorage,
  folder: string,
  files: Manifest['files'],
  say: Say,
): Promise<void> {
  let put = 0;
  await forEach(folder, files.list, async (stored) => {
    if (files.lost.includes(keyOf(stored))) return;
    const { sha256 } = await storage.put(stored.workspaceId, createReadStream(join(folder, fileOf(stored))));
    if (sha256 !== stored.sha256) throw new OperatorError(`The backup is damaged: ${fileOf(stored)} has changed.`);
    say(`${++put} of ${files.count} files`);
  });
}

async function forEach(folder: string, list: Part, act: (stored: Stored) => Promise<void>): Promise<void> {
  await severally(storedIn(folder, list), AT_ONCE, act);
}

async function* storedIn(folder: string, list: Part): AsyncGenerator<Stored> {
  for await (const line of linesOf(folder, list)) yield read(line);
}

const LINE = /^([0-9a-f-]{36})\t([0-9a-f]{64})\t(\d+)$/;

function read(line: string): Stored {
  const [, workspaceId, sha256, size] = LINE.exec(line) ?? [];
  if (workspaceId === undefined || sha256 === undefined) throw new OperatorError('The backup is damaged: files.gz.');
  return { workspaceId, sha256, size: Number(size) };
}
