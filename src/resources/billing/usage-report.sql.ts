// What was used in a period, by one of five keys (reference §14).
import { SEES_EVERYTHING, USER, visible, VISIBLE_PROJECT, WORKSPACE } from '../../access/auth/visibility.js';
import { type Fragment, int, type None, raw, sql, time } from '../../platform/database/sql.js';
import type { Grouping } from './billing.dto.js';
import { NOWHERE } from './usage-sum.entity.js';

/** What was used for one key. */
export interface UsageRow {
  key: string | null;
  /** Of a model it is null: the database does not know it. */
  name: string | null;
  /** Turns in which a model was called. */
  tasks: number;
  steps: number;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  reasoningTokens: number;
  /** Null when no step was of a model with prices. */
  costMicros: number | null;
}

/** Sums of bigint are numeric: exact, and in any order the same. */
const SUMS = raw(`sum(u.tasks) AS tasks, sum(u.steps) AS steps, sum(u.input_tokens) AS input_tokens,
  sum(u.output_tokens) AS output_tokens, sum(u.cached_input_tokens) AS cached_input_tokens,
  sum(u.reasoning_tokens) AS reasoning_tokens, sum(u.cost_micros) AS cost_micros`);

const [FROM, TO] = [time('from'), time('to')];
const KEYS = raw(
  `nullif(s.project_id, '${NOWHERE}') AS project_id, nullif(s.automation_id, '${NOWHERE}') AS automation_id`,
);
/** Entries of the ledger between two times, each as a sum of one. */
const entries = <A, B>(from: Fragment<A>, to: Fragment<B>) => sql`
  SELECT (l.at AT TIME ZONE 'UTC')::date AS day, l.model, l.project_id, l.automation_id, l.created_by, l.starts_turn::int AS tasks, 1 AS steps,
    l.input_tokens, l.output_tokens, l.cached_input_tokens, l.reasoning_tokens, l.cost_micros
  FROM usage_ledger l WHERE l.workspace_id = ${WORKSPACE} AND l.at >= ${from} AND l.at < ${to}`;
const WHOLE_FROM = raw(`(SELECT whole_from::timestamp AT TIME ZONE 'UTC' FROM bounds)`);
const WHOLE_TO = raw(`(SELECT whole_to::timestamp AT TIME ZONE 'UTC' FROM bounds)`);

/**
 * What was used in the period: of its whole days that are added up their sums (usage-sums.sql.ts), of all before and behind them the ledger.
 */
const USED = sql`
bounds AS MATERIALIZED (
  SELECT whole_from, greatest(whole_from, least((${TO} AT TIME ZONE 'UTC')::date, coalesce((
    SELECT c.until FROM usage_closed c WHERE c.workspace_id = ${WORKSPACE}), '-infinity'))) AS whole_to
  FROM (SELECT (${FROM} AT TIME ZONE 'UTC' + interval '1 day' - interval '1 microsecond')::date AS whole_from) f),
used AS (
  SELECT s.day, s.model, ${KEYS}, s.created_by, s.tasks, s.steps,
    s.input_tokens, s.output_tokens, s.cached_input_tokens, s.reasoning_tokens, s.cost_micros
  FROM usage_sums s
  WHERE s.workspace_id = ${WORKSPACE} AND s.day >= (SELECT whole_from FROM bounds) AND s.day < (SELECT whole_to FROM bounds)
  UNION ALL (${entries(sql`${FROM}`, sql`least(${TO}, ${WHOLE_FROM})`)})
  UNION ALL (${entries(WHOLE_TO, sql`${TO}`)}))`;

/** The sums `k`, the largest first, with a name for each key. It becomes text here: to make it of each entry takes longer than to add up. */
const answer = <P>(key: Fragment<None>, name: Fragment<P>) => sql`
SELECT ${key} AS key, ${name} AS name, k.tasks::float8 AS tasks, k.steps::float8 AS steps, k.input_tokens::float8 AS "inputTokens",
  k.output_tokens::float8 AS "outputTokens", k.cached_input_tokens::float8 AS "cachedInputTokens",
  k.reasoning_tokens::float8 AS "reasoningTokens", k.cost_micros::float8 AS "costMicros"
FROM keyed k
ORDER BY coalesce(k.cost_micros, 0) DESC, k.input_tokens + k.output_tokens DESC, k.steps DESC, k.key
LIMIT ${int('limit')}`;

/** Of all that was used: it names nothing that somebody may not see. */
const ofAll = (key: Fragment<None>, shown: Fragment<None>, name: Fragment<None>) =>
  sql`
WITH ${USED},
keyed AS (SELECT ${key} AS key, ${SUMS} FROM used u GROUP BY 1)
${answer(shown, name)}`.rows<UsageRow>();

/**
 * Of what the caller sees; the rest, and what has no key, is one row with the key null. As of a task: who sees the project sees
 * it, and without one, or when it is deleted, its owner does.
 */
const ofSeen = <P>(key: Fragment<None>, name: Fragment<P>) =>
  sql`
WITH ${USED},
spent AS (SELECT ${key} AS key, u.project_id, u.created_by, ${SUMS} FROM used u GROUP BY 1, 2, 3),
places AS (
  SELECT s.project_id, EXISTS (SELECT 1 FROM projects p WHERE p.id = s.project_id) AS exists,
    EXISTS (SELECT 1 FROM projects p WHERE p.id = s.project_id AND ${VISIBLE_PROJECT}) AS seen
  FROM (SELECT DISTINCT project_id FROM spent) s),
keyed AS (
  SELECT CASE WHEN ${SEES_EVERYTHING} OR places.seen OR (NOT places.exists AND u.created_by = ${USER}) THEN u.key END AS key,
    ${SUMS}
  FROM spent u JOIN places ON places.project_id IS NOT DISTINCT FROM u.project_id GROUP BY 1)
${answer(raw('k.key::text'), name)}`.rows<UsageRow>();

const DAY = raw(`to_char(k.key, 'YYYY-MM-DD')`);

/**
 * One statement for each grouping. A deleted account has a row without its name, and so has an automation that the caller does not see:
 * the tasks of an automation may lie in another project than the automation does now.
 */
export const REPORTS = {
  day: ofAll(raw('u.day'), DAY, DAY),
  model: ofAll(raw('u.model'), raw('k.key'), raw('NULL::text')),
  project: ofSeen(raw('u.project_id'), raw('(SELECT p.name FROM projects p WHERE p.id = k.key)')),
  automation: ofSeen(
    raw('u.automation_id'),
    sql`(SELECT a.name FROM automations a WHERE a.id = k.key AND ${visible('a', 'owner_id')})`,
  ),
  user: ofSeen(
    raw('u.created_by'),
    raw('(SELECT u.name FROM users u WHERE u.id = k.key AND u.deleted_at IS NULL AND u.service_ended_at IS NULL)'),
  ),
} satisfies Record<Grouping, unknown>;
