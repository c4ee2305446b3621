// Where the bytes of uploads and files lie. This file is the seam; the built-in driver is in local/.
import type { Readable } from 'node:stream';

/** Bytes that are stored: the same ones of one workspace only once. */
export interface StoredBytes {
  workspaceId: string;
  /** Of the bytes, hexadecimal. */
  sha256: string;
}

/**
 * Bytes on their way in, read once by `for await`. Reading throws when the line is cut or the file is too long; a reader that stops
 * before the end leaves the loop, and the line is closed.
 */
export interface ArrivingBytes extends AsyncIterable<Buffer> {
  /** Of all bytes, hexadecimal. Throws before all have been read. */
  readonly sha256: string;
  /** How many have been read. */
  readonly size: number;
}

/** There are no such bytes: they were never put, or they were removed. */
export class BytesGoneError extends Error {
  override readonly name = 'BytesGoneError';
  /** As of a file that is gone: the sandbox leaves such a file of a project out. */
  readonly code = 'ENOENT';
}

/** The stored bytes are not those of their name. Only who reads them to their end hears of it, from the stream. */
export class BytesDamagedError extends Error {
  override readonly name = 'BytesDamagedError';
}

/** The storage failed. Without a code of the network: that of a driver would be taken for one of the database. */
export class StorageError extends Error {
  override readonly name = 'StorageError';
  constructor(cause: unknown) {
    super('The storage failed.', { cause });
  }
}

/** The storage cannot be reached, or is busy: the same may succeed in a moment. The client gets 503 `unavailable` with `Retry-After`. */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
}

/**
 * How the ids of workspaces begin that exist in no database: `doctor` puts bytes there for a moment. A UUIDv7 of the year 1970 is nobody's.
 * What a killed one leaves is unused, and the cleaner removes it.
 */
export const TRIAL_WORKSPACES = '00000000-0000-7000-8000-';

/** First and last byte, both included. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * A place for bytes, chosen by `STORAGE` (reference §16). Bytes are addressed by their workspace and their SHA-256 and never change. Rows of
 * the database point at them; a driver knows no row. All processes of an installation share one storage, so whatever a method does, others
 * may do at the same moment. Every method rejects with an ordinary error when the storage fails: the request gets 500, or 503 for a
 * {@link StorageUnavailableError}; a file that the agent publishes becomes a tool error, a turn that cannot read its files fails with `sandbox_unavailable`, and the chore is
 * tried again.
 */
export abstract class StorageDriver {
  /**
   * Called once in a process that has chosen this driver, before anything else. What it rejects with ends the boot.
   * @param _installation the mark of the installation (docs/decisions/0072). A place that several may reach by mistake keeps it, and
   * refuses another. Null where nothing is to be compared: in a test, for a verb that works beside an installation.
   */
  begin(_installation: string | null): Promise<void> {
    return Promise.resolve();
  }

  /** Whether the storage answers at this moment, for readiness. Resolves within two seconds, asked often; never rejects. */
  answers(): Promise<boolean> {
    return Promise.resolve(true);
  }

  /**
   * For people: where the bytes are, if they outlive this machine with all of its disks. A backup may then name them in place of a
   * copy (`backup --files reference`). Null: it may not.
   */
  get lastingPlace(): string | null {
    return null;
  }

  /**
   * Stores bytes, without ever holding a whole file in memory. Called once for each upload and each published file. When it resolves the
   * bytes can be opened, by every process, and survive a power cut. When it rejects, because reading `content` threw or the storage
   * failed, nothing can be opened that could not be before. What a killed process had written is the driver's to find: `removeUnused`
   * removes it. Equal bytes that are stored already count as put at this moment.
   */
  abstract put(workspaceId: string, content: ArrivingBytes): Promise<void>;

  /**
   * Opens bytes for reading: all, or a range that lies inside. The caller reads the stream to its end or destroys it, and the driver
   * then holds nothing open. Rejects with a {@link BytesGoneError} when there are none; never resolves with a stream that is known to fail.
   * The stream of a driver that compares what it reads fails with a {@link BytesDamagedError}.
   * @returns the number of bytes that the stream gives, and the stream.
   */
  abstract open(workspaceId: string, sha256: string, range?: ByteRange): Promise<{ size: number; stream: Readable }>;

  /** How many bytes are stored under a digest; null for none. */
  async sizeOf({ workspaceId, sha256 }: StoredBytes): Promise<number | null> {
    try {
      const { size, stream } = await this.open(workspaceId, sha256);
      stream.on('error', () => undefined).destroy();
      return size;
    } catch (error) {
      if (error instanceof BytesGoneError) return null;
      throw error;
    }
  }

  /**
   * Removes what nobody needs: bytes that were put longer than `idleMs` ago, for the last time, and that `unused` names; and what killed
   * processes left half-written, when no put can be writing it any more. Called once an hour, by one process of the installation.
   *
   * `unused` is given at most 500 and resolves with those among them at which no row points. A row comes after its put, within
   * `idleMs`. So the driver looks at the time of the last put once more, in the moment in which it removes: bytes that were put after
   * `unused` was asked stay. Workspaces that `unused` does not name keep everything. Begins no further batch once `signal` is aborted.
   * @returns how many were removed.
   */
  abstract removeUnused(
    idleMs: number,
    unused: (bytes: StoredBytes[]) => Promise<StoredBytes[]>,
    signal?: AbortSignal,
  ): Promise<number>;

  /** Removes everything of a workspace that is gone; nothing is put there any more. Succeeds when there is nothing. */
  abstract removeAll(workspaceId: string): Promise<void>;
}
