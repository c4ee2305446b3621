import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { EVENTS_OF_CHANGES, RECORD_TASK_EVENT } from '../../resources/tasks/events/record-task-event.function.js';

/** Servers of the Model Context Protocol whose tools tasks have (reference §28). Tasks of before have none. */
export class McpServers1798247500089 extends ForwardMigration {
  readonly sql = [SQL, RECORD_TASK_EVENT + EVENTS_OF_CHANGES];
}

const SQL = `
ALTER TABLE tasks ADD COLUMN mcp_servers text[] NOT NULL DEFAULT '{}';
ALTER TABLE automations ADD COLUMN mcp_servers text[];
CREATE TABLE mcp_servers (
  id uuid PRIMARY KEY,
  workspace_id uuid REFERENCES workspaces ON DELETE CASCADE,
  name text NOT NULL,
  fingerprint text NOT NULL,
  revision text,
  tools jsonb,
  status text NOT NULL CONSTRAINT mcp_servers_status_check CHECK (status IN ('ready', 'unavailable')),
  checked_at timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX mcp_servers_one ON mcp_servers (workspace_id, name) NULLS NOT DISTINCT;
`;
