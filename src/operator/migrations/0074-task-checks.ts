import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** What tasks have to pass, and what became of it (reference §26). */
export class TaskChecks1798246200074 extends ForwardMigration {
  readonly sql = `
ALTER TABLE tasks ADD COLUMN checks jsonb, ADD COLUMN checked jsonb;
ALTER TABLE projects ADD COLUMN checks jsonb, ADD COLUMN max_repairs integer;
ALTER TABLE automations ADD COLUMN checks jsonb, ADD COLUMN max_repairs integer;
CREATE TABLE task_checks (
  id uuid PRIMARY KEY,
  task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
  turn integer NOT NULL,
  round integer NOT NULL,
  phase text NOT NULL DEFAULT 'after' CONSTRAINT task_checks_phase_check CHECK (phase IN ('before', 'after')),
  name text NOT NULL,
  command text NOT NULL,
  required boolean NOT NULL,
  protect text[] NOT NULL DEFAULT '{}',
  network boolean NOT NULL DEFAULT false,
  status text NOT NULL CONSTRAINT task_checks_status_check CHECK (status IN ('passed', 'failed', 'timed_out', 'error')),
  exit_code integer,
  duration_ms integer NOT NULL,
  output text NOT NULL,
  output_bytes bigint NOT NULL,
  output_sha256 text NOT NULL,
  protected_changed text[] NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX task_checks_page ON task_checks (task_id, created_at DESC, id DESC);
CREATE TABLE task_proofs (
  task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
  turn integer NOT NULL,
  envelope jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (task_id, turn)
);
`;
}
