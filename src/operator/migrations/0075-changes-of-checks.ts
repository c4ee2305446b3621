import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { EVENTS_OF_CHANGES, RECORD_TASK_EVENT } from '../../resources/tasks/events/record-task-event.function.js';

/** A change of a task's checks is told by an event (reference §26). */
export class ChangesOfChecks1798246300075 extends ForwardMigration {
  readonly sql = RECORD_TASK_EVENT + EVENTS_OF_CHANGES;
}
