// What was used in a period, by one of five keys (reference §14).
import { SEES_EVERYTHING, USER, visible, VISIBLE_PROJECT, WORKSPACE } from '../../access/auth/visibility.js';
import { type Fragment, int, type None, raw, sql, time } from '../../platform/database/sql.js';
import type { Grouping } from './billing.dto.js';

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
const SUMS =
  raw(`count(*) FILTER (WHERE l.starts_turn) AS tasks, count(*) AS steps, sum(l.input_tokens) AS input_tokens,
  sum(l.output_tokens) AS output_tokens, sum(l.cached_input_tokens) AS cached_input_tokens,
  sum(l.reasoning_tokens) AS reasoning_tokens, sum(l.cost_micros) AS cost_micros`);
const SUMS_OF_SUMS = raw(`sum(s.tasks) AS tasks, sum(s.steps) AS steps, sum(s.input_tokens) AS input_tokens,
  sum(s.output_tokens) AS output_tokens, sum(s.cached_input_tokens) AS cached_input_tokens,
  sum(s.reasoning_tokens) AS reasoning_tokens, sum(s.cost_micros) AS cost_micros`);
const LEDGER = sql`usage_ledger l WHERE l.workspace_id = ${WORKSPACE} AND l.at >= ${time('from')} AND l.at < ${time('to')}`;

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
WITH keyed AS (SELECT ${key} AS key, ${SUMS} FROM ${LEDGER} GROUP BY 1)
${answer(shown, name)}`.rows<UsageRow>();

/**
 * Of what the caller sees; the rest, and what has no key, is one row with the key null. As of a task: who sees the project sees
 * it, and without one, or when it is deleted, its owner does.
 */
const ofSeen = <P>(key: Fragment<None>, name: Fragment<P>) =>
  sql`
WITH spent AS (SELECT ${key} AS key, l.project_id, l.created_by, ${SUMS} FROM ${LEDGER} GROUP BY 1, 2, 3),
places AS (
  SELECT s.project_id, EXISTS (SELECT 1 FROM projects p WHERE p.id = s.project_id) AS exists,
    EXISTS (SELECT 1 FROM projects p WHERE p.id = s.project_id AND ${VISIBLE_PROJECT}) AS seen
  FROM (SELECT DISTINCT project_id FROM spent) s),
keyed AS (
  SELECT CASE WHEN ${SEES_EVERYTHING} OR places.seen OR (NOT places.exists AND s.created_by = ${USER}) THEN s.key END AS key,
    ${SUMS_OF_SUMS}
  FROM spent s JOIN places ON places.project_id IS NOT DISTINCT FROM s.project_id GROUP BY 1)
${answer(raw('k.key::text'), name)}`.rows<UsageRow>();

const DAY = raw(`to_char(k.key, 'YYYY-MM-DD')`);

/**
 * One statement for each grouping. A deleted account has a row without its name, and so has an automation that the caller does not see:
 * the tasks of an automation may lie in another project than the automation does now.
 */
export const REPORTS = {
  day: ofAll(raw(`(l.at AT TIME ZONE 'UTC')::date`), DAY, DAY),
  model: ofAll(raw('l.model'), raw('k.key'), raw('NULL::text')),
  project: ofSeen(raw('l.project_id'), raw('(SELECT p.name FROM projects p WHERE p.id = k.key)')),
  automation: ofSeen(
    raw('l.automation_id'),
    sql`(SELECT a.name FROM automations a WHERE a.id = k.key AND ${visible('a', 'owner_id')})`,
  ),
  user: ofSeen(
    raw('l.created_by'),
    raw('(SELECT u.name FROM users u WHERE u.id = k.key AND u.deleted_at IS NULL AND u.service_ended_at IS NULL)'),
  ),
} satisfies Record<Grouping, unknown>;
