import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** The payloads of a connection that wait for a worker, to be summed up before one more is taken (docs/operating.md, Walls). */
export class WaitingPayloads1796428800023 extends ForwardMigration {
  readonly sql = 'CREATE INDEX hook_deliveries_waiting ON hook_deliveries (connection_id) WHERE payload IS NOT NULL';
}
