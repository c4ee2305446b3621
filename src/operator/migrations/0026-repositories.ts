import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** The repository of a task, and what the last turn has made of it (reference §15). */
export class Repositories1796688000026 extends ForwardMigration {
  readonly sql = 'ALTER TABLE tasks ADD COLUMN repository jsonb, ADD COLUMN changes jsonb';
}
