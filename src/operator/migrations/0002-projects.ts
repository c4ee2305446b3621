import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Projects, and what deleting a task has to find. Forward-only. */
export class Projects1763769600002 extends ForwardMigration {
  readonly sql = `
CREATE TABLE projects (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  owner_id uuid NOT NULL REFERENCES users,
  name text NOT NULL,
  description text,
  visibility text NOT NULL CHECK (visibility IN ('private', 'workspace')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX projects_page ON projects (workspace_id, created_at DESC, id DESC);

-- Nothing has had a project before.
ALTER TABLE tasks ADD FOREIGN KEY (project_id) REFERENCES projects ON DELETE SET NULL;
ALTER TABLE files ADD FOREIGN KEY (project_id) REFERENCES projects ON DELETE SET NULL;
CREATE INDEX tasks_project_page ON tasks (project_id, created_at DESC, id DESC) WHERE project_id IS NOT NULL;
CREATE INDEX files_project_page ON files (project_id, created_at DESC, id DESC) WHERE project_id IS NOT NULL;

-- What goes with a task is found by it: without these each deletion would read the whole tables.
CREATE INDEX runs_task ON runs (task_id);
CREATE INDEX interactions_task ON interactions (task_id);
CREATE INDEX interactions_message ON interactions (message_id);
CREATE INDEX idempotency_keys_path ON idempotency_keys (workspace_id, path) WHERE path <> '/v1/tasks';
CREATE INDEX idempotency_keys_location ON idempotency_keys (workspace_id, location) WHERE location IS NOT NULL;

-- Folders whose task or workspace is gone. No reference: the row outlives what it names until the folder is gone too.
CREATE TABLE folder_removals (
  kind text NOT NULL CHECK (kind IN ('workdir', 'storage')),
  id uuid NOT NULL,
  -- The process that takes it puts this off, so that another tries again when the first was killed.
  not_before timestamptz NOT NULL,
  PRIMARY KEY (kind, id)
);
CREATE INDEX folder_removals_due ON folder_removals (kind, not_before);

-- A deleted account keeps its row, because what it made in a workspace stays there.
ALTER TABLE users ALTER COLUMN email DROP NOT NULL, ADD COLUMN deleted_at timestamptz;
`;
}
