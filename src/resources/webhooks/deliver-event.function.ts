/** A UUIDv7 (RFC 9562, section 5.7): a trigger has no program that makes one. */
export const UUID_V7_NOW = `
CREATE OR REPLACE FUNCTION uuid_v7_now() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING
    substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid
$$;
`;

/** The id by which clients know an event. */
export const EVENT_KEY = `
CREATE OR REPLACE FUNCTION event_key(event workspace_events) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(event.event_id::text, event.task_id::text || '-' || event.seq::text)
$$;
`;

/**
 * Whether a webhook with these types (`task.completed`, `task.*`, `*`) and this project is told of an event. An event of an automation is of the
 * automation's project.
 */
export const WEBHOOK_WANTS = `
CREATE OR REPLACE FUNCTION webhook_wants(types text[], project_id uuid, event workspace_events) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT types && ARRAY[event.type, split_part(event.type, '.', 1) || '.*', '*'] AND (
    project_id IS NULL
    OR event.data ->> 'projectId' = project_id::text
    OR (event.type LIKE 'automation.%' AND EXISTS (
      SELECT 1 FROM automations a WHERE a.id = (event.data ->> 'automationId')::uuid AND a.project_id = webhook_wants.project_id)))
$$;
`;

/**
 * What is sent about an event: its data with the task and the number. The words of a reason may repeat what a task holds (the name of
 * a file, the answer of a model), so they stay here, and so does who made a task that is deleted: it decides who sees the event.
 */
export const WEBHOOK_BODY = `
CREATE OR REPLACE FUNCTION webhook_body(event workspace_events) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT json_build_object(
    'id', event_key(event),
    'type', event.type,
    'timestamp', to_char(event.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'data', (SELECT jsonb_object_agg(key, CASE
        WHEN key IN ('statusReason', 'reason') AND jsonb_typeof(value) = 'object'
        THEN value || '{"message": "The words of a reason are not sent; the service has them."}'
        ELSE value END)
      FROM jsonb_each(event.data - 'createdBy' || jsonb_build_object('taskId', event.task_id, 'seq', event.seq))))::text
$$;
`;

/** Writes a delivery for each webhook that wants an event. Deliveries are rows of the transaction that makes the change (docs/decisions/0059). */
export const DELIVER_EVENT = `
CREATE OR REPLACE FUNCTION deliver_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_deliveries (id, webhook_id, event_id, event_type, task_id, body)
  SELECT uuid_v7_now(), w.id, event_key(NEW), NEW.type, NEW.task_id, webhook_body(NEW)
  FROM webhooks w
  WHERE w.workspace_id = NEW.workspace_id AND w.status = 'enabled' AND webhook_wants(w.types, w.project_id, NEW);
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER webhooks_of_event AFTER INSERT ON workspace_events FOR EACH ROW EXECUTE FUNCTION deliver_event();
`;
