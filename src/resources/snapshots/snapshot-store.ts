import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { SnapshotObjects } from '../../engine/snapshots/snapshots.js';
import { Chore } from '../../platform/chores/chore.js';
import { inBatches } from '../../platform/chores/in-batches.js';
import { Database } from '../../platform/database/database.js';
import { FileStorage } from '../files/storage/file-storage.js';
import { snapshotsPlace } from '../files/storage/snapshots-place.js';
import { type ByteRange, StorageUnavailableError } from '../files/storage/storage-driver.js';
import { DELETE_UNNAMED, KNOWN, RECORD } from './snapshot-store.sql.js';

/** Bytes that are handed to the storage at once: its turns are pieces. */
const PIECE = 256 * 1024;
const BATCH = 100;
/** For how long a storage that cannot be reached is asked again, each time so much later. Milliseconds. */
const [PATIENCE_MS, AGAIN_MS] = [60_000, 1_000];

/** The objects of all snapshots: those of a workspace share blobs, two workspaces never do. */
@Injectable()
export class SnapshotStore {
  constructor(
    private readonly database: Database,
    private readonly storage: FileStorage,
  ) {}

  /**
   * A storage that is away for less than a minute costs a snapshot, or a restoring, its time and nothing else. What waits ends with the signal.
   */
  of(workspaceId: string, signal: AbortSignal): SnapshotObjects {
    return {
      known: async (digests) => (await this.database.work.run(KNOWN({ workspaceId, digests })))[0]?.places ?? '[]',
      put: (bytes, blobs) => patiently(() => this.put(workspaceId, bytes, blobs), signal),
      open: (sha256) => patiently(() => this.open(workspaceId, sha256), signal),
    };
  }

  /** The bytes of one, all or a range, for a request: it asks once. */
  async open(workspaceId: string, sha256: string, range?: ByteRange): Promise<Buffer> {
    const { stream } = await this.storage.open(snapshotsPlace(workspaceId), sha256, range);
    return buffer(stream);
  }

  private async put(workspaceId: string, bytes: Buffer, blobs: string | null): Promise<string> {
    const { sha256, size } = await this.storage.put(snapshotsPlace(workspaceId), Readable.from(pieces(bytes)));
    await this.database.work.run(RECORD({ workspaceId, sha256, size, blobs: blobs ?? '[]' }));
    return sha256;
  }

  /** Forgets objects that no snapshot has named for a day. Their bytes go with the next sweep of the storage. */
  @Chore({ every: 60 * 60_000 })
  async forget(signal?: AbortSignal): Promise<number> {
    return inBatches(BATCH, () => this.database.work.run(DELETE_UNNAMED()), signal);
  }
}

function* pieces(bytes: Buffer): Generator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

async function patiently<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const last = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const away = error instanceof Error && error.cause instanceof StorageUnavailableError;
      if (!away || performance.now() > last) throw error;
      await wait(AGAIN_MS, undefined, { signal });
    }
  }
}
