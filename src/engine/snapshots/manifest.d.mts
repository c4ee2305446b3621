/** `d`: folder, `f`: file, `l`: symbolic link, `h`: a further name of a file that stands before it. */
export type EntryKind = 'd' | 'f' | 'l' | 'h';

/**
 * One entry: path with the name of its root, kind, mode (of 12 bits), size in bytes, mtime in seconds with nine digits, then the SHA-256 of a file, or where a link
 * leads; then where the bytes of a file lie, four numbers for each piece: place in the file, frame, place in the frame, length (what no
 * piece holds is zeros).
 */
export type Entry = [string, EntryKind, number, number, string, string | null, number[] | null];

export interface Manifest {
  /** SHA-256 of the stored objects. Null: a number that none has. */
  objects: (string | null)[];
  /** Object, place in it, length there: one frame of zstd. Null: a number that none has. */
  frames: ([number, number, number] | null)[];
  /**
   * By the name of the root three texts of each entry, in the order of find(1): a folder comes before what is in it. What find(1) says of it, where the
   * last two words (inode and ctime) are missing when the next snapshot is to read it again; its path, empty for the root; then of a file the
   * SHA-256 and the numbers of an {@link Entry}, of a link where it leads.
   */
  roots: Record<string, string[]>;
}

export const FOLDER: 'd';
export const FILE: 'f';
export const LINK: 'l';
export const HARD: 'h';
/** Resolves with the bytes that are stored. */
export function encode(manifest: Manifest): Promise<Buffer>;
export function decode(bytes: Buffer): Promise<Manifest>;
export function entriesOf(manifest: Manifest, root: string): Entry[];
export function bytesOf(name: string): Buffer;
export function shown(name: string): string;
