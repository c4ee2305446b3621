import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** The pull request of a task and its state are told by an event (reference §17). A later migration takes the trigger that does. */
export class PullRequestStates1798243900051 extends ForwardMigration {
  readonly sql = [];
}
