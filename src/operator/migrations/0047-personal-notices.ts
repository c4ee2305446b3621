import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** Notices to people: what they want, the browsers that they have, and what they are sent (reference §21, docs/decisions/0081). */
export class PersonalNotices1798243500047 extends ForwardMigration {
  readonly sql = `
-- Without a row all is off.
CREATE TABLE notice_settings (
  workspace_id uuid NOT NULL,
  user_id uuid NOT NULL,
  -- Channels, by the kind of what is told.
  needs_you text[] NOT NULL,
  finished text[] NOT NULL,
  failed text[] NOT NULL,
  -- Encrypted: who knows the address may write there.
  hook_url bytea,
  quiet jsonb,
  detail boolean NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, user_id),
  FOREIGN KEY (workspace_id, user_id) REFERENCES memberships ON DELETE CASCADE
);

CREATE TABLE push_subscriptions (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  user_id uuid NOT NULL,
  -- SHA-256 of the address: by it a subscription is found again.
  endpoint_digest bytea NOT NULL,
  -- Encrypted: the address and the keys of the browser.
  subscription bytea NOT NULL,
  registered_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  FOREIGN KEY (workspace_id, user_id) REFERENCES memberships ON DELETE CASCADE
);
CREATE UNIQUE INDEX push_subscriptions_one ON push_subscriptions (workspace_id, user_id, endpoint_digest);
CREATE INDEX push_subscriptions_endpoint ON push_subscriptions (endpoint_digest);

-- What one person is sent by one channel about one event.
CREATE TABLE personal_notices (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  user_id uuid NOT NULL,
  -- Null for a test.
  task_id uuid REFERENCES tasks ON DELETE CASCADE,
  event_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('needs_you', 'finished', 'failed', 'test')),
  -- What the task asks; no foreign key: without it nothing is asked any more.
  interaction_id uuid,
  channel text NOT NULL CHECK (channel IN ('push', 'email', 'hook')),
  -- The subscription of a browser, else the person.
  target uuid NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'sending', 'sent', 'failed', 'dropped', 'lost')),
  attempts int NOT NULL DEFAULT 0,
  -- Of one that is pending; of one that is being sent, since when.
  due_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  FOREIGN KEY (workspace_id, user_id) REFERENCES memberships ON DELETE CASCADE
);
CREATE UNIQUE INDEX personal_notices_one ON personal_notices (event_id, user_id, channel, target);
CREATE INDEX personal_notices_due ON personal_notices (workspace_id, due_at) WHERE status = 'pending';
CREATE INDEX personal_notices_sending ON personal_notices (due_at) WHERE status = 'sending';
CREATE INDEX personal_notices_member ON personal_notices (workspace_id, user_id);
CREATE INDEX personal_notices_task ON personal_notices (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX personal_notices_old ON personal_notices (created_at);
`;
}
