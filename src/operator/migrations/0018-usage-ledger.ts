import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What work consumes, and what a workspace may consume (reference §14, docs/decisions/0038). */
export class UsageLedger1795824000018 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(SQL);
    await db.query(EVENTS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}

const SQL = `
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

// As in migration 0016, with the cost.
const EVENTS = `
CREATE OR REPLACE FUNCTION record_task_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  type text := CASE
    WHEN TG_OP = 'INSERT' THEN 'task.created'
    WHEN OLD.status <> NEW.status THEN 'task.' || NEW.status
    ELSE 'task.updated' END;
  data jsonb := jsonb_build_object('projectId', NEW.project_id, 'metadata', NEW.metadata);
BEGIN
  NEW.last_event := NEW.last_event + 1;
  IF type = 'task.updated' THEN
    data := data || jsonb_build_object('changed', array_remove(ARRAY[
      CASE WHEN OLD.title <> NEW.title THEN 'title' END,
      CASE WHEN OLD.project_id IS DISTINCT FROM NEW.project_id THEN 'projectId' END,
      CASE WHEN OLD.budget IS DISTINCT FROM NEW.budget THEN 'budget' END,
      CASE WHEN OLD.metadata <> NEW.metadata THEN 'metadata' END,
      CASE WHEN OLD.created_by <> NEW.created_by THEN 'createdBy' END], NULL));
  ELSE
    data := data || jsonb_build_object(
      'status', NEW.status,
      'statusReason', NEW.status_reason,
      'source', jsonb_build_object('type', CASE WHEN NEW.automation_id IS NULL THEN 'api' ELSE 'automation' END,
        'automationId', NEW.automation_id, 'automationRunId', NEW.automation_run_id),
      'usage', jsonb_build_object('inputTokens', NEW.input_tokens, 'outputTokens', NEW.output_tokens,
        'cachedInputTokens', NEW.cached_input_tokens, 'reasoningTokens', NEW.reasoning_tokens, 'steps', NEW.steps,
        'toolCalls', NEW.tool_calls, 'durationMs', NEW.duration_ms,
        'cost', CASE WHEN NEW.cost_micros IS NOT NULL THEN jsonb_build_object(
          'amount', to_char(NEW.cost_micros::numeric / 1000000, 'FM9999999999990.009999'), 'currency', 'USD') END),
      'interactionId', NULL);
    IF NEW.status = 'awaiting_input' THEN
      -- The statement that asks inserts the interaction before it comes to the task.
      data := data || jsonb_build_object('interactionId', (
        SELECT i.id FROM interactions i WHERE i.task_id = NEW.id AND i.status = 'pending'));
    END IF;
  END IF;
  INSERT INTO task_events (task_id, seq, type, data) VALUES (NEW.id, NEW.last_event, type, data);
  INSERT INTO workspace_events (xid, workspace_id, task_id, seq, type, data)
  VALUES (pg_current_xact_id()::text::bigint, NEW.workspace_id, NEW.id, NEW.last_event, type, data);
  RETURN NEW;
END $$;
`;
