import { sourceType } from '../source-type.js';

/** What clients see of the pull request. */
const PULL_REQUEST = (row: 'OLD' | 'NEW') =>
  `(${row}.repository #>> '{push,pullRequestUrl}', ${row}.repository #>> '{push,pullRequestState}')`;

/**
 * The status moved. A queued task that is paused or resumed stays `queued`, and is told of as one that becomes so: its `statusReason` is
 * another one, and it waits for a worker from then on, or no more.
 */
const MOVED = `(OLD.status <> NEW.status
    OR NEW.status = 'queued' AND (OLD.paused, OLD.status_reason) IS DISTINCT FROM (NEW.paused, NEW.status_reason))`;

/**
 * Writes one event for each change of a task's row, to `task_events` and `workspace_events`: created, status changed, or fields changed by a
 * PATCH, a wait, a network, a pull request, a hand-over or the end of its project. The triggers below call it. A person who sends something to an archived task brings it
 * back: `task.updated` comes first, then the status. The statements that change a task write all its other events themselves, with lower
 * numbers. What is sent of the events: src/resources/webhooks/deliver-event.function.ts.
 *
 * When the status changes, it also clears what the run has waited for, and at the end of the turn the pause.
 *
 * A BEFORE trigger can still change the row. So `last_event` rises in the same statement, and no task changes without its event
 * (docs/decisions/0032).
 */
export const RECORD_TASK_EVENT = `
CREATE OR REPLACE FUNCTION record_task_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  type text := CASE
    WHEN TG_OP = 'INSERT' THEN 'task.created'
    WHEN ${MOVED} THEN 'task.' || NEW.status
    ELSE 'task.updated' END;
  data jsonb := jsonb_build_object('projectId', NEW.project_id, 'metadata', NEW.metadata);
BEGIN
  NEW.last_event := NEW.last_event + 1;
  IF type <> 'task.created' AND type <> 'task.updated' AND OLD.archived <> NEW.archived THEN
    INSERT INTO task_events (task_id, seq, type, data)
    VALUES (NEW.id, NEW.last_event, 'task.updated', data || '{"changed": ["archived"]}');
    INSERT INTO workspace_events (xid, workspace_id, task_id, seq, type, data)
    VALUES (pg_current_xact_id()::text::bigint, NEW.workspace_id, NEW.id, NEW.last_event, 'task.updated',
      data || '{"changed": ["archived"]}');
    NEW.last_event := NEW.last_event + 1;
  END IF;
  IF type = 'task.updated' THEN
    data := data || jsonb_build_object('changed', array_remove(ARRAY[
      CASE WHEN OLD.title <> NEW.title THEN 'title' END,
      CASE WHEN OLD.project_id IS DISTINCT FROM NEW.project_id THEN 'projectId' END,
      CASE WHEN OLD.budget IS DISTINCT FROM NEW.budget THEN 'budget' END,
      CASE WHEN OLD.metadata <> NEW.metadata THEN 'metadata' END,
      CASE WHEN OLD.tags <> NEW.tags THEN 'tags' END,
      CASE WHEN OLD.archived <> NEW.archived THEN 'archived' END,
      CASE WHEN OLD.model <> NEW.model THEN 'model' END,
      CASE WHEN OLD.effort IS DISTINCT FROM NEW.effort THEN 'effort' END,
      CASE WHEN OLD.when_blocked <> NEW.when_blocked THEN 'whenBlocked' END,
      CASE WHEN OLD.mcp_servers <> NEW.mcp_servers THEN 'mcpServers' END,
      CASE WHEN OLD.checks IS DISTINCT FROM NEW.checks THEN 'checks' END,
      CASE WHEN OLD.network IS DISTINCT FROM NEW.network THEN 'network' END,
      CASE WHEN OLD.waiting_for IS DISTINCT FROM NEW.waiting_for THEN 'waitingFor' END,
      CASE WHEN OLD.status_reason IS DISTINCT FROM NEW.status_reason THEN 'statusReason' END,
      CASE WHEN OLD.resumes_at IS DISTINCT FROM NEW.resumes_at THEN 'resumesAt' END,
      CASE WHEN ${PULL_REQUEST('OLD')} IS DISTINCT FROM ${PULL_REQUEST('NEW')} THEN 'pullRequest' END,
      CASE WHEN OLD.created_by <> NEW.created_by THEN 'createdBy' END], NULL));
  ELSE
    -- A worker that is lost tells nobody that its wait is over (docs/decisions/0074).
    NEW.waiting_for := NULL;
    IF NEW.status IN ('completed', 'failed', 'cancelled') THEN
      -- A pause that was asked for while the turn came to its end.
      NEW.paused := false;
      NEW.resumes_at := NULL;
    END IF;
    IF type = 'task.created' THEN
      data := data || jsonb_build_object('parentTaskId', NEW.parent_task_id);
    END IF;
    data := data || jsonb_build_object(
      'status', NEW.status,
      'statusReason', NEW.status_reason,
      'source', jsonb_build_object('type', ${sourceType('NEW')},
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
CREATE OR REPLACE TRIGGER event_of_creation BEFORE INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION record_task_event();
`;

/** A column that clients may change stands here, and in `changed` above. Of `repository` only what is said of the pull request is told. */
export const EVENTS_OF_CHANGES = `
CREATE OR REPLACE TRIGGER event_of_status BEFORE UPDATE OF status, paused ON tasks FOR EACH ROW
  WHEN (${MOVED}) EXECUTE FUNCTION record_task_event();
CREATE OR REPLACE TRIGGER event_of_update BEFORE UPDATE OF title, project_id, budget, metadata, tags, archived, model, effort, when_blocked, mcp_servers, checks, created_by, waiting_for, network, repository, paused, resumes_at
  ON tasks
  FOR EACH ROW
  WHEN (NOT ${MOVED}
    AND (OLD.title, OLD.project_id, OLD.budget, OLD.metadata, OLD.tags, OLD.archived, OLD.model, OLD.effort, OLD.when_blocked, OLD.mcp_servers, OLD.checks, OLD.created_by, OLD.waiting_for, OLD.paused, OLD.resumes_at, OLD.network, ${PULL_REQUEST('OLD')})
    IS DISTINCT FROM
      (NEW.title, NEW.project_id, NEW.budget, NEW.metadata, NEW.tags, NEW.archived, NEW.model, NEW.effort, NEW.when_blocked, NEW.mcp_servers, NEW.checks, NEW.created_by, NEW.waiting_for, NEW.paused, NEW.resumes_at, NEW.network, ${PULL_REQUEST('NEW')}))
  EXECUTE FUNCTION record_task_event();
`;
