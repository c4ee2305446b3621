import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** To which trace a run belongs (reference §16). */
export class Traces1795824300021 extends ForwardMigration {
  readonly sql = `
-- The span of the transaction that made the run (W3C Trace Context); null while tracing is off, and for a run that no request
-- made.
ALTER TABLE runs ADD COLUMN traceparent text;
`;
}
