import { SideThread } from '../../platform/threads/side-thread.js';
import type { EntryKind } from './manifest.mjs';
import { decompress } from './zstd.mjs';

export interface FolderEntry {
  /** The bytes of its name, one character for each: what the order is by. */
  name: string;
  /** The name as people read it. */
  shown: string;
  kind: EntryKind;
  /** Bytes. */
  size: number;
  /** Seconds since 1970, with nine digits. */
  mtime: string;
}

export interface SnapshotFile {
  name: string;
  size: number;
  mtime: string;
  sha256: string;
  /** Place in the file, object, place of the frame in it, its length, place in the frame, length. What no part holds is zeros. */
  parts: [number, string, number, number, number, number][];
}

/** A manifest as it is stored. */
export interface StoredManifest {
  sha256: string;
  bytes: Buffer;
}

type Question = StoredManifest & { path: string; after?: string | null; limit?: number };
const thread = new SideThread<Question, unknown>(new URL('./manifest.worker.mjs', import.meta.url));

/**
 * The entries of one folder, sorted by their bytes; null when the path is no folder. Links are not followed.
 * @param path begins with the name of the root.
 * @param after the {@link FolderEntry.name} behind which it begins.
 */
export async function folderOf(
  manifest: StoredManifest,
  at: { path: string; after: string | null; limit: number },
  owner: string,
): Promise<FolderEntry[] | null> {
  const weight = manifest.bytes.length;
  return (await thread.ask({ ...manifest, ...at }, { weight, owner })) as FolderEntry[] | null;
}

/** A file; null when the path is none. */
export async function fileOf(manifest: StoredManifest, path: string, owner: string): Promise<SnapshotFile | null> {
  return (await thread.ask({ ...manifest, path }, { weight: manifest.bytes.length, owner })) as SnapshotFile | null;
}

const NONE: Buffer = Buffer.alloc(0);
const ZEROS = Buffer.alloc(256 * 1024);

/** Bytes of a file, first and last included. `read` gives a part of an object: place and length. */
export async function* bytesOf(
  { parts, size }: SnapshotFile,
  { start, end }: { start: number; end: number },
  read: (object: string, offset: number, length: number) => Promise<Buffer>,
): AsyncGenerator<Buffer, void> {
  let at = start;
  const to = Math.min(end + 1, size);
  // Of a sparse file a frame has many parts, one behind the other.
  let [last, frame] = ['', NONE];
  for (const [position, object, offset, length, from, bytes] of parts) {
    if (position + bytes <= at || position >= to) continue;
    yield* zeros(position - at);
    at = Math.max(at, position);
    const place = `${object} ${offset}`;
    if (place !== last) [last, frame] = [place, await decompress(await read(object, offset, length))];
    const behind = Math.min(to, position + bytes);
    yield frame.subarray(from + at - position, from + behind - position);
    at = behind;
  }
  yield* zeros(to - at);
}

function* zeros(count: number): Generator<Buffer, void> {
  for (let left = count; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, Math.min(left, ZEROS.length));
}
