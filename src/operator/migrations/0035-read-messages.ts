import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** When messages were read, and the list of what deleted projects have left (reference §6, §7, docs/decisions/0061). */
export class ReadMessages1797465600035 extends ForwardMigration {
  readonly sql = `
-- When a run took a person's message; null while it waits, and of the assistant's.
ALTER TABLE messages ADD COLUMN read_at timestamptz(3);

-- Of those that are read already: when that was recorded.
UPDATE messages m SET read_at = coalesce(e.created_at, u.created_at)
FROM messages u LEFT JOIN task_events e ON e.task_id = u.task_id AND e.ref = u.id AND e.type = 'message.completed'
WHERE u.id = m.id AND u.role = 'user' AND u.status = 'complete';

CREATE INDEX files_ungrouped_page ON files (workspace_id, created_at DESC, id DESC) WHERE origin = 'project' AND project_id IS NULL;
`;
}
