import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { DELIVER_EVENT } from '../../resources/webhooks/deliver-event.function.js';

/** Webhooks and their deliveries (reference §18, docs/decisions/0059). */
export class Webhooks1797292800033 extends ForwardMigration {
  readonly sql = [SQL, DELIVER_EVENT];
}

const SQL = `
CREATE TABLE webhooks (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  url text NOT NULL,
  -- The URL as it is sent to: one of each in a workspace.
  address text NOT NULL,
  description text,
  types text[] NOT NULL,
  -- No foreign key: without its project it gets nothing more, where null would give it all that happens.
  project_id uuid,
  status text NOT NULL DEFAULT 'enabled' CHECK (status IN ('enabled', 'disabled')),
  disabled_reason jsonb,
  secret bytea NOT NULL,
  secret_prefix text NOT NULL,
  previous_secret bytea,
  previous_secret_until timestamptz(3),
  -- The first failed attempt since the last success, and how many there were.
  failing_since timestamptz(3),
  failed_attempts int NOT NULL DEFAULT 0,
  last_success_at timestamptz(3),
  created_by uuid NOT NULL REFERENCES users,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CHECK ((status = 'disabled') = (disabled_reason IS NOT NULL))
);
CREATE UNIQUE INDEX webhooks_one ON webhooks (workspace_id, address);

-- What is sent to one webhook about one event. No foreign keys: each would cost the change that the event tells of a look-up and a
-- lock. The rows of a webhook that is gone are never sent, and a chore deletes them.
CREATE TABLE webhook_deliveries (
  id uuid PRIMARY KEY,
  webhook_id uuid NOT NULL,
  event_id text NOT NULL,
  event_type text NOT NULL,
  task_id uuid,
  -- The string that is signed.
  body text NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled')),
  attempts int NOT NULL DEFAULT 0,
  next_attempt_at timestamptz(3) DEFAULT clock_timestamp(),
  -- While a process makes an attempt; and the number of that claim, which every record of an attempt names.
  lease_until timestamptz(3),
  epoch int NOT NULL DEFAULT 0,
  attempt_log jsonb NOT NULL DEFAULT '[]',
  redelivery boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_leases ON webhook_deliveries (webhook_id) WHERE lease_until IS NOT NULL;
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (webhook_id, created_at, id);
CREATE INDEX webhook_deliveries_task ON webhook_deliveries (task_id) WHERE task_id IS NOT NULL;
`;
