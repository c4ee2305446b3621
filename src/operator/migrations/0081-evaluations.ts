import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Versions of an agent on the same cases (reference §27.5). */
export class Evaluations1798246900081 extends ForwardMigration {
  readonly sql = `
CREATE TABLE evaluations (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  agent_id uuid NOT NULL REFERENCES agents ON DELETE CASCADE,
  versions int[] NOT NULL,
  cases int NOT NULL,
  repeat int NOT NULL,
  created_by uuid NOT NULL REFERENCES users,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX evaluations_agent ON evaluations (agent_id);
CREATE INDEX evaluations_workspace ON evaluations (workspace_id);

CREATE TABLE evaluation_tasks (
  evaluation_id uuid NOT NULL REFERENCES evaluations ON DELETE CASCADE,
  case_no int NOT NULL,
  version int NOT NULL,
  attempt int NOT NULL,
  task_id uuid REFERENCES tasks ON DELETE SET NULL,
  PRIMARY KEY (evaluation_id, case_no, version, attempt)
);
CREATE INDEX evaluation_tasks_task ON evaluation_tasks (task_id);
`;
}
