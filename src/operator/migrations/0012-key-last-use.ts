import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** When a key was last used (reference §3). */
export class KeyLastUse1795564800012 extends ForwardMigration {
  readonly sql = `
-- To about a minute: each process notes the uses of keys in memory and writes them once a minute. Null for a key that was not
-- used since there is this column. No index: an update that changes none stays on its page.
ALTER TABLE api_keys ADD COLUMN last_used_at timestamptz(3);
`;
}
