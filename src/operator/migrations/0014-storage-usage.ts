import { ForwardMigration } from '../../platform/database/forward-migration.js';
import {
  COUNT_STORED_BYTES,
  COUNT_WORKDIR_BYTES,
  OPEN_STORAGE_USAGE,
} from '../../resources/files/storage-usage.function.js';

/** How many bytes each workspace stores, counted by the database itself (docs/decisions/0028). */
export class StorageUsage1795651200014 extends ForwardMigration {
  readonly sql = [TABLE, OPEN_STORAGE_USAGE + COUNT_STORED_BYTES + COUNT_WORKDIR_BYTES, BACKFILL];
}

const TABLE = `
-- A row for each workspace, which is also the lock under which bytes are let in.
CREATE TABLE storage_usage (
  workspace_id uuid PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
  -- The bytes that uploads and files point at, equal ones once, as the storage keeps them.
  stored_bytes bigint NOT NULL DEFAULT 0,
  -- The sum of tasks.workdir_bytes.
  workdir_bytes bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- As last measured at the end of a command.
ALTER TABLE tasks ADD COLUMN workdir_bytes bigint NOT NULL DEFAULT 0;
`;

// The triggers keep writers out until the end of this migration, so nothing is counted twice or not at all. Workdirs are
// measured when a command next ends in them.
const BACKFILL = `
INSERT INTO storage_usage (workspace_id, stored_bytes)
SELECT w.id, coalesce((
  SELECT sum(size) FROM (
    SELECT sha256, size FROM uploads WHERE workspace_id = w.id UNION SELECT sha256, size FROM files WHERE workspace_id = w.id) one), 0)
FROM workspaces w;
`;
