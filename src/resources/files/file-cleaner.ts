import { Injectable } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { inBatches } from '../../platform/chores/in-batches.js';
import { Database } from '../../platform/database/database.js';
import { LOCKS } from '../../platform/database/locks.js';
import { BATCH, DELETE_EXPIRED, END_REMOVAL, TAKE_REMOVAL, UNUSED } from './file-cleaner.sql.js';
import { FileStorage } from './storage/file-storage.js';
import type { StoredBytes } from './storage/storage-driver.js';

const MINUTE = 60_000;
/** Bytes are stored before the row that points at them: that takes moments, an hour is beyond doubt. Milliseconds. */
const GRACE = 60 * MINUTE;

/** Removes the bytes of deleted workspaces, expired uploads, bytes that no row points at any more, and what killed processes left half-written. */
@Injectable()
export class FileCleaner {
  constructor(
    private readonly database: Database,
    private readonly storage: FileStorage,
  ) {}

  /** Removes uploads whose time is over. Resolves with their number. */
  @Chore({ every: 5 * MINUTE })
  async purgeUploads(signal?: AbortSignal): Promise<number> {
    return inBatches(BATCH, () => this.database.work.run(DELETE_EXPIRED()), signal);
  }

  /** Removes what is stored of workspaces that were deleted an hour ago. Resolves with their number. It waits while a backup holds its lock. */
  @Chore({ every: 5 * MINUTE, lock: LOCKS.deletedStorages })
  async removeStorages(signal?: AbortSignal): Promise<number> {
    let removed = 0;
    for (; signal?.aborted !== true; removed++) {
      const [workspace] = await this.database.work.run(TAKE_REMOVAL());
      if (workspace === undefined) break;
      await this.storage.driver.removeAll(workspace.id);
      await this.database.work.run(END_REMOVAL({ id: workspace.id }));
    }
    return removed;
  }

  /**
   * Removes unused bytes and left-overs. Resolves with their number. One process at a time walks through the storage, and none while a
   * backup holds the lock.
   */
  @Chore({ every: 60 * MINUTE, lock: LOCKS.unusedBytes })
  async sweep(signal?: AbortSignal): Promise<number> {
    return this.storage.driver.removeUnused(GRACE, (bytes) => this.unused(bytes), signal);
  }

  private async unused(bytes: StoredBytes[]): Promise<StoredBytes[]> {
    if (bytes.length === 0) return [];
    const workspaceIds = bytes.map(({ workspaceId }) => workspaceId);
    const digests = bytes.map(({ sha256 }) => sha256);
    return this.database.work.run(UNUSED({ workspaceIds, digests }));
  }
}
