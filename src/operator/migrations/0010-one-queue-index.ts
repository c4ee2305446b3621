import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** One index of the runs that wait (reference §5). */
export class OneQueueIndex1795392000010 extends ForwardMigration {
  readonly sql = `
-- Before runs_waiting (migration 0007) new work was looked for by its age. A plan that was made while nothing waited took
-- either index for empty, and could sort the whole queue at each look.
DROP INDEX runs_queued;
`;
}
