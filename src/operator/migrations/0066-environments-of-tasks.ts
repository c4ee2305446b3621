import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Which environment a task works in, and which one the tasks of a project and of an automation begin with (reference §25). */
export class EnvironmentsOfTasks1798245400066 extends ForwardMigration {
  readonly sql = `
ALTER TABLE tasks
  ADD COLUMN environment_id uuid,
  ADD COLUMN environment_version int,
  ADD COLUMN environment_build_id uuid REFERENCES environment_builds ON DELETE SET NULL,
  ADD FOREIGN KEY (environment_id, environment_version) REFERENCES environment_versions ON DELETE SET NULL;
CREATE INDEX tasks_environment ON tasks (environment_id, environment_version) WHERE environment_id IS NOT NULL;
CREATE INDEX tasks_environment_build ON tasks (environment_build_id) WHERE environment_build_id IS NOT NULL;

ALTER TABLE projects ADD COLUMN environment_id uuid REFERENCES environments ON DELETE SET NULL;
CREATE INDEX projects_environment ON projects (environment_id) WHERE environment_id IS NOT NULL;

ALTER TABLE automations ADD COLUMN environment jsonb;
`;
}
