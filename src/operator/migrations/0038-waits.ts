import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** What the run of a task waits for (reference §4, docs/decisions/0074). A later migration takes the trigger that tells of it. */
export class Waits1797724800038 extends ForwardMigration {
  readonly sql = ['ALTER TABLE tasks ADD COLUMN waiting_for jsonb'];
}
