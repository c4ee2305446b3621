import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Values that tasks use and never see (reference §24), and what of a thing a change was of (reference §14). */
export class Secrets1798245000062 extends ForwardMigration {
  readonly sql = `
CREATE TABLE secrets (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  scope text NOT NULL CHECK (scope IN ('workspace', 'project', 'user')),
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  user_id uuid,
  name text NOT NULL,
  description text,
  env text NOT NULL,
  bindings jsonb NOT NULL,
  -- Encrypted under a key of SECRET_KEY.
  value bytea NOT NULL,
  version int NOT NULL DEFAULT 1,
  used_at timestamptz(3),
  created_by uuid NOT NULL REFERENCES users,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CHECK ((scope = 'project') = (project_id IS NOT NULL)),
  CHECK ((scope = 'user') = (user_id IS NOT NULL)),
  FOREIGN KEY (workspace_id, user_id) REFERENCES memberships ON DELETE CASCADE
);
CREATE INDEX secrets_page ON secrets (workspace_id, created_at, id);
CREATE UNIQUE INDEX secrets_of_workspace ON secrets (workspace_id, name) WHERE scope = 'workspace';
CREATE UNIQUE INDEX secrets_of_project ON secrets (project_id, name) WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX secrets_of_user ON secrets (workspace_id, user_id, name) WHERE user_id IS NOT NULL;

ALTER TABLE audit_log ADD COLUMN fields text[];
`;
}
