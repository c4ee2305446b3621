import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** What workspaces reach hosts of repositories with (reference §15, docs/decisions/0078). */
export class RepositoryConnections1798243200044 extends ForwardMigration {
  readonly sql = `
CREATE TABLE repository_connections (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  host text NOT NULL,
  hosting text NOT NULL CHECK (hosting IN ('github', 'gitlab')),
  -- Null: where such a host has it.
  api text,
  kind text NOT NULL CHECK (kind IN ('token', 'github_app')),
  -- The credential, encrypted under a key of SECRET_KEY.
  secret bytea NOT NULL,
  account text,
  paths text[] NOT NULL,
  push text[] NOT NULL,
  status text NOT NULL DEFAULT 'ready' CHECK (status IN ('ready', 'failed')),
  last_error text,
  created_by uuid NOT NULL REFERENCES users,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CHECK ((status = 'failed') = (last_error IS NOT NULL))
);
CREATE INDEX repository_connections_page ON repository_connections (workspace_id, created_at, id);
`;
}
