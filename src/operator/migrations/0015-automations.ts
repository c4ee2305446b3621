import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { SCHEDULE_NOW } from '../../resources/automations/schedule-now.function.js';

/** Automations with their runs, connections to providers with what they delivered (reference §12, §13). */
export class Automations1795737600015 extends ForwardMigration {
  readonly sql = [SQL, SCHEDULE_NOW];
}

const SQL = `
CREATE TABLE connections (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  -- Whose own connection it is; null for the workspace's.
  user_id uuid REFERENCES users ON DELETE CASCADE,
  slug text NOT NULL,
  -- AES-256-GCM. The previous secret is taken until its time is over.
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_secret_until timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX connections_one ON connections (workspace_id, slug, user_id) NULLS NOT DISTINCT;

-- What came to connections, for their log. A row with a key keeps its delivery from having an effect twice; one without had none.
CREATE TABLE hook_deliveries (
  id uuid PRIMARY KEY,
  connection_id uuid NOT NULL REFERENCES connections ON DELETE CASCADE,
  -- The provider's id of the delivery, or the SHA-256 of the body where the signature covers neither an id nor a time.
  dedupe_key text,
  verdict text NOT NULL DEFAULT 'accepted' CHECK (verdict IN
    ('accepted', 'no_automation', 'duplicate', 'handshake', 'bad_signature', 'malformed', 'unreadable_secret')),
  -- Both are the provider's words, and null where nothing vouches for them.
  event text,
  delivery_id text,
  -- Until every run that needs it has its file.
  payload bytea,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX hook_deliveries_once ON hook_deliveries (connection_id, dedupe_key);
CREATE INDEX hook_deliveries_log ON hook_deliveries (connection_id, id);
CREATE INDEX hook_deliveries_without_effect ON hook_deliveries (connection_id, id) WHERE dedupe_key IS NULL;
CREATE INDEX hook_deliveries_age ON hook_deliveries (created_at);

CREATE TABLE automations (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  owner_id uuid NOT NULL REFERENCES users,
  project_id uuid REFERENCES projects ON DELETE SET NULL,
  connection_id uuid REFERENCES connections ON DELETE SET NULL,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('recurring', 'one_time', 'webhook')),
  status text NOT NULL CHECK (status IN ('active', 'paused', 'completed')),
  paused_reason jsonb,
  content text NOT NULL,
  model text,
  effort text,
  approvals text NOT NULL DEFAULT 'none' CHECK (approvals IN ('none', 'writes')),
  budget jsonb,
  cron text,
  timezone text,
  run_at timestamptz(3),
  trigger_event text,
  filter text,
  overlap text NOT NULL CHECK (overlap IN ('skip', 'queue', 'allow')),
  next_run_at timestamptz(3),
  consecutive_failures int NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX automations_page ON automations (workspace_id, created_at DESC, id DESC);
CREATE INDEX automations_due ON automations (next_run_at) WHERE status = 'active';
CREATE INDEX automations_connection ON automations (connection_id) WHERE connection_id IS NOT NULL;
CREATE INDEX automations_project ON automations (project_id) WHERE project_id IS NOT NULL;

CREATE TABLE automation_runs (
  id uuid PRIMARY KEY,
  automation_id uuid NOT NULL REFERENCES automations ON DELETE CASCADE,
  trigger_type text NOT NULL CHECK (trigger_type IN ('schedule', 'event', 'manual')),
  scheduled_at timestamptz(3),
  event text,
  delivery_id uuid REFERENCES hook_deliveries ON DELETE SET NULL,
  status text NOT NULL CHECK (status IN ('waiting', 'started', 'skipped', 'failed')),
  reason jsonb,
  task_id uuid REFERENCES tasks ON DELETE SET NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
-- Each occurrence has one run, across all workers and crashes; each delivery starts an automation once.
CREATE UNIQUE INDEX automation_runs_occurrence ON automation_runs (automation_id, scheduled_at);
CREATE UNIQUE INDEX automation_runs_delivery ON automation_runs (automation_id, delivery_id);
CREATE UNIQUE INDEX automation_runs_one_waiting ON automation_runs (automation_id) WHERE status = 'waiting';
CREATE INDEX automation_runs_page ON automation_runs (automation_id, created_at DESC, id DESC);
-- The last that started, behind any number that were skipped or failed since.
CREATE INDEX automation_runs_started ON automation_runs (automation_id, created_at DESC, id DESC) WHERE status = 'started';
CREATE INDEX automation_runs_deliveries ON automation_runs (delivery_id) WHERE delivery_id IS NOT NULL;
CREATE INDEX automation_runs_task ON automation_runs (task_id) WHERE task_id IS NOT NULL;

-- What a task was made by. Both stay when the automation is deleted, so they are no foreign keys.
ALTER TABLE tasks ADD COLUMN automation_id uuid, ADD COLUMN automation_run_id uuid;
CREATE INDEX tasks_automation_page ON tasks (automation_id, created_at DESC, id DESC) WHERE automation_id IS NOT NULL;
`;
