import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The log of events (reference §17, docs/decisions/0032). */
export class Events1795823400016 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(SQL);
    await db.query(BACKFILL);
    await db.query(TRIGGERS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
}

const SQL = `
-- The number of the task's last event. Numbers come from the lock of the task's row, so they are in the order of the commits.
ALTER TABLE tasks ADD COLUMN last_event int NOT NULL DEFAULT 0;

-- Each change of a task. No foreign key, which would cost every step a look-up: the statement that deletes a task deletes these.
CREATE TABLE task_events (
  task_id uuid NOT NULL,
  seq int NOT NULL,
  type text NOT NULL,
  -- The message, the file or the interaction that it is about; a reader fills it in.
  ref uuid,
  -- What must not change afterwards.
  data jsonb,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (task_id, seq)
);

-- The events of all tasks and automations that are for handlers too, read in the order (xid, id) below the oldest open
-- transaction. By id alone a reader would pass over what commits late.
CREATE TABLE workspace_events (
  -- pg_current_xact_id() of the transaction that writes the event.
  xid bigint NOT NULL,
  id bigserial NOT NULL,
  workspace_id uuid NOT NULL,
  task_id uuid,
  -- The number among the events of the task; null with an event_id.
  seq int,
  event_id uuid,
  type text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (xid, id),
  CHECK ((seq IS NULL) <> (event_id IS NULL))
);
CREATE INDEX workspace_events_order ON workspace_events (workspace_id, xid, id);
CREATE INDEX workspace_events_task ON workspace_events (task_id) WHERE task_id IS NOT NULL;

-- How far each handler has read.
CREATE TABLE event_handlers (
  name text PRIMARY KEY,
  xid bigint NOT NULL,
  id bigint NOT NULL,
  -- How often it has failed at its next event, and until when it rests.
  failures int NOT NULL DEFAULT 0,
  retry_at timestamptz(3),
  -- When a process last had it.
  seen_at timestamptz(3) NOT NULL DEFAULT now()
);
`;

/** Tasks that are older than their events: their messages as they are, and their status. Handlers have no interest in these. */
export const BACKFILL = `
WITH known AS (
  SELECT m.task_id, m.seq AS place, 0 AS nth, CASE m.status WHEN 'complete' THEN 'message.completed' ELSE 'message.created' END AS type,
    m.id AS ref, CASE m.status WHEN 'in_progress' THEN jsonb_build_object('parts', jsonb_array_length(m.parts)) END AS data, m.created_at
  FROM messages m
  UNION ALL
  SELECT m.task_id, m.seq, v.idx + 1, 'tool.completed', m.id, jsonb_build_object('toolCallId', v.tool_call_id), v.finished_at
  FROM messages m JOIN tool_invocations v ON v.message_id = m.id WHERE m.status = 'in_progress' AND v.state <> 'running'
  UNION ALL
  SELECT t.id, t.last_seq + 1, 0, 'task.' || t.status, NULL, jsonb_build_object('status', t.status, 'statusReason', t.status_reason,
    'projectId', t.project_id, 'source', jsonb_build_object('type', 'api', 'automationId', NULL, 'automationRunId', NULL),
    'metadata', t.metadata, 'usage', NULL, 'interactionId', NULL), t.updated_at
  FROM tasks t),
written AS (
  INSERT INTO task_events (task_id, seq, type, ref, data, created_at)
  SELECT task_id, row_number() OVER (PARTITION BY task_id ORDER BY place, nth), type, ref, data, created_at FROM known)
UPDATE tasks t SET last_event = k.n FROM (SELECT task_id, count(*) AS n FROM known GROUP BY task_id) k WHERE t.id = k.task_id;
`;

const TRIGGERS = `
-- The events of a change of the task's own row: its status (with all that is told of it), or what a PATCH, a hand-over or the end
-- of its project changes. In a BEFORE trigger the number is part of the change itself, and no statement can move a task without
-- its event. Events that the statement writes by itself come before it.
CREATE FUNCTION record_task_event() RETURNS trigger LANGUAGE plpgsql AS $$
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
        'toolCalls', NEW.tool_calls, 'durationMs', NEW.duration_ms, 'cost', NULL),
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
CREATE TRIGGER event_of_creation BEFORE INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION record_task_event();
CREATE TRIGGER event_of_status BEFORE UPDATE OF status ON tasks FOR EACH ROW
  WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION record_task_event();
CREATE TRIGGER event_of_update BEFORE UPDATE OF title, project_id, budget, metadata, created_by ON tasks FOR EACH ROW
  WHEN (OLD.status = NEW.status AND (OLD.title, OLD.project_id, OLD.budget, OLD.metadata, OLD.created_by)
    IS DISTINCT FROM (NEW.title, NEW.project_id, NEW.budget, NEW.metadata, NEW.created_by))
  EXECUTE FUNCTION record_task_event();
`;
