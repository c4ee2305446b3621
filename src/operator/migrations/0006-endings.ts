import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Deleted accounts, files that all have a creator, and two indexes that nothing uses. Forward-only. */
export class Endings1763856000006 extends ForwardMigration {
  readonly sql = `
-- A deleted account is a row without an address: what it made stays, and names it.
ALTER TABLE users DROP CONSTRAINT users_kind, ADD CONSTRAINT users_kind CHECK (
  kind = 'person' AND (email IS NULL) = (deleted_at IS NOT NULL) AND service_of IS NULL OR
  kind = 'service' AND email IS NULL AND deleted_at IS NULL AND service_of IS NOT NULL);

-- What the agent published counts as made by whose task it is; it was nobody's once.
UPDATE files f SET created_by = t.created_by FROM tasks t WHERE f.created_by IS NULL AND t.id = f.task_id;
ALTER TABLE files ALTER created_by SET NOT NULL;

-- The one on coalesce(location, path), which came before them by the clock, serves every statement that looks for either.
DROP INDEX idempotency_keys_path, idempotency_keys_location;
`;
}
