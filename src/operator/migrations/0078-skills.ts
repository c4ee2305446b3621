import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Skills of a workspace and their versions (reference §27). A zip is a file of an origin of its own, so that it is counted, kept and moved as all others are. */
export class Skills1798246600078 extends ForwardMigration {
  readonly sql = `
ALTER TABLE files DROP CONSTRAINT files_origin_check,
  ADD CONSTRAINT files_origin_check CHECK (origin IN ('attachment', 'task', 'project', 'shown', 'skill'));

CREATE TABLE skills (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  name text NOT NULL,
  version int NOT NULL DEFAULT 1,
  is_default boolean NOT NULL DEFAULT false,
  created_by uuid NOT NULL REFERENCES users,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX skills_page ON skills (workspace_id, created_at, id);
CREATE UNIQUE INDEX skills_name ON skills (workspace_id, name);

CREATE TABLE skill_versions (
  skill_id uuid NOT NULL REFERENCES skills ON DELETE CASCADE,
  version int NOT NULL,
  description text NOT NULL,
  files int NOT NULL,
  bytes bigint NOT NULL,
  file_id uuid NOT NULL REFERENCES files ON DELETE CASCADE,
  created_by uuid NOT NULL REFERENCES users,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (skill_id, version)
);
CREATE INDEX skill_versions_file ON skill_versions (file_id);
`;
}
