// Bytes on the local disk, between their sender and the bucket (decision 0094).
import { createHash, type Hash, randomUUID } from 'node:crypto';
import { chown, type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { ArrivingBytes } from '../storage-driver.js';

/** Bytes of a part; 10,000 are the most that an object may have. */
export const PART = 16 * 1024 * 1024;
/** Bytes that are read at once. */
const PIECE = 128 * 1024;
/** How old a file with a name is when its writer was killed: it has one for a moment. Milliseconds. */
const LEFT_OVER = 60_000;

/** A part of a spooled file, as it was received. */
export interface Part {
  start: number;
  size: number;
  /** Base64, as the bucket compares it. */
  sha256: string;
  /** Reads it from the disk; anew at each call. Nothing is no stream: the library would take its length for unknown. */
  read: () => Readable | '';
}

/**
 * Spools `content` and calls `act` with its parts, of which there is at least one. The file loses its name as soon as it is open: its
 * bytes are gone with the process that has it open, however that ends.
 */
export async function spooled<T>(
  folder: string,
  content: ArrivingBytes,
  act: (parts: Part[]) => Promise<T>,
): Promise<T> {
  await makeFolder(folder);
  const path = join(folder, randomUUID());
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
    return await act(await write(file, content));
  } finally {
    await file.close();
  }
}

/** Root makes it for the owner of what it lies in: after `doctor` by root, the service of another user could not write there. */
async function makeFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made === undefined || process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(dirname(folder));
  await chown(folder, uid, gid);
}

async function write(file: FileHandle, content: ArrivingBytes): Promise<Part[]> {
  const parts: Part[] = [];
  let [start, size] = [0, 0];
  let hash = createHash('sha256');
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length;) {
      if (size === PART) {
        parts.push(part(file, start, size, hash));
        [start, size, hash] = [start + size, 0, createHash('sha256')];
      }
      const piece = chunk.subarray(at, at + PART - size);
      hash.update(piece);
      [at, size] = [at + piece.length, size + piece.length];
    }
    await file.appendFile(chunk);
  }
  parts.push(part(file, start, size, hash));
  return parts;
}

function part(file: FileHandle, start: number, size: number, hash: Hash): Part {
  const read = () => {
    if (size === 0) return '';
    const stream = Readable.from(pieces(file, start, start + size), { objectMode: false });
    // One that a request has left behind may read once more when the file is closed.
    return stream.on('error', () => undefined);
  };
  return { start, size, sha256: hash.digest('base64'), read };
}

async function* pieces(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer, void> {
  for (let at = start; at < end;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(PIECE, end - at)), { position: at });
    if (bytesRead === 0) throw new Error('The spool has lost bytes.');
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Removes what was left by processes that were killed in the moment in which a file has a name. */
export async function clearSpool(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > LEFT_OVER) await rm(path, { force: true });
  }
}
