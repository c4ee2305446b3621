// Stored bytes into a backup and out of it, through the storage that is configured.
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../access/auth/operator-error.js';
import type { FileStorage } from '../../resources/files/storage/file-storage.js';
import { BytesGoneError, type StoredBytes } from '../../resources/files/storage/storage-driver.js';
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
  return { list, ...copied, lost };
}

/** Whether what the storage gave is what its name says. */
async function copyFile(storage: FileStorage, folder: string, stored: Stored): Promise<boolean> {
  const { workspaceId, sha256 } = stored;
  const opened = await storage.open(workspaceId, sha256).catch((error: unknown) => {
    if (error instanceof BytesGoneError) return null;
    throw error;
  });
  if (opened === null) return false;
  const part = await writeBytes(folder, fileOf(stored), opened.stream);
  const whole = part.sha256 === sha256 && part.bytes === stored.size;
  if (!whole) await rm(join(folder, part.file));
  return whole;
}

/** Throws {@link OperatorError} when a file of the backup is not what was written. */
export async function checkFiles(folder: string, files: Manifest['files'], say: Say): Promise<void> {
  const found = { count: 0, bytes: 0 };
  await forEach(folder, files.list, async (stored) => {
    if (files.lost.includes(keyOf(stored))) return;
    await checkPart(folder, partOf(stored));
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

/** Several at once; the first that fails ends all. */
async function forEach(folder: string, list: Part, act: (stored: Stored) => Promise<void>): Promise<void> {
  const lines = linesOf(folder, list);
  const loop = async () => {
    for (let next = await lines.next(); next.done !== true; next = await lines.next()) await act(read(next.value));
  };
  try {
    const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, loop));
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  } finally {
    await lines.return(undefined);
  }
}

const LINE = /^([0-9a-f-]{36})\t([0-9a-f]{64})\t(\d+)$/;

function read(line: string): Stored {
  const [, workspaceId, sha256, size] = LINE.exec(line) ?? [];
  if (workspaceId === undefined || sha256 === undefined) throw new OperatorError('The backup is damaged: files.gz.');
  return { workspaceId, sha256, size: Number(size) };
}
