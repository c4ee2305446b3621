import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { EVENT_OF_UPDATE } from '../../resources/tasks/events/record-task-event.function.js';

/** What the run of a task waits for (reference §4, docs/decisions/0074). */
export class Waits1797724800038 extends ForwardMigration {
  readonly sql = ['ALTER TABLE tasks ADD COLUMN waiting_for jsonb', EVENT_OF_UPDATE];
}
