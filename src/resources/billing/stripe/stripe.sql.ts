// What is known of payments, and how it gets into the row of a workspace (reference §14).
import type { Plan } from '../../../platform/config/rate-limits.js';
import type { SubscriptionStatus } from '../../../access/workspaces/workspace.entity.js';
import { bigint, bool, int, raw, sql, text, timeOrNull, uuid } from '../../../platform/database/sql.js';

const WORKSPACE = uuid('workspaceId');
const CUSTOMER = text('customerId');
const PAYMENT = text('paymentId');
const LOOK = bigint('look');
const GRACE = int('graceDays');

/** No row: the workspace is no customer yet. */
export const CUSTOMER_OF = sql`
SELECT c.customer_id AS "customerId", w.subscription_status AS status
FROM workspaces w LEFT JOIN payment_customers c ON c.workspace_id = w.id
WHERE w.id = ${WORKSPACE}`.rows<{ customerId: string | null; status: SubscriptionStatus }>();

/** Of two at once the first one stays: both were given the same customer, by the idempotency key. */
export const ADD_CUSTOMER = sql`
INSERT INTO payment_customers (workspace_id, customer_id) SELECT w.id, ${CUSTOMER} FROM workspaces w WHERE w.id = ${WORKSPACE}
ON CONFLICT DO NOTHING`.rows();

/** Begins a reading of the subscriptions of a customer; no row: it is nobody's. `exists`: its workspace does. */
export const LOOK_AT_CUSTOMER = sql`
UPDATE payment_customers c SET look = c.look + 1 WHERE c.customer_id = ${CUSTOMER}
RETURNING c.look::float8 AS look, EXISTS (SELECT FROM workspaces w WHERE w.id = c.workspace_id) AS exists`.rows<{
  look: number;
  exists: boolean;
}>();

const STATUS = text('status');
const LATE_SINCE = timeOrNull('lateSince');
/** A plan whose payment is late has ended when the grace is over. The first sight counts: a later invoice begins no new grace. */
const LATE = sql`CASE WHEN ${LATE_SINCE} IS NOT NULL THEN least(c.late_since, ${LATE_SINCE}) END`;
const OVER = sql`(c.late_since < now() - make_interval(days => ${GRACE}))`;
const NEW_PLAN = sql`CASE WHEN ${OVER} THEN 'free' ELSE ${text('plan')} END`;
const RENEWS_AT = timeOrNull('renewsAt');
const ENDS_AT = timeOrNull('endsAt');
const CANCELS = bool('cancelAtPeriodEnd');

/** Writes what a reading has brought, unless a newer one has begun: that one writes. */
export const SET_SUBSCRIPTION = sql`
WITH c AS (
  UPDATE payment_customers c SET late_since = ${LATE} WHERE c.customer_id = ${CUSTOMER} AND c.look = ${LOOK}
  RETURNING c.workspace_id, c.late_since)
UPDATE workspaces w SET plan = ${NEW_PLAN}, subscription_status = ${STATUS}, renews_at = ${RENEWS_AT}, ends_at = ${ENDS_AT},
  cancel_at_period_end = ${CANCELS}
FROM c WHERE w.id = c.workspace_id AND (w.plan, w.subscription_status, w.renews_at, w.ends_at, w.cancel_at_period_end)
  IS DISTINCT FROM (${NEW_PLAN}, ${STATUS}, ${RENEWS_AT}, ${ENDS_AT}, ${CANCELS})
RETURNING w.id, w.plan`.rows<{ id: string; plan: Plan }>();

/** Ends plans whose payment has been late for longer than the grace. */
export const END_LATE = sql`
UPDATE workspaces w SET plan = 'free' FROM payment_customers c
WHERE ${OVER} AND w.id = c.workspace_id AND w.plan <> 'free' AND w.subscription_status = 'past_due'
RETURNING w.id`.rows<{ id: string }>();

/** Whose payment it is; no row: it is not known yet. */
export const KNOWN_PAYMENT = sql`
SELECT c.customer_id AS "customerId" FROM payments p JOIN payment_customers c ON c.workspace_id = p.workspace_id
WHERE p.id = ${PAYMENT}`.rows<{ customerId: string }>();

/** Begins a reading of a payment; no row: its workspace is deleted. */
export const LOOK_AT_PAYMENT = sql`
INSERT INTO payments AS p (id, workspace_id) SELECT ${PAYMENT}, c.workspace_id
FROM payment_customers c JOIN workspaces w ON w.id = c.workspace_id WHERE c.customer_id = ${CUSTOMER}
ON CONFLICT (id) DO UPDATE SET look = p.look + 1
RETURNING p.look::float8 AS look`.rows<{ look: number }>();

/** Locks a payment for what a reading has brought; no row: a newer one has begun. */
export const HOLD_PAYMENT = sql`
SELECT p.workspace_id AS "workspaceId", p.paid_micros::float8 AS paid, p.back_micros::float8 AS back, p.taken_micros::float8 AS taken
FROM payments p WHERE p.id = ${PAYMENT} AND p.look = ${LOOK} FOR UPDATE`.rows<{
  workspaceId: string;
  paid: number;
  back: number;
  taken: number;
}>();

/** After {@link HOLD_PAYMENT}. */
export const HOLD_BALANCE = sql`
SELECT w.top_up_micros::float8 AS balance FROM workspaces w WHERE w.id = ${WORKSPACE} FOR UPDATE`.rows<{
  balance: number;
}>();

export const SET_PAYMENT = sql`
WITH p AS (
  UPDATE payments p SET paid_micros = ${bigint('paid')}, back_micros = ${bigint('back')}, taken_micros = ${bigint('taken')}
  WHERE p.id = ${PAYMENT})
UPDATE workspaces w SET top_up_micros = ${bigint('balance')} WHERE w.id = ${WORKSPACE}`.rows();

/** What of some payments has been counted. */
export const COUNTED = sql`
SELECT p.id, p.paid_micros::float8 AS paid, p.back_micros::float8 AS back
FROM payment_customers c JOIN payments p ON p.workspace_id = c.workspace_id WHERE c.customer_id = ${CUSTOMER}`.rows<{
  id: string;
  paid: number;
  back: number;
}>();

/** Hours without an answer of the provider after which all is compared: events may have got lost. */
const GAP = raw(`interval '1 hour'`);

/** The provider has just answered. */
export const ANSWERED = sql`
INSERT INTO payment_contact AS p (answered_at) VALUES (now())
ON CONFLICT (one) DO UPDATE SET answered_at = now(),
  back_at = CASE WHEN p.answered_at < now() - ${GAP} THEN now() ELSE p.back_at END`.rows();

/** Customers that have not been compared for a day, or since the end of a gap; the longest ago first. */
export const DUE = sql`
SELECT c.customer_id AS "customerId" FROM payment_customers c
WHERE coalesce(c.compared_at, c.created_at) < now() - interval '1 day'
  OR coalesce(c.compared_at, '-infinity') < (SELECT p.back_at FROM payment_contact p)
ORDER BY c.compared_at NULLS FIRST, c.customer_id LIMIT ${int('limit')}`.rows<{ customerId: string }>();

export const COMPARED = sql`
UPDATE payment_customers c SET compared_at = now() WHERE c.customer_id = ${CUSTOMER}`.rows();

/** Of a workspace that is deleted, when its subscriptions have ended. */
export const FORGET_CUSTOMER = sql`
DELETE FROM payment_customers c WHERE c.customer_id = ${CUSTOMER}
  AND NOT EXISTS (SELECT FROM workspaces w WHERE w.id = c.workspace_id)`.rows();
