import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Commands of agents that go on beyond their calls (reference §27.2). */
export class TaskCommands1798247100083 extends ForwardMigration {
  readonly sql = `
CREATE TABLE task_commands (
  id uuid PRIMARY KEY,
  task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
  number integer NOT NULL,
  tool_call_id text NOT NULL,
  command text NOT NULL,
  terminal boolean NOT NULL,
  status text NOT NULL DEFAULT 'running' CONSTRAINT task_commands_status_check CHECK (status IN ('running', 'exited', 'stopped', 'lost')),
  exit_code integer,
  output text NOT NULL DEFAULT '',
  output_bytes bigint NOT NULL DEFAULT 0,
  told boolean NOT NULL DEFAULT false,
  stop_asked boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz(3)
);
CREATE UNIQUE INDEX task_commands_number ON task_commands (task_id, number);
CREATE INDEX task_commands_page ON task_commands (task_id, created_at DESC, id DESC);
`;
}
