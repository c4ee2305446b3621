import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** What a message that sets a cancelled or failed task going again is read with (reference §5). */
export class ReadUpTo1795478400011 extends ForwardMigration {
  readonly sql = `
-- With read_all: the seq of the message that last set the task going again. The turn that it starts reads what waits up to
-- there; what is sent after it waits for a turn of its own. Null in a task that was set going before there was this column.
ALTER TABLE tasks ADD COLUMN read_upto int;
`;
}
