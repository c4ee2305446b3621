import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Whether the model may still make a title for a task. Tasks that are there keep theirs. */
export class Titles1798243600048 extends ForwardMigration {
  readonly sql = 'ALTER TABLE tasks ADD COLUMN untitled boolean NOT NULL DEFAULT false';
}
