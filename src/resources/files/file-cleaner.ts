import { Injectable } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { inBatches } from '../../platform/chores/in-batches.js';
import { Database } from '../../platform/database/database.js';
import { LOCKS } from '../../platform/database/locks.js';
import { raw, sql, texts, uuid, uuids } from '../../platform/database/sql.js';
import { FileStorage } from './storage/file-storage.js';
import { isSnapshotsPlace, ownerOf, snapshotsPlace } from './storage/snapshots-place.js';
import { type StoredBytes, TRIAL_WORKSPACES } from './storage/storage-driver.js';

const MINUTE = 60_000;
/** Bytes are stored before the row that points at them: that takes moments, an hour is beyond doubt. Milliseconds. */
const GRACE = 60 * MINUTE;

// The statements lock rows of one table each, and skip those that somebody else has locked.

/** How many rows a statement deletes or looks at. */
const BATCH = 500;

/** One row for each deleted upload. An upload that a request refers to at this moment is locked: it goes with a later round. */
const DELETE_EXPIRED = sql`
DELETE FROM uploads WHERE id IN (
  SELECT id FROM uploads WHERE expires_at <= now() ORDER BY expires_at LIMIT ${raw(String(BATCH))} FOR UPDATE SKIP LOCKED)
RETURNING 1`.rows();

/**
 * Those of some bytes that no row points at. Only of workspaces that this database knows, and of trials: the storage of another
 * database, mounted by mistake, must survive.
 */
const UNUSED = sql`
SELECT b.workspace_id AS "workspaceId", b.sha256
FROM unnest(${uuids('workspaceIds')}, ${texts('digests')}) AS b(workspace_id, sha256)
CROSS JOIN LATERAL (SELECT ${raw(ownerOf('b.workspace_id'))} AS id, ${raw(isSnapshotsPlace('b.workspace_id'))} AS of_snapshots) o
LEFT JOIN workspaces w ON w.id = o.id
WHERE (w.id IS NOT NULL OR b.workspace_id::text LIKE ${raw(`'${TRIAL_WORKSPACES}%'`)})
  AND CASE WHEN o.of_snapshots THEN NOT EXISTS (SELECT FROM snapshot_objects s WHERE s.workspace_id = o.id AND s.sha256 = b.sha256)
    ELSE NOT EXISTS (SELECT FROM uploads u WHERE u.workspace_id = o.id AND u.sha256 = b.sha256)
      AND NOT EXISTS (SELECT FROM files f WHERE f.workspace_id = o.id AND f.sha256 = b.sha256) END`.rows<StoredBytes>();

/**
 * The deleted workspace whose storage has waited longest. A large folder takes its time: when the process is killed
 * meanwhile, another one takes the folder after an hour.
 */
const TAKE_REMOVAL = sql`
UPDATE folder_removals SET not_before = clock_timestamp() + interval '1 hour'
WHERE kind = 'storage' AND id = (
  SELECT id FROM folder_removals WHERE kind = 'storage' AND not_before <= clock_timestamp()
  ORDER BY not_before LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id`.rows<{ id: string }>();
const END_REMOVAL = sql`DELETE FROM folder_removals WHERE kind = 'storage' AND id = ${uuid('id')}`.rows();

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
      for (const place of [workspace.id, snapshotsPlace(workspace.id)]) await this.storage.driver.removeAll(place);
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
