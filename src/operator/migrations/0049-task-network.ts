import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** What the commands of a task reach, and were refused (reference §4). A later migration takes the trigger that tells of it. */
export class TaskNetwork1798243700049 extends ForwardMigration {
  readonly sql = 'ALTER TABLE tasks ADD COLUMN network jsonb';
}
