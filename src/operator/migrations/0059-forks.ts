import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** What a task was forked from (reference §4, docs/decisions/0092). */
export class Forks1798244700059 extends ForwardMigration {
  readonly sql = 'ALTER TABLE tasks ADD COLUMN forked_from jsonb;';
}
