import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { COUNT_BUILD_BYTES, COUNT_SNAPSHOT_BYTES } from '../../resources/snapshots/count-snapshot-bytes.function.js';

/** What the builds of environments keep in the storage; they share it with the snapshots of their workspace (docs/decisions/0098). */
export class EnvironmentBuildUses1798245500067 extends ForwardMigration {
  readonly sql = [SQL, COUNT_SNAPSHOT_BYTES, COUNT_BUILD_BYTES];
}

const SQL = `
CREATE TABLE environment_build_uses (
  build_id uuid NOT NULL REFERENCES environment_builds ON DELETE CASCADE,
  workspace_id uuid NOT NULL,
  object text NOT NULL,
  PRIMARY KEY (build_id, object),
  -- Deferred: with a workspace both go, in whatever order.
  FOREIGN KEY (workspace_id, object) REFERENCES snapshot_objects DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX environment_build_uses_object ON environment_build_uses (workspace_id, object);
`;
