import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Commands that are tried in a build of an environment (reference §25). */
export class EnvironmentTrials1798245600068 extends ForwardMigration {
  readonly sql = `
CREATE TABLE environment_trials (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  build_id uuid NOT NULL REFERENCES environment_builds ON DELETE CASCADE,
  command text NOT NULL,
  result jsonb,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX environment_trials_build ON environment_trials (build_id);
`;
}
