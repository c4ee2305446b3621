// Who sends a delivery, and what became of it. Processes take deliveries one after the other (LOCKS.webhookClaims): what others have
// under way counts. Locks are taken in the order webhooks by id, deliveries.
import { columns } from '../../platform/database/columns.js';
import { LOCKS } from '../../platform/database/locks.js';
import { int, ints, jsonb, raw, sql, uuids } from '../../platform/database/sql.js';
import { type Attempt, WebhookDelivery } from '../../resources/webhooks/webhook-delivery.entity.js';
import { Webhook } from '../../resources/webhooks/webhook.entity.js';

/** Requests at once to one webhook, and to one that has failed since its last success. */
const MOST_OF_WEBHOOK = 8;
const MOST_OF_FAILING = 1;
/** Seconds: longer than an attempt with its record. After a crash others wait so long. */
const LEASE_SECONDS = 30;
/** When a webhook counts as dead (reference §18). */
const FAILED_DAYS = 5;
const FAILED_ATTEMPTS = 20;

/** The webhooks that something waits for, one after the other: each look is at one entry of the index. */
const WAITED_FOR = raw(`hook AS (
  (SELECT webhook_id AS id FROM webhook_deliveries WHERE status = 'pending' ORDER BY webhook_id LIMIT 1)
  UNION ALL
  SELECT (SELECT d.webhook_id FROM webhook_deliveries d WHERE d.status = 'pending' AND d.webhook_id > hook.id ORDER BY d.webhook_id LIMIT 1)
  FROM hook WHERE hook.id IS NOT NULL)`);

/** Of a delivery \`d\`: it is due, and no process has it. */
const DUE = raw(
  `d.status = 'pending' AND d.next_attempt_at <= now() AND (d.lease_until IS NULL OR d.lease_until <= now())`,
);

/** A row if there may be something to send. */
export const LOOK = sql`
WITH RECURSIVE ${WAITED_FOR}
SELECT 1 FROM hook WHERE EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.webhook_id = hook.id AND ${DUE}) LIMIT 1`.rows();

/** Held until the transaction ends. */
export const TAKE_TURN = sql`SELECT pg_advisory_xact_lock(${raw(String(LOCKS.webhookClaims))})`.rows();

const DELIVERY = columns(WebhookDelivery, 'd', [
  'id',
  'epoch',
  'webhookId',
  'eventId',
  'eventType',
  'body',
  'attempts',
]);
const WEBHOOK = columns(Webhook, 'w', ['workspaceId', 'address', 'secret', 'previousSecret']);
/** `former`: the previous secret signs too. */
export type ClaimedDelivery = typeof DELIVERY.row & typeof WEBHOOK.row & { former: boolean };

/**
 * Takes what is due, by the turns of the workspaces, and in a workspace of its webhooks; for a caller who has the turn of the processes.
 * `heldWorkspaces` and `heldCounts`: how much this process has of which; a workspace has at most `share` of its `places`.
 */
export const CLAIM = sql`
WITH RECURSIVE ${WAITED_FOR},
room AS MATERIALIZED (
  SELECT w.id, w.workspace_id, w.status = 'enabled' AS enabled,
    CASE WHEN w.failing_since IS NULL THEN ${raw(String(MOST_OF_WEBHOOK))} ELSE ${raw(String(MOST_OF_FAILING))} END - (
      SELECT count(*)::int FROM webhook_deliveries o WHERE o.webhook_id = w.id AND o.lease_until > now()) AS places
  FROM hook JOIN webhooks w ON w.id = hook.id),
open AS MATERIALIZED (
  SELECT next.id, next.next_attempt_at, r.workspace_id, row_number() OVER (PARTITION BY r.id ORDER BY next.next_attempt_at, next.id) AS nth
  FROM room r CROSS JOIN LATERAL (
    SELECT d.id, d.next_attempt_at FROM webhook_deliveries d
    WHERE d.webhook_id = r.id AND ${DUE} AND (r.enabled OR d.event_type = 'webhook.test')
    ORDER BY d.next_attempt_at, d.id LIMIT greatest(0, r.places) FOR UPDATE SKIP LOCKED) next),
turned AS (
  SELECT o.id, o.next_attempt_at, coalesce(h.n, 0) + row_number() OVER (
    PARTITION BY o.workspace_id ORDER BY o.nth, o.next_attempt_at, o.id) AS turn
  FROM open o LEFT JOIN unnest(${uuids('heldWorkspaces')}, ${ints('heldCounts')}) AS h(workspace_id, n) ON h.workspace_id = o.workspace_id),
due AS MATERIALIZED (
  SELECT id FROM turned WHERE turn <= ${int('share')} ORDER BY turn, next_attempt_at, id LIMIT ${int('places')})
UPDATE webhook_deliveries d SET epoch = d.epoch + 1,
  lease_until = clock_timestamp() + make_interval(secs => ${raw(String(LEASE_SECONDS))})
FROM webhooks w WHERE d.id = ANY(ARRAY(SELECT id FROM due)) AND w.id = d.webhook_id
RETURNING ${DELIVERY}, ${WEBHOOK}, coalesce(w.previous_secret_until > clock_timestamp(), false) AS former`.rows<ClaimedDelivery>();

/** What became of an attempt. */
export interface Result {
  id: string;
  epoch: number;
  webhookId: string;
  /** Where the attempt went. */
  address: string;
  attempt: Attempt;
  delivered: boolean;
  /** The endpoint says that it is no more. */
  gone: boolean;
  /** Seconds until the next attempt; null: there is none. */
  wait: number | null;
}

const GONE = `{"code": "gone", "message": "The endpoint answered 410: it is no more."}`;
const FAILING = `{"code": "failing", "message": "No delivery has succeeded for ${FAILED_DAYS} days."}`;
const ENDS =
  raw(`(t.gone OR (NOT t.delivered AND coalesce(w.failing_since <= now() - interval '${FAILED_DAYS} days', false)
  AND w.failed_attempts + t.failed >= ${FAILED_ATTEMPTS}))`);

/** An earlier address of the webhook says that it is no more: the delivery goes to the one that the webhook has now. */
const MOVED = raw(`(r.gone AND h.address <> r.address AND d.status = 'pending' AND d.event_type <> 'webhook.test')`);

/**
 * Records attempts that this process still holds, and counts them for the address that they went to; answers the webhooks of them that are disabled by now. One that was cancelled
 * meanwhile stays so, unless it came to an end. What another transaction holds is being deleted.
 */
export const RECORD = sql`
WITH result AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset(${jsonb<readonly Result[]>()('results')}) AS r(
    id uuid, epoch int, "webhookId" uuid, address text, attempt jsonb, delivered boolean, gone boolean, wait float8)),
hook AS MATERIALIZED (
  SELECT id, address FROM webhooks WHERE id IN (SELECT "webhookId" FROM result) ORDER BY id FOR NO KEY UPDATE),
held AS MATERIALIZED (
  SELECT d.id FROM webhook_deliveries d JOIN result r ON r.id = d.id AND r.epoch = d.epoch
  WHERE d.webhook_id IN (SELECT id FROM hook) FOR UPDATE OF d SKIP LOCKED),
recorded AS (
  UPDATE webhook_deliveries d SET
    status = CASE WHEN r.delivered THEN 'delivered' WHEN r.wait IS NULL AND NOT ${MOVED} THEN 'failed' ELSE d.status END,
    next_attempt_at = CASE WHEN ${MOVED} THEN now() WHEN r.wait IS NOT NULL AND d.status = 'pending' THEN now() + make_interval(secs => r.wait) END,
    attempts = d.attempts + 1, attempt_log = d.attempt_log || r.attempt, lease_until = NULL
  FROM result r JOIN hook h ON h.id = r."webhookId" WHERE d.id = ANY(ARRAY(SELECT id FROM held)) AND r.id = d.id
  RETURNING d.webhook_id, r.delivered, r.gone, h.address = r.address AS here),
total AS (
  SELECT webhook_id AS id, bool_or(delivered) AS delivered, bool_or(gone) AS gone, count(*) FILTER (WHERE NOT delivered)::int AS failed
  FROM recorded WHERE here GROUP BY webhook_id),
told AS (
  UPDATE webhooks w SET
    last_success_at = CASE WHEN t.delivered THEN now() ELSE w.last_success_at END,
    failing_since = CASE WHEN NOT t.delivered THEN coalesce(w.failing_since, now()) END,
    failed_attempts = CASE WHEN t.delivered THEN 0 ELSE w.failed_attempts + t.failed END,
    disabled_reason = CASE WHEN w.status = 'disabled' OR NOT ${ENDS} THEN w.disabled_reason
      WHEN t.gone THEN '${raw(GONE)}'::jsonb ELSE '${raw(FAILING)}'::jsonb END,
    updated_at = CASE WHEN w.status = 'enabled' AND ${ENDS} THEN now() ELSE w.updated_at END,
    status = CASE WHEN ${ENDS} THEN 'disabled' ELSE w.status END
  FROM total t WHERE w.id = t.id RETURNING w.id, w.status)
SELECT id FROM told WHERE status = 'disabled'`.rows<{ id: string }>();

/** Lets go of attempts that were broken off: others begin anew. */
export const HAND_BACK = sql`
UPDATE webhook_deliveries d SET lease_until = NULL
FROM unnest(${uuids('ids')}, ${ints('epochs')}) AS h(id, epoch) WHERE d.id = h.id AND d.epoch = h.epoch`.rows();

/** When no other process can have a delivery. */
export const END_LEASES = sql`UPDATE webhook_deliveries SET lease_until = NULL WHERE lease_until IS NOT NULL`.rows();

/** What is due, and how long the first of it has been, in seconds. */
export const FIGURES = sql`
WITH RECURSIVE ${WAITED_FOR}
SELECT coalesce(sum(due.n), 0)::float8 AS waiting, coalesce(extract(epoch FROM now() - min(due.first)), 0)::float8 AS age
FROM hook JOIN webhooks w ON w.id = hook.id AND w.status = 'enabled' CROSS JOIN LATERAL (
  SELECT count(*) AS n, min(d.next_attempt_at) AS first FROM webhook_deliveries d WHERE d.webhook_id = hook.id AND ${DUE}) due`.rows<{
  waiting: number;
  age: number;
}>();
