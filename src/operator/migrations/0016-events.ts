import { ForwardMigration } from '../../platform/database/forward-migration.js';
import { RECORD_TASK_EVENT } from '../../resources/tasks/events/record-task-event.function.js';

/** The log of events (reference §17, docs/decisions/0032). */
export class Events1795823400016 extends ForwardMigration {
  readonly sql = [SQL, BACKFILL, RECORD_TASK_EVENT];
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
