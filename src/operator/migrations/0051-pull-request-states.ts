import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { EVENT_OF_UPDATE, RECORD_TASK_EVENT } from '../../resources/tasks/events/record-task-event.function.js';

/** The pull request of a task and its state are told by an event (reference §17). */
export class PullRequestStates1798243900051 extends ForwardMigration {
  readonly sql = [RECORD_TASK_EVENT + EVENT_OF_UPDATE];
}
