import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhooks and their deliveries (reference §18, docs/decisions/0059). */
export class Webhooks1797292800033 implements MigrationInterface {
  async up(db: QueryRunner): Promise<void> {
    await db.query(SQL);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations are forward-only: restore a backup instead.'));
  }
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

-- A UUIDv7 (RFC 9562, section 5.7): a trigger has no program that makes one.
CREATE FUNCTION uuid_v7_now() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING
    substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid
$$;

-- The id by which clients know an event.
CREATE FUNCTION event_key(event workspace_events) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(event.event_id::text, event.task_id::text || '-' || event.seq::text)
$$;

-- Whether a webhook with these types (\`task.completed\`, \`task.*\`, \`*\`) and this project is told of an event. An event of an
-- automation is of the automation's project.
CREATE FUNCTION webhook_wants(types text[], project_id uuid, event workspace_events) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT types && ARRAY[event.type, split_part(event.type, '.', 1) || '.*', '*'] AND (
    project_id IS NULL
    OR event.data ->> 'projectId' = project_id::text
    OR (event.type LIKE 'automation.%' AND EXISTS (
      SELECT 1 FROM automations a WHERE a.id = (event.data ->> 'automationId')::uuid AND a.project_id = webhook_wants.project_id)))
$$;

-- What is sent about an event: its data with the task and the number. The words of a reason may repeat what a task holds (the name of
-- a file, the answer of a model), so they stay here, and so does who made a task that is deleted: it decides who sees the event.
CREATE FUNCTION webhook_body(event workspace_events) RETURNS text LANGUAGE sql STABLE AS $$
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

-- Deliveries are rows of the transaction that makes the change.
CREATE FUNCTION deliver_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_deliveries (id, webhook_id, event_id, event_type, task_id, body)
  SELECT uuid_v7_now(), w.id, event_key(NEW), NEW.type, NEW.task_id, webhook_body(NEW)
  FROM webhooks w
  WHERE w.workspace_id = NEW.workspace_id AND w.status = 'enabled' AND webhook_wants(w.types, w.project_id, NEW);
  RETURN NULL;
END $$;
CREATE TRIGGER webhooks_of_event AFTER INSERT ON workspace_events FOR EACH ROW EXECUTE FUNCTION deliver_event();
`;
