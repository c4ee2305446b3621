import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Which entries of the ledger were reported to the payment provider (reference §14). */
export class MeterReports1798334500096 extends ForwardMigration {
  readonly sql = `
CREATE TABLE meter_reports (
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  at timestamptz(3) NOT NULL,
  message_id uuid NOT NULL,
  PRIMARY KEY (workspace_id, at, message_id)
);
`;
}
