import { ForwardMigration } from '../../platform/database/forward-migration.js';

/** What work consumes, and what a workspace may consume (reference §14, docs/decisions/0038). */
export class UsageLedger1795824000018 extends ForwardMigration {
  readonly sql = `
-- One row for each model call. It stays when its task, project, automation or user is deleted, so it refers to none of them; the
-- deletion of a workspace deletes it in steps.
CREATE TABLE usage_ledger (
  workspace_id uuid NOT NULL,
  at timestamptz(3) NOT NULL,
  message_id uuid NOT NULL,
  task_id uuid NOT NULL,
  project_id uuid,
  automation_id uuid,
  created_by uuid NOT NULL,
  model text NOT NULL,
  starts_turn boolean NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  -- Millionths of a US dollar; null on a model without prices.
  cost_micros bigint,
  PRIMARY KEY (workspace_id, at, message_id)
);

-- The sums of a workspace and day, in UTC. Windows of days, weeks and months are sums of at most 31 rows.
CREATE TABLE usage_days (
  workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  day date NOT NULL,
  -- Turns that were started.
  tasks bigint NOT NULL DEFAULT 0,
  tokens bigint NOT NULL DEFAULT 0,
  cost_micros bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, day)
) WITH (fillfactor = 50);

ALTER TABLE workspaces
  -- The workspace's own list in place of its plan's, in the form of plans.*.windows of CONFIG_FILE.
  ADD COLUMN usage_windows jsonb,
  ADD COLUMN top_up_micros bigint NOT NULL DEFAULT 0 CONSTRAINT workspaces_top_up_micros_check CHECK (top_up_micros >= 0),
  ADD COLUMN subscription_status text NOT NULL DEFAULT 'none' CONSTRAINT workspaces_subscription_status_check
    CHECK (subscription_status IN ('none', 'trialing', 'active', 'past_due', 'paused', 'canceled')),
  ADD COLUMN renews_at timestamptz(3),
  ADD COLUMN ends_at timestamptz(3),
  ADD COLUMN cancel_at_period_end boolean NOT NULL DEFAULT false;

ALTER TABLE tasks
  -- Null until a model with prices has answered.
  ADD COLUMN cost_micros bigint,
  ADD COLUMN turn_cost_micros bigint NOT NULL DEFAULT 0,
  -- The turn was started beyond what the workspace may start in a window.
  ADD COLUMN turn_beyond boolean NOT NULL DEFAULT false;
`;
}
