// The statements of webhooks. Locks are taken in the order membership, project, workspace, webhooks by id, deliveries.
import { WORKSPACE } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { bytes, int, jsonb, sql, text, uuid, uuidOrNull, uuids } from '../../platform/database/sql.js';
import { newestFirst } from '../../platform/http/pages.js';
import { type DisabledReason, Webhook } from './webhook.entity.js';

const WEBHOOK = columns(Webhook, 'w', [
  'id',
  'url',
  'address',
  'description',
  'types',
  'projectId',
  'status',
  'disabledReason',
  'secretPrefix',
  'failingSince',
  'lastSuccessAt',
  'createdBy',
  'createdAt',
  'updatedAt',
]);
/** A webhook with the name of its creator, and the end of its former secret while that signs. */
export type WebhookRow = typeof WEBHOOK.row & { createdByName: string; previousSecretUntil: Date | null };

const ID = uuid('id');
const OWN = sql`w.workspace_id = ${WORKSPACE}`;
const SELECT = sql`
SELECT ${WEBHOOK}, u.name AS "createdByName",
  CASE WHEN w.previous_secret_until > clock_timestamp() THEN w.previous_secret_until END AS "previousSecretUntil"
FROM webhooks w JOIN users u ON u.id = w.created_by`;

export const GET = sql`${SELECT} WHERE ${OWN} AND w.id = ${ID}`.rows<WebhookRow>();

export const LIST = sql`${SELECT} WHERE ${OWN} ${newestFirst('w')}`.rows<WebhookRow>();

/** Until the transaction ends it neither changes nor goes, and no attempt is recorded. */
export const LOCK = sql`${SELECT} WHERE ${OWN} AND w.id = ${ID} FOR UPDATE OF w`.rows<WebhookRow>();

/** One after the other, so that two of them do not both count one too few, or have one address. */
export const LOCK_WORKSPACE = sql`SELECT 1 FROM workspaces WHERE id = ${WORKSPACE} FOR NO KEY UPDATE`.rows();

/** Those of the workspace but one. */
export const OTHERS = sql`
SELECT count(*)::int AS count, coalesce(bool_or(w.address = ${text('address')}), false) AS taken FROM webhooks w
WHERE ${OWN} AND w.id IS DISTINCT FROM ${uuidOrNull('id')}`.rows<{ count: number; taken: boolean }>();

/** Those that a member has made. */
export const DISABLE_OF_CREATOR = sql`
UPDATE webhooks w SET status = 'disabled', disabled_reason = ${jsonb<DisabledReason>()('reason')}, updated_at = now()
WHERE w.id = ANY(ARRAY(SELECT w.id FROM webhooks w
  WHERE w.status = 'enabled' AND w.workspace_id = ${uuid('workspaceId')} AND w.created_by = ${uuid('userId')} ORDER BY w.id FOR UPDATE))
RETURNING w.id`.rows<{ id: string }>();

/**
 * Cancels what waits for webhooks that are disabled. What another transaction holds at this moment is left: it is being deleted, or
 * {@link CANCEL_LEFT} finds it.
 */
export const CANCEL = sql`
UPDATE webhook_deliveries SET status = 'cancelled', next_attempt_at = NULL
WHERE id = ANY(ARRAY(SELECT id FROM webhook_deliveries
  WHERE webhook_id = ANY(${uuids('ids')}) AND status = 'pending' AND event_type <> 'webhook.test' FOR UPDATE SKIP LOCKED))`.rows();

/** What was written while its webhook was being disabled. */
export const CANCEL_LEFT = sql`
UPDATE webhook_deliveries SET status = 'cancelled', next_attempt_at = NULL
WHERE id = ANY(ARRAY(SELECT d.id FROM webhooks w JOIN webhook_deliveries d ON d.webhook_id = w.id
  WHERE w.status = 'disabled' AND d.status = 'pending' AND d.event_type <> 'webhook.test' LIMIT 500 FOR UPDATE OF d SKIP LOCKED))
RETURNING 1`.rows();

/** The former secret signs beside the new one for some seconds, by the clock of the database; null for not at all. */
export const ROTATE = sql`
UPDATE webhooks SET secret = ${bytes('secret')}, secret_prefix = ${text('secretPrefix')},
  previous_secret = CASE WHEN ${int('overlapSeconds')} > 0 THEN secret END,
  previous_secret_until = CASE WHEN ${int('overlapSeconds')} > 0 THEN clock_timestamp() + make_interval(secs => ${int('overlapSeconds')}) END,
  updated_at = now()
WHERE id = ${ID}`.rows();
