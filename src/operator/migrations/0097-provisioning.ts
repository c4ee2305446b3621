import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Companies' directories keep the members of workspaces (reference §31). */
export class Provisioning1798334600097 extends ForwardMigration {
  readonly sql = `
CREATE TABLE scim_tokens (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  digest bytea NOT NULL,
  prefix text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX scim_tokens_digest ON scim_tokens (digest);
CREATE INDEX scim_tokens_workspace ON scim_tokens (workspace_id);

CREATE TABLE scim_users (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  user_name text NOT NULL,
  external_id text,
  told jsonb NOT NULL,
  member_since timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX scim_users_account ON scim_users (workspace_id, user_id);
CREATE UNIQUE INDEX scim_users_name ON scim_users (workspace_id, lower(user_name));
CREATE INDEX scim_users_user ON scim_users (user_id);

CREATE TABLE scim_groups (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  display_name text NOT NULL,
  external_id text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX scim_groups_name ON scim_groups (workspace_id, lower(display_name));

CREATE TABLE scim_group_members (
  group_id uuid NOT NULL REFERENCES scim_groups ON DELETE CASCADE,
  scim_user_id uuid NOT NULL REFERENCES scim_users ON DELETE CASCADE,
  PRIMARY KEY (group_id, scim_user_id)
);
CREATE INDEX scim_group_members_user ON scim_group_members (scim_user_id);
`;
}
