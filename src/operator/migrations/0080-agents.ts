import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Agents, their versions, and which of them a task, an automation and a workspace have (reference §27.5). */
export class Agents1798246800080 extends ForwardMigration {
  readonly sql = `
CREATE TABLE agents (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  slug text NOT NULL,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  version int NOT NULL DEFAULT 1,
  channels jsonb NOT NULL DEFAULT '{}',
  archived boolean NOT NULL DEFAULT false,
  created_by uuid NOT NULL REFERENCES users,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX agents_page ON agents (workspace_id, created_at, id);
CREATE UNIQUE INDEX agents_slug ON agents (workspace_id, slug);

CREATE TABLE agent_versions (
  agent_id uuid NOT NULL REFERENCES agents ON DELETE CASCADE,
  version int NOT NULL,
  definition json NOT NULL,
  created_by uuid NOT NULL REFERENCES users,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (agent_id, version)
);

ALTER TABLE tasks
  ADD COLUMN agent_id uuid,
  ADD COLUMN agent_version int,
  ADD FOREIGN KEY (agent_id, agent_version) REFERENCES agent_versions ON DELETE SET NULL;
CREATE INDEX tasks_agent ON tasks (agent_id, agent_version) WHERE agent_id IS NOT NULL;

ALTER TABLE automations ADD COLUMN agent text;

ALTER TABLE workspaces ADD COLUMN default_agent text;
`;
}
