import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { CHILD_ENDED } from '../../resources/tasks/children/child-ended.function.js';

/** The end and the deletion of a task that another one waits for lock the run of that one before the counter of bytes (docs/decisions/0111). */
export class LocksOfChildren1798247200087 extends ForwardMigration {
  readonly sql = [
    'DROP TRIGGER IF EXISTS end_of_child ON tasks; DROP TRIGGER IF EXISTS deletion_of_child ON tasks;',
    CHILD_ENDED,
  ];
}
