// What a session is shown beside its own folders, and cannot change.
import type { Readable } from 'node:stream';

/** A file that the inside may read. */
export interface SharedFile {
  /** A file name, without slashes; different from all others. */
  name: string;
  /** Rejects with `ENOENT` when it is gone: it is then left out. */
  open(): Promise<Readable>;
}

/** A file in a {@link SharedFolder}. */
export interface SharedEntry {
  /** Relative, in its shortest form. */
  path: string;
  executable: boolean;
  content: AsyncIterable<Buffer>;
}

/** A folder with sub-folders that the inside may read. */
export interface SharedFolder {
  /** A file name, without slashes; different from all others. */
  name: string;
  /** Its files, one after the other: the next one comes when the one before is read. None when it is gone. */
  files: () => AsyncIterable<SharedEntry>;
}
