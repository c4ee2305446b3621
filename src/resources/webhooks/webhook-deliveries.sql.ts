// The statements of deliveries that clients ask for. Those of the sender stand in src/work/deliveries.
import { WORKSPACE } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { NEW_ID } from '../../platform/database/ids.js';
import { raw, sql, text, textOrNull, time, uuid, uuidOrNull } from '../../platform/database/sql.js';
import { newestFirst } from '../../platform/http/pages.js';
import { BODY, EVENT_KEY, NAMES_OF_TYPE, OF_PROJECT } from './deliver-event.function.js';
import { type Attempt, WebhookDelivery } from './webhook-delivery.entity.js';

const DELIVERY = columns(WebhookDelivery, 'd', [
  'id',
  'webhookId',
  'eventId',
  'eventType',
  'taskId',
  'status',
  'attempts',
  'nextAttemptAt',
  'redelivery',
  'createdAt',
]);
const WHOLE = columns(WebhookDelivery, 'd', ['body', 'attemptLog']);
const SHOWN = sql`${DELIVERY}, d.attempt_log -> -1 AS "lastAttempt"`;
export type DeliveryRow = typeof DELIVERY.row & { lastAttempt: Attempt | null };
export type WholeDeliveryRow = DeliveryRow & typeof WHOLE.row;

const HOOK_ID = uuid('webhookId');
const ID = uuid('id');
const STATUS = textOrNull('status');
const TYPE = textOrNull('type');
const TASK = uuidOrNull('taskId');
/** The webhook is one of the caller's workspace. */
const OWN = sql`w.workspace_id = ${WORKSPACE} AND w.id = ${HOOK_ID}`;

/** A row if the webhook is there. */
export const HAS = sql`SELECT 1 FROM webhooks w WHERE ${OWN}`.rows();

export const LIST = sql`
SELECT ${SHOWN} FROM webhooks w JOIN webhook_deliveries d ON d.webhook_id = w.id
WHERE ${OWN} AND (${STATUS} IS NULL OR d.status = ${STATUS}) AND (${TYPE} IS NULL OR d.event_type = ${TYPE})
  AND (${TASK} IS NULL OR d.task_id = ${TASK}) ${newestFirst('d')}`.rows<DeliveryRow>();

export const GET = sql`
SELECT ${SHOWN}, ${WHOLE} FROM webhooks w JOIN webhook_deliveries d ON d.webhook_id = w.id
WHERE ${OWN} AND d.id = ${ID}`.rows<WholeDeliveryRow>();

/** Holds the task of an event, so that its deletion, which withdraws its deliveries, comes before or after all of this. */
export const HOLD_TASK = sql`SELECT 1 FROM tasks WHERE id = ${uuid('taskId')} FOR KEY SHARE`.rows();

/** What of a delivery to a disabled webhook: nothing but tests is sent to it. */
const STANDING =
  raw(`CASE WHEN w.status = 'enabled' OR d.event_type = 'webhook.test' THEN 'pending' ELSE 'cancelled' END,
  CASE WHEN w.status = 'enabled' OR d.event_type = 'webhook.test' THEN clock_timestamp() END`);

export const REDELIVER = sql`
INSERT INTO webhook_deliveries AS d (id, webhook_id, event_id, event_type, task_id, body, redelivery, status, next_attempt_at)
SELECT ${uuid('newId')}, w.id, d.event_id, d.event_type, d.task_id, d.body, true, ${STANDING}
FROM webhooks w JOIN webhook_deliveries d ON d.webhook_id = w.id WHERE ${OWN} AND d.id = ${ID}
RETURNING ${SHOWN}`.rows<DeliveryRow>();

export const TEST = sql`
INSERT INTO webhook_deliveries AS d (id, webhook_id, event_id, event_type, body)
SELECT ${ID}, w.id, ${text('eventId')}, 'webhook.test', ${text('body')} FROM webhooks w WHERE ${OWN}
RETURNING ${SHOWN}`.rows<DeliveryRow>();

/** How many deliveries one request makes: a transaction that writes for long holds up all who read the log of events. */
export const MOST_RECOVERED = 10_000;

const NARROW = textOrNull('narrow');
const TYPES = raw(NAMES_OF_TYPE);

/**
 * One delivery of each event in the log, the oldest first, that the webhook wants now, was there for, and has neither got nor waits for.
 * None for a disabled one. `narrow`: types that count, comma-separated; null for all of the webhook's.
 */
export const RECOVER = sql`
WITH wanted AS MATERIALIZED (
  SELECT w.id AS webhook_id, e.xid, e.id, e.type, e.task_id FROM webhooks w JOIN workspace_events e ON e.workspace_id = w.workspace_id
  WHERE ${OWN} AND w.status = 'enabled' AND e.created_at >= greatest(${time('since')}, w.created_at)
    AND w.types && ${TYPES} AND (${NARROW} IS NULL OR string_to_array(${NARROW}, ',') && ${TYPES}) AND ${raw(OF_PROJECT)}
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d
      WHERE d.webhook_id = w.id AND d.event_id = ${raw(EVENT_KEY)} AND d.status IN ('delivered', 'pending'))
  ORDER BY e.xid, e.id LIMIT ${raw(String(MOST_RECOVERED))}),
held AS MATERIALIZED (
  SELECT id FROM tasks WHERE id IN (SELECT task_id FROM wanted) ORDER BY id FOR KEY SHARE)
INSERT INTO webhook_deliveries (id, webhook_id, event_id, event_type, task_id, body, redelivery)
SELECT ${raw(NEW_ID)}, n.webhook_id, ${raw(EVENT_KEY)}, e.type, e.task_id, ${raw(BODY)}, true
FROM wanted n JOIN workspace_events e ON (e.xid, e.id) = (n.xid, n.id)
WHERE n.type = 'task.deleted' OR n.task_id IS NULL OR n.task_id IN (SELECT id FROM held)
ORDER BY n.xid, n.id
RETURNING 1`.rows();

/** In small batches, each a transaction of its own. */
export const PURGE_BATCH = 500;
/** What is older than 30 days, and what is left of webhooks that are gone. */
export const PURGE = sql`
WITH RECURSIVE hook AS (
  (SELECT webhook_id AS id FROM webhook_deliveries ORDER BY webhook_id LIMIT 1)
  UNION ALL
  SELECT (SELECT d.webhook_id FROM webhook_deliveries d WHERE d.webhook_id > hook.id ORDER BY d.webhook_id LIMIT 1)
  FROM hook WHERE hook.id IS NOT NULL)
DELETE FROM webhook_deliveries WHERE id = ANY(ARRAY(
  SELECT d.id FROM hook CROSS JOIN LATERAL (
    SELECT CASE WHEN EXISTS (SELECT 1 FROM webhooks w WHERE w.id = hook.id) THEN now() - interval '30 days' ELSE 'infinity' END AS before) kept
  CROSS JOIN LATERAL (
    SELECT d.id FROM webhook_deliveries d WHERE d.webhook_id = hook.id AND d.created_at < kept.before
    ORDER BY d.created_at, d.id LIMIT ${raw(String(PURGE_BATCH))} FOR UPDATE SKIP LOCKED) d
  LIMIT ${raw(String(PURGE_BATCH))}))
RETURNING 1`.rows();

/** Of a workspace that is deleted; the webhooks go after them. */
export const DELETE_SOME = sql`
DELETE FROM webhook_deliveries WHERE id = ANY(ARRAY(
  SELECT d.id FROM webhooks w JOIN webhook_deliveries d ON d.webhook_id = w.id WHERE w.workspace_id = ${uuid('workspaceId')} LIMIT 2000))
RETURNING 1`.rows();
