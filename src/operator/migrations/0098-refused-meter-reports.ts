import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Which entries of the ledger the payment provider refuses for good, and why (reference §14). */
export class RefusedMeterReports1798334700098 extends ForwardMigration {
  readonly sql = `
ALTER TABLE meter_reports ADD COLUMN refusal text;
`;
}
