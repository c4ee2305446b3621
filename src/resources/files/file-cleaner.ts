import { Injectable } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { Database } from '../../platform/database/database.js';
import { LOCKS } from '../../platform/database/locks.js';
import { FileStorage } from './storage/file-storage.js';
import type { StoredBytes } from './storage/storage-driver.js';

const MINUTE = 60_000;
/** Bytes are stored before the row that points at them: that takes moments, an hour is beyond doubt. Milliseconds. */
const GRACE = 60 * MINUTE;
const BATCH = 500;

// An upload that is being referenced at this moment is locked: its files come first, it goes with the next round.
const EXPIRED = `
DELETE FROM uploads WHERE id IN (
  SELECT id FROM uploads WHERE expires_at <= now() ORDER BY expires_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`;

// Only workspaces that this database knows: the storage of another database, mounted by mistake, must survive.
const UNUSED = `
SELECT b.workspace_id AS "workspaceId", b.sha256
FROM unnest($1::uuid[], $2::text[]) AS b(workspace_id, sha256) JOIN workspaces w ON w.id = b.workspace_id
WHERE NOT EXISTS (SELECT FROM uploads u WHERE u.workspace_id = b.workspace_id AND u.sha256 = b.sha256)
  AND NOT EXISTS (SELECT FROM files f WHERE f.workspace_id = b.workspace_id AND f.sha256 = b.sha256)`;

// A large folder takes its time; whoever is killed meanwhile leaves it to the next one.
const TAKE_STORAGE = `
UPDATE folder_removals SET not_before = clock_timestamp() + interval '1 hour'
WHERE kind = 'storage' AND id = (
  SELECT id FROM folder_removals WHERE kind = 'storage' AND not_before <= clock_timestamp()
  ORDER BY not_before LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id`;

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
    let purged = 0;
    for (let batch = BATCH; batch === BATCH && signal?.aborted !== true; purged += batch) {
      batch = (await this.database.work.query(EXPIRED)).rowCount ?? 0;
    }
    return purged;
  }

  /** Removes what is stored of workspaces that were deleted an hour ago. Resolves with their number. */
  @Chore({ every: 5 * MINUTE })
  async removeStorages(signal?: AbortSignal): Promise<number> {
    let removed = 0;
    for (; signal?.aborted !== true; removed++) {
      const { rows } = await this.database.work.query<{ id: string }>(TAKE_STORAGE);
      const [workspace] = rows;
      if (workspace === undefined) break;
      await this.storage.driver.removeAll(workspace.id);
      await this.database.work.query(`DELETE FROM folder_removals WHERE kind = 'storage' AND id = $1`, [workspace.id]);
    }
    return removed;
  }

  /** Removes unused bytes and left-overs. Resolves with their number. One process at a time walks through the storage. */
  @Chore({ every: 60 * MINUTE, lock: LOCKS.unusedBytes })
  async sweep(signal?: AbortSignal): Promise<number> {
    return this.storage.driver.removeUnused(GRACE, (bytes) => this.unused(bytes), signal);
  }

  private async unused(bytes: StoredBytes[]): Promise<StoredBytes[]> {
    if (bytes.length === 0) return [];
    const values = [bytes.map(({ workspaceId }) => workspaceId), bytes.map(({ sha256 }) => sha256)];
    return (await this.database.work.query<StoredBytes>(UNUSED, values)).rows;
  }
}
