import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Checks on the original, checks that run again, and all of their output (reference §26). */
export class ChecksBeforeAndAgain1798246400076 extends ForwardMigration {
  readonly sql = `
ALTER TABLE task_checks ADD COLUMN original text, ADD COLUMN output_file_id uuid REFERENCES files ON DELETE SET NULL;
CREATE INDEX task_checks_original ON task_checks (original, created_at DESC) WHERE original IS NOT NULL;
CREATE INDEX task_checks_output_file ON task_checks (output_file_id) WHERE output_file_id IS NOT NULL;
ALTER TABLE runs DROP CONSTRAINT runs_kind_check,
  ADD CONSTRAINT runs_kind_check CHECK (kind IN ('turn', 'continuation', 'checks'));
`;
}
