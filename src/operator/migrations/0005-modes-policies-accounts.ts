import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Modes of messages, a transparency policy per workspace, service accounts, and finding the keys of a deleted task. */
export class ModesPoliciesAccounts1763683200005 extends ForwardMigration {
  readonly sql = `
-- What the sender asked for and what the task was: 'steer' and 'interrupt' stand only for messages to a running turn.
ALTER TABLE messages ADD COLUMN mode text NOT NULL DEFAULT 'queue' CHECK (mode IN ('queue', 'steer', 'interrupt'));

-- The kinds of parts that are exposed, the whole list; null: as the deployment has it.
ALTER TABLE workspaces ADD COLUMN transparency text[];

-- A service account is a user without an address, of one workspace. Deleted, it stays as the author of what it did.
ALTER TABLE users ALTER COLUMN email DROP NOT NULL;
ALTER TABLE users
  ADD COLUMN kind text NOT NULL DEFAULT 'person',
  ADD COLUMN service_of uuid REFERENCES workspaces ON DELETE CASCADE,
  ADD COLUMN service_ended_at timestamptz(3),
  ADD CONSTRAINT users_kind CHECK (
    kind = 'person' AND email IS NOT NULL AND service_of IS NULL OR
    kind = 'service' AND email IS NULL AND service_of IS NOT NULL);
CREATE UNIQUE INDEX users_service_name ON users (service_of, lower(name)) WHERE kind = 'service' AND service_ended_at IS NULL;

-- What a stored answer is about: the object that was made, or the path that was used. A deletion looks for both.
CREATE INDEX idempotency_keys_object ON idempotency_keys (coalesce(location, path));
`;
}
