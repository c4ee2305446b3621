// Which entries of the ledger are to be reported to the payment provider (reference §14).
import { int, sql, textOrNull, timeOrNull, uuid, time } from '../../../platform/database/sql.js';

/** An entry that has not been reported. */
export interface Unreported {
  workspaceId: string;
  customerId: string;
  /** Of the entry. */
  messageId: string;
  /** ISO 8601 with an offset. */
  at: string;
  costMicros: number;
}

/**
 * Of workspaces that are customers, what they used since they are. Entries come late (a worker that was away writes its own time), so each is
 * looked for, and none is taken for reported because a newer one is.
 * @param since null: all of them.
 */
export const UNREPORTED = sql`
SELECT l.workspace_id AS "workspaceId", c.customer_id AS "customerId", l.message_id AS "messageId", to_json(l.at) #>> '{}' AS at,
  l.cost_micros::float8 AS "costMicros"
FROM payment_customers c JOIN usage_ledger l ON l.workspace_id = c.workspace_id
  AND l.at >= greatest(c.created_at, ${timeOrNull('since')})
WHERE l.cost_micros > 0 AND NOT EXISTS (
  SELECT FROM meter_reports r WHERE r.workspace_id = l.workspace_id AND r.at = l.at AND r.message_id = l.message_id)
ORDER BY l.at, l.message_id LIMIT ${int('limit')}`.rows<Unreported>();

/** The entry is reported, or refused for good. Of a workspace that is deleted meanwhile there is nothing to keep. */
export const REPORTED = sql`
INSERT INTO meter_reports (workspace_id, at, message_id, refusal)
SELECT w.id, ${time('at')}, ${uuid('messageId')}, ${textOrNull('refusal')} FROM workspaces w WHERE w.id = ${uuid('workspaceId')}
ON CONFLICT DO NOTHING`.rows();

/** What the provider has refused for good, and its last word. */
export const REFUSED = sql`
SELECT count(*)::int AS count, (array_agg(r.refusal ORDER BY r.at DESC))[1] AS refusal
FROM meter_reports r WHERE r.refusal IS NOT NULL`.rows<{ count: number; refusal: string | null }>();
