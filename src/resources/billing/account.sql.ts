// What is set for a workspace, and what it has used (reference §14).
import { Workspace } from '../../access/workspaces/workspace.entity.js';
import type { UsageWindow } from '../../platform/config/plans.js';
import { columns } from '../../platform/database/columns.js';
import { bigint, bool, jsonb, sql, textOrNull, timeOrNull, uuid } from '../../platform/database/sql.js';
import { windows, type WindowState, WITH_TODAY } from './usage.sql.js';

const SET = columns(Workspace, 'w', [
  'plan',
  'topUpMicros',
  'subscriptionStatus',
  'renewsAt',
  'endsAt',
  'cancelAtPeriodEnd',
]);

/** No row when the workspace is deleted. */
export const ACCOUNT = sql`
SELECT ${SET}, coalesce((SELECT json_agg(v) FROM (${windows}) v), '[]') AS windows
FROM ${WITH_TODAY} WHERE w.id = ${uuid('workspaceId')}`.rows<typeof SET.row & { windows: WindowState[] }>();

const PLAN = textOrNull('plan');
const USAGE = jsonb<readonly UsageWindow[] | null>()('usage');
const ADDED = bigint('topUpMicros');
const STATUS = textOrNull('status');
const RENEWS_AT = timeOrNull('renewsAt');
const CANCELED = sql`coalesce(${STATUS} = 'canceled', false)`;

/** Of two allowances of one window and unit the given one stays. */
const MERGED = sql`${USAGE} || coalesce((
  SELECT jsonb_agg(own) FROM jsonb_array_elements(w.usage_windows) own
  WHERE NOT EXISTS (
    SELECT 1 FROM jsonb_array_elements(${USAGE}) given
    WHERE given -> 'window' = own -> 'window' AND given -> 'unit' = own -> 'unit')), '[]')`;

/** Changes what is not null. No row when the workspace is deleted, or its top-up has less than is taken from it. */
export const CHANGE = sql`
UPDATE workspaces w SET
  plan = coalesce(${PLAN}, CASE WHEN ${CANCELED} THEN 'free' END, w.plan),
  usage_windows = CASE WHEN ${bool('clearsUsage')} THEN NULL WHEN ${USAGE} IS NULL THEN w.usage_windows ELSE ${MERGED} END,
  top_up_micros = w.top_up_micros + ${ADDED},
  subscription_status = coalesce(${STATUS}, w.subscription_status),
  renews_at = CASE WHEN ${CANCELED} THEN NULL ELSE coalesce(${RENEWS_AT}, w.renews_at) END,
  ends_at = CASE WHEN ${CANCELED} THEN least(w.ends_at, now()) WHEN ${STATUS} IS NULL THEN w.ends_at END,
  cancel_at_period_end = w.cancel_at_period_end AND ${STATUS} IS NULL
WHERE w.id = ${uuid('workspaceId')} AND w.top_up_micros + ${ADDED} >= 0
RETURNING w.id`.rows<{ id: string }>();
