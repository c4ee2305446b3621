import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Named descriptions of the box that tasks work in, their versions, and what is built of them (reference §25). */
export class Environments1798245300065 extends ForwardMigration {
  readonly sql = `
CREATE TABLE environments (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  slug text NOT NULL,
  name text NOT NULL,
  version int NOT NULL DEFAULT 1,
  created_by uuid NOT NULL REFERENCES users,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX environments_page ON environments (workspace_id, created_at, id);
CREATE UNIQUE INDEX environments_slug ON environments (workspace_id, slug);

CREATE TABLE environment_versions (
  environment_id uuid NOT NULL REFERENCES environments ON DELETE CASCADE,
  version int NOT NULL,
  definition jsonb NOT NULL,
  created_by uuid NOT NULL REFERENCES users,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (environment_id, version)
);

CREATE TABLE environment_builds (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  environment_id uuid NOT NULL,
  version int NOT NULL,
  key text NOT NULL DEFAULT '',
  driver text NOT NULL,
  state text NOT NULL CHECK (state IN ('building', 'ready', 'failed')),
  machine_id uuid,
  lease_until timestamptz(3),
  manifest text,
  files int NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  log text NOT NULL DEFAULT '',
  error text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  FOREIGN KEY (environment_id, version) REFERENCES environment_versions ON DELETE CASCADE
);
CREATE INDEX environment_builds_page ON environment_builds (environment_id, created_at, id);
CREATE UNIQUE INDEX environment_builds_current ON environment_builds (environment_id, version, key, driver)
  WHERE state IN ('building', 'ready');
CREATE INDEX environment_builds_manifest ON environment_builds (workspace_id, manifest) WHERE manifest IS NOT NULL;
`;
}
