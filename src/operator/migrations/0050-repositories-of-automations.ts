import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** What the tasks of an automation work on, and where their changes go (reference §12). */
export class RepositoriesOfAutomations1798243800050 extends ForwardMigration {
  readonly sql = ['ALTER TABLE automations ADD COLUMN repository jsonb'];
}
