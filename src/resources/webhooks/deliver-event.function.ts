// SQL that makes a delivery to a webhook `w` of an event `e` of `workspace_events`. The trigger uses it, and so does `RECOVER`
// (webhook-deliveries.sql.ts), which adds deliveries that were missed. It is not a function of SQL: PostgreSQL would not inline it, and each call costs
// 30 µs, half a minute for a million events.
import { NEW_ID } from '../../platform/database/ids.js';

/** The id by which clients know the event. */
export const EVENT_KEY = `coalesce(e.event_id::text, e.task_id::text || '-' || e.seq::text)`;

/** The entries of a webhook's types that match the event: `task.completed`, `task.*` or `*`. */
export const NAMES_OF_TYPE = `ARRAY[e.type, split_part(e.type, '.', 1) || '.*', '*']`;

/** True when the webhook has no project, or the event is of that project. An event of an automation is of the automation's project. */
export const OF_PROJECT = `(w.project_id IS NULL OR e.data ->> 'projectId' = w.project_id::text OR (e.type LIKE 'automation.%' AND EXISTS (
    SELECT 1 FROM automations a WHERE a.id = (e.data ->> 'automationId')::uuid AND a.project_id = w.project_id)))`;

/**
 * The body that is sent: the event's data, the id of the task and the number. The words of a reason are left out, because they may repeat the name
 * of a file or the answer of a model. `createdBy` is left out too: it only decides who may see the event of a deleted task.
 */
export const BODY = `json_build_object(
    'id', ${EVENT_KEY},
    'type', e.type,
    'timestamp', to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'data', (SELECT jsonb_object_agg(key, CASE
        WHEN key IN ('statusReason', 'reason') AND jsonb_typeof(value) = 'object'
        THEN value || '{"message": "The words of a reason are not sent; the service has them."}'
        ELSE value END)
      FROM jsonb_each(e.data - 'createdBy' || jsonb_build_object('taskId', e.task_id, 'seq', e.seq))))::text`;

/**
 * Writes a delivery for each webhook that wants an event. The trigger below calls it, for events of tasks
 * (src/resources/tasks/events/record-task-event.function.ts) and for those of `EventLog.append`. src/work/deliveries/delivery-sender.ts sends them.
 *
 * It is a trigger, so no statement can skip it. A delivery commits with the change that causes it (docs/decisions/0059).
 */
export const DELIVER_EVENT = `
CREATE OR REPLACE FUNCTION deliver_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- To begin the statement below costs 10 µs, also where it finds nothing; most workspaces have no webhook.
  IF NOT EXISTS (SELECT FROM webhooks w WHERE w.workspace_id = NEW.workspace_id AND w.status = 'enabled') THEN
    RETURN NULL;
  END IF;
  INSERT INTO webhook_deliveries (id, webhook_id, event_id, event_type, task_id, body)
  SELECT ${NEW_ID}, w.id, ${EVENT_KEY}, e.type, e.task_id, ${BODY}
  FROM (SELECT NEW.*) e JOIN webhooks w ON w.workspace_id = e.workspace_id
  WHERE w.status = 'enabled' AND w.types && ${NAMES_OF_TYPE} AND ${OF_PROJECT};
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER webhooks_of_event AFTER INSERT ON workspace_events FOR EACH ROW EXECUTE FUNCTION deliver_event();
`;
