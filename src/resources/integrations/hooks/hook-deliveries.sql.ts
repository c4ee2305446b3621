// The statements of deliveries. A delivery has its effect in one transaction: held connection, entry, job.
import { columns } from '../../../platform/database/columns.js';
import { bytesOrNull, raw, sql, text, textOrNull, uuid } from '../../../platform/database/sql.js';
import { HookDelivery } from '../hook-delivery.entity.js';

/** How many a log shows. */
const SHOWN = 100;
/** How many entries without an effect are kept for a connection: the others of the {@link SHOWN} always have room. */
const WITHOUT_EFFECT = 50;

const ENTRY_COLUMNS = columns(HookDelivery, 'd', ['event', 'deliveryId', 'verdict']);
/** An entry of the log with the ids of the runs that it made; `at` as PostgreSQL writes it into JSON. */
export type DeliveryRow = typeof ENTRY_COLUMNS.row & { at: string; runIds: string[] };

/** An entry `d`. */
export const ENTRY = sql`${ENTRY_COLUMNS}, d.created_at AS at`;
/** The runs `r` that it made, of automations `a`. */
export const RUNS = raw(
  'SELECT r.id FROM automation_runs r JOIN automations a ON a.id = r.automation_id WHERE r.delivery_id = d.id',
);
/** The entries of connections `c`. */
export const ENTRIES = sql`FROM connections c CROSS JOIN LATERAL (
  SELECT * FROM hook_deliveries WHERE connection_id = c.id ORDER BY id DESC LIMIT ${raw(String(SHOWN))}) d`;
/** The newest first. */
export const LAST = sql`ORDER BY d.id DESC LIMIT ${raw(String(SHOWN))}`;

export const LOG = sql`
SELECT ${ENTRY}, ARRAY(${RUNS} ORDER BY r.id) AS "runIds" ${ENTRIES} WHERE c.id = ${uuid('id')} ${LAST}`.jsonRows<DeliveryRow>();

/**
 * Holds a connection, so that its end comes before or after all of this; no row: it has ended. With what its active automations wait for,
 * and how many bytes of payloads wait for a worker.
 */
export const HOLD = sql`
SELECT ARRAY(SELECT DISTINCT a.trigger_event FROM automations a
  WHERE a.connection_id = c.id AND a.status = 'active' AND a.trigger_event IS NOT NULL) AS triggers,
  (SELECT coalesce(sum(octet_length(d.payload)), 0)::int FROM hook_deliveries d
   WHERE d.connection_id = c.id AND d.payload IS NOT NULL) AS "waitingBytes"
FROM connections c WHERE c.id = ${uuid('connectionId')} FOR KEY SHARE`.rows<{
  triggers: string[];
  waitingBytes: number;
}>();

/** No row for a delivery that was taken before. One that comes at the same moment waits here until the first is committed. */
export const ACCEPT = sql`
INSERT INTO hook_deliveries (id, connection_id, dedupe_key, verdict, event, delivery_id, payload)
VALUES (${uuid('id')}, ${uuid('connectionId')}, ${text('dedupeKey')}, ${text('verdict')}, ${text('event')},
  ${textOrNull('deliveryId')}, ${bytesOrNull('payload')})
ON CONFLICT (connection_id, dedupe_key) DO NOTHING RETURNING id`.rows<{ id: string }>();

/** An entry without an effect, in place of the oldest one where there are too many. Nothing for a connection that has ended. */
export const NOTE = sql`
WITH held AS (SELECT id FROM connections WHERE id = ${uuid('connectionId')} FOR KEY SHARE),
old AS (DELETE FROM hook_deliveries WHERE id = ANY(ARRAY(
  SELECT id FROM hook_deliveries WHERE connection_id = ${uuid('connectionId')} AND dedupe_key IS NULL
  ORDER BY id DESC OFFSET ${raw(String(WITHOUT_EFFECT - 1))})))
INSERT INTO hook_deliveries (id, connection_id, verdict, event, delivery_id)
SELECT ${uuid('id')}, held.id, ${text('verdict')}, ${textOrNull('event')}, ${textOrNull('deliveryId')} FROM held
RETURNING created_at AS at`.rows<{ at: Date }>();

/** In small batches, each a transaction of its own. */
export const PURGE_BATCH = 500;
export const PURGE = sql`
DELETE FROM hook_deliveries WHERE id = ANY(ARRAY(
  SELECT id FROM hook_deliveries WHERE created_at < now() - interval '30 days'
  ORDER BY created_at LIMIT ${raw(String(PURGE_BATCH))} FOR UPDATE SKIP LOCKED))
RETURNING 1`.rows();
