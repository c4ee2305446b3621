// What a workspace has used and may use, as pieces of SQL (reference §14, docs/decisions/0038). A statement that holds one of them
// takes the whole `rules`.
import type { ConfigFile } from '../../platform/config/config-file.js';
import { plansOf } from '../../platform/config/config-file.js';
import type { UsageWindow } from '../../platform/config/plans.js';
import type { Plan } from '../../platform/config/rate-limits.js';
import { field, type Fragment, type None, type Param, raw, sql, text, uuid } from '../../platform/database/sql.js';

/** What the configuration says of usage. */
export interface UsageRules {
  /** JSON: the windows of each plan. */
  windows: string;
  /** The models that have prices: a top-up opens a window for them alone. */
  priced: readonly string[];
}

export function usageRulesOf(file: ConfigFile): UsageRules {
  const { free, paid } = plansOf(file);
  const windows: Record<Plan, UsageWindow[]> = { free: free.windows, paid: paid.windows };
  const priced = (file.models ?? []).filter(({ prices }) => prices !== undefined).map(({ id }) => id);
  return { windows: JSON.stringify(windows), priced };
}

/** A window as it stands now. Amounts of the unit `cost` are micro-dollars. */
export type WindowState = Pick<UsageWindow, 'window' | 'unit'> & {
  allowance: number;
  used: number;
  /** When it begins anew: ISO 8601 with an offset. */
  resetsAt: string;
};

const rules = field<UsageRules>();
const OF_PLANS = rules('rules', 'windows', 'jsonb');
const PRICED = rules('rules', 'priced', 'text[]');

/** By the clock of the database, in UTC. */
const NOW = raw(`(now() AT TIME ZONE 'UTC')`);
export const TODAY = sql`${NOW}::date`;

/** What the unit of a window `a` counts in a row of `usage_days`. */
const amount = (day: string) =>
  raw(`CASE a.unit WHEN 'tasks' THEN ${day}.tasks WHEN 'tokens' THEN ${day}.tokens ELSE ${day}.cost_micros END`);

const LISTED = raw('("window" text, unit text, allowance numeric)');
/** What a workspace `w` has: its own allowances, and of its plan those of further windows and units. */
const ALLOWANCES = sql`
  SELECT o.* FROM jsonb_to_recordset(w.usage_windows) AS o${LISTED}
  UNION ALL SELECT p.* FROM jsonb_to_recordset(${OF_PLANS} -> w.plan) AS p${LISTED} WHERE NOT EXISTS (
    SELECT 1 FROM jsonb_to_recordset(w.usage_windows) AS o${LISTED} WHERE o."window" = p."window" AND o.unit = p.unit)`;

/** Whether a workspace `w` has a window. */
export const LIMITED = sql`(coalesce(jsonb_array_length(w.usage_windows), 0) + jsonb_array_length(${OF_PLANS} -> w.plan) > 0)`;

/**
 * The windows of a workspace `w`, as rows of a {@link WindowState}: the row `today` is its lane 0 of today, the rest comes from the
 * table. Without windows nothing is read.
 */
export const windows = sql`
  SELECT a."window", a.unit, CASE a.unit WHEN 'cost' THEN a.allowance * 1000000 ELSE a.allowance END AS allowance,
    coalesce(${amount('today')}, 0) + coalesce((
      SELECT sum(${amount('d')}) FROM usage_days d
      WHERE d.workspace_id = w.id AND d.day >= date_trunc(a."window", ${NOW})::date
        AND (d.day, d.lane) <> (${TODAY}, 0) AND d.day <= ${TODAY}), 0) AS used,
    (date_trunc(a."window", ${NOW}) + ('1 ' || a."window")::interval) AT TIME ZONE 'UTC' AS "resetsAt"
  FROM (${ALLOWANCES}) a`;

/** A workspace `w` with its lane 0 of today as it is committed, if any. */
export const WITH_TODAY = sql`
workspaces w LEFT JOIN usage_days today ON today.workspace_id = w.id AND today.day = ${TODAY} AND today.lane = 0`;

type Piece<P> = Fragment<P> | Param<P>;

/** Whether a model has prices. */
export const priced = <P>(model: Piece<P>) => sql`(${model} = ANY(${PRICED}))`;

/** Of the windows `v` that are used up the one that begins anew the last, as a {@link WindowState}; `turns`: whether one of turns is. */
export const lastUsedUp = (turns: Fragment<None>) => sql`
  SELECT row_to_json(v) FROM v WHERE CASE v.unit WHEN 'tasks' THEN ${turns} ELSE v.used >= v.allowance END
  ORDER BY v."resetsAt" DESC LIMIT 1`;

/**
 * The window that keeps a workspace from working with a model, as a {@link WindowState}; null when there is none or a top-up opens
 * it. It reads what is committed.
 * @param turns whether a window of turns is used up, as a condition on the window `v`: for a turn under way, whether it was
 * started beyond it; else whether it holds no further one.
 */
export const exhausted = <A, B>(
  workspaceId: Piece<A>,
  model: Piece<B>,
  turns: Fragment<None> = raw('v.used >= v.allowance'),
) => sql`(
  WITH v AS (
    SELECT v.* FROM ${WITH_TODAY}, LATERAL (${windows}) v
    WHERE w.id = ${workspaceId} AND NOT (w.top_up_micros > 0 AND ${priced(model)}))
  ${lastUsedUp(turns)})`;

/** An id of `GET /v1/models`. */
export const MODEL = text('model');
const WORKSPACE_ID = uuid('workspaceId');

/** All windows of a workspace, and its top-up. No row: it is deleted. */
export const WINDOWS = sql`
SELECT w.top_up_micros::float8 AS "topUpMicros", coalesce((SELECT json_agg(v) FROM (${windows}) v), '[]') AS windows
FROM ${WITH_TODAY} WHERE w.id = ${WORKSPACE_ID}`.rows<{ topUpMicros: number; windows: WindowState[] }>();

/** The window that keeps a workspace from beginning work with a model, or from going on with it; null: none does. */
export const EXHAUSTED = sql`SELECT ${exhausted(WORKSPACE_ID, MODEL)} AS exhausted`.rows<{
  exhausted: WindowState | null;
}>();
