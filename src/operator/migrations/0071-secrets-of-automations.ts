import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Which secrets the tasks of an automation have (reference §12). */
export class SecretsOfAutomations1798245900071 extends ForwardMigration {
  readonly sql = `ALTER TABLE automations ADD COLUMN secrets text[];`;
}
