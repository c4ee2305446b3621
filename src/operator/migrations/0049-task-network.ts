import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { EVENT_OF_UPDATE, RECORD_TASK_EVENT } from '../../resources/tasks/events/record-task-event.function.js';

/** What the commands of a task reach, and were refused (reference §4). */
export class TaskNetwork1798243700049 extends ForwardMigration {
  readonly sql = ['ALTER TABLE tasks ADD COLUMN network jsonb', RECORD_TASK_EVENT + EVENT_OF_UPDATE];
}
