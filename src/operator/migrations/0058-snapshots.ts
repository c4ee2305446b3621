import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { COUNT_SNAPSHOT_BYTES } from '../../resources/snapshots/count-snapshot-bytes.function.js';

/** Snapshots of the folders of tasks (reference §22, docs/decisions/0091). */
export class Snapshots1798244600058 extends ForwardMigration {
  readonly sql = [SQL, COUNT_SNAPSHOT_BYTES];
}

const SQL = `
CREATE TABLE snapshots (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
  turn int NOT NULL,
  step int NOT NULL,
  files int NOT NULL,
  bytes bigint NOT NULL,
  manifest text NOT NULL,
  walk text,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX snapshots_page ON snapshots (task_id, created_at DESC, id DESC);

-- What the storage holds of snapshots. A row comes after its bytes, and before the snapshot that names it.
CREATE TABLE snapshot_objects (
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  sha256 text NOT NULL,
  bytes bigint NOT NULL,
  unnamed_at timestamptz(3) DEFAULT now(),
  PRIMARY KEY (workspace_id, sha256)
);
CREATE INDEX snapshot_objects_unnamed ON snapshot_objects (unnamed_at) WHERE unnamed_at IS NOT NULL;

CREATE TABLE snapshot_uses (
  snapshot_id uuid NOT NULL REFERENCES snapshots ON DELETE CASCADE,
  workspace_id uuid NOT NULL,
  object text NOT NULL,
  PRIMARY KEY (snapshot_id, object),
  -- Deferred: with a workspace both go, in whatever order.
  FOREIGN KEY (workspace_id, object) REFERENCES snapshot_objects DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX snapshot_uses_object ON snapshot_uses (workspace_id, object);

CREATE TABLE snapshot_blobs (
  workspace_id uuid NOT NULL,
  sha256 bytea NOT NULL,
  object text NOT NULL,
  "offset" int NOT NULL,
  length int NOT NULL,
  start int NOT NULL,
  size int NOT NULL,
  PRIMARY KEY (workspace_id, sha256),
  FOREIGN KEY (workspace_id, object) REFERENCES snapshot_objects ON DELETE CASCADE
);
CREATE INDEX snapshot_blobs_object ON snapshot_blobs (workspace_id, object);

ALTER TABLE storage_usage ADD COLUMN snapshot_bytes bigint NOT NULL DEFAULT 0;
`;
