// What tasks of several versions of an agent came to, side by side (reference §27.5).
import { WORKSPACE } from '../../access/auth/visibility.js';
import { type Fragment, sql } from '../../platform/database/sql.js';

/** What the tasks of one version came to. */
export interface Figures {
  version: number;
  tasks: number;
  completed: number;
  cancelled: number;
  /** By the code of the reason. */
  failed: Record<string, number>;
  /** How often a person was asked, questions and approvals. */
  questions: number;
  steps: number;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  reasoningTokens: number;
  /** Null when no step was of a model with prices. */
  costMicros: number | null;
  /** Of running time, of the tasks that have ended, in milliseconds; null without one. */
  p50: number | null;
  p90: number | null;
  /** Of the tasks with checks, as their last ones stand. */
  checksPassed: number;
  checksFailed: number;
}

/**
 * The figures of each version, the newest first.
 * @param cohort selects the tasks: `version`, and of the task `id`, `status`, `status_reason`, `duration_ms`, `checked` and `created_at`.
 */
export const figuresOf = <P>(cohort: Fragment<P>) => sql`
WITH cohort AS MATERIALIZED (${cohort}),
used AS (
  SELECT c.version, count(*)::int AS steps, sum(l.input_tokens)::float8 AS input, sum(l.output_tokens)::float8 AS output,
    sum(l.cached_input_tokens)::float8 AS cached, sum(l.reasoning_tokens)::float8 AS reasoning, sum(l.cost_micros)::float8 AS cost
  FROM cohort c JOIN usage_ledger l ON l.task_id = c.id
  WHERE l.workspace_id = ${WORKSPACE} AND l.at >= (SELECT min(created_at) FROM cohort)
  GROUP BY 1),
asked AS (
  SELECT c.version, count(*)::int AS n FROM cohort c JOIN task_events e ON e.task_id = c.id AND e.type = 'task.awaiting_input' GROUP BY 1),
failed AS (
  SELECT f.version, jsonb_object_agg(f.code, f.n) AS codes
  FROM (SELECT version, coalesce(status_reason ->> 'code', 'unknown') AS code, count(*)::int AS n FROM cohort WHERE status = 'failed' GROUP BY 1, 2) f
  GROUP BY 1),
ended AS (
  SELECT version, count(*)::int AS tasks, count(*) FILTER (WHERE status = 'completed')::int AS completed,
    count(*) FILTER (WHERE status = 'cancelled')::int AS cancelled,
    count(*) FILTER (WHERE checked ->> 'status' = 'passed')::int AS "checksPassed",
    count(*) FILTER (WHERE checked ->> 'status' IN ('failed', 'error'))::int AS "checksFailed",
    percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ms) FILTER (WHERE status IN ('completed', 'failed', 'cancelled')) AS p50,
    percentile_cont(0.9) WITHIN GROUP (ORDER BY duration_ms) FILTER (WHERE status IN ('completed', 'failed', 'cancelled')) AS p90
  FROM cohort GROUP BY 1)
SELECT e.*, coalesce(f.codes, '{}') AS failed, coalesce(a.n, 0) AS questions, coalesce(u.steps, 0) AS steps, coalesce(u.input, 0) AS "inputTokens",
  coalesce(u.output, 0) AS "outputTokens", coalesce(u.cached, 0) AS "cachedInputTokens", coalesce(u.reasoning, 0) AS "reasoningTokens",
  u.cost AS "costMicros"
FROM ended e LEFT JOIN used u USING (version) LEFT JOIN asked a USING (version) LEFT JOIN failed f USING (version)
ORDER BY e.version DESC`;
