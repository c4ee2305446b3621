// The statements of FileCleaner. They lock rows of one table each, and skip those that somebody else has locked.
import { raw, sql, texts, uuid, uuids } from '../../platform/database/sql.js';
import { type StoredBytes, TRIAL_WORKSPACES } from './storage/storage-driver.js';

/** How many rows a statement deletes or looks at. */
export const BATCH = 500;

/** One row for each deleted upload. An upload that a request refers to at this moment is locked: it goes with a later round. */
export const DELETE_EXPIRED = sql`
DELETE FROM uploads WHERE id IN (
  SELECT id FROM uploads WHERE expires_at <= now() ORDER BY expires_at LIMIT ${raw(String(BATCH))} FOR UPDATE SKIP LOCKED)
RETURNING 1`.rows();

/**
 * Those of some bytes that no row points at. Only of workspaces that this database knows, and of trials: the storage of another
 * database, mounted by mistake, must survive.
 */
export const UNUSED = sql`
SELECT b.workspace_id AS "workspaceId", b.sha256
FROM unnest(${uuids('workspaceIds')}, ${texts('digests')}) AS b(workspace_id, sha256) LEFT JOIN workspaces w ON w.id = b.workspace_id
WHERE (w.id IS NOT NULL OR b.workspace_id::text LIKE ${raw(`'${TRIAL_WORKSPACES}%'`)})
  AND NOT EXISTS (SELECT FROM uploads u WHERE u.workspace_id = b.workspace_id AND u.sha256 = b.sha256)
  AND NOT EXISTS (SELECT FROM files f WHERE f.workspace_id = b.workspace_id AND f.sha256 = b.sha256)`.rows<StoredBytes>();

/**
 * The deleted workspace whose storage has waited longest. A large folder takes its time: when the process is killed
 * meanwhile, another one takes the folder after an hour.
 */
export const TAKE_REMOVAL = sql`
UPDATE folder_removals SET not_before = clock_timestamp() + interval '1 hour'
WHERE kind = 'storage' AND id = (
  SELECT id FROM folder_removals WHERE kind = 'storage' AND not_before <= clock_timestamp()
  ORDER BY not_before LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id`.rows<{ id: string }>();
export const END_REMOVAL = sql`DELETE FROM folder_removals WHERE kind = 'storage' AND id = ${uuid('id')}`.rows();
