import type { TestDatabase } from '../harness/database.js';

// Each row is a difference. Sums over a message's events, because the steps themselves keep no figures.
const IMBALANCES = `
SELECT 'the steps and the ledger' AS of, coalesce(m.id, l.message_id)::text AS id
FROM (SELECT id FROM messages WHERE role = 'assistant') m
FULL JOIN (SELECT message_id FROM usage_ledger WHERE task_id IN (SELECT id FROM tasks)) l ON l.message_id = m.id
WHERE m.id IS NULL OR l.message_id IS NULL
UNION ALL
SELECT 'a step and its entry', e.ref::text
FROM task_events e JOIN usage_ledger l ON l.message_id = e.ref
WHERE e.data -> 'usage' <> 'null' AND e.data -> 'usage' <> jsonb_build_object('inputTokens', l.input_tokens, 'outputTokens',
  l.output_tokens, 'cachedInputTokens', l.cached_input_tokens, 'reasoningTokens', l.reasoning_tokens)
UNION ALL
SELECT 'a task and the ledger', t.id::text
FROM tasks t LEFT JOIN (
  SELECT task_id, count(*) AS steps, sum(input_tokens) AS input, sum(output_tokens) AS output, sum(cached_input_tokens) AS cached,
    sum(reasoning_tokens) AS reasoning, sum(cost_micros) AS cost
  FROM usage_ledger GROUP BY 1) l ON l.task_id = t.id
WHERE (t.steps, t.input_tokens, t.output_tokens, t.cached_input_tokens, t.reasoning_tokens, t.cost_micros)
  IS DISTINCT FROM (coalesce(l.steps, 0), coalesce(l.input, 0), coalesce(l.output, 0), coalesce(l.cached, 0),
    coalesce(l.reasoning, 0), l.cost)
UNION ALL
SELECT 'a counter and the ledger', coalesce(d.workspace_id, l.workspace_id)::text
FROM (SELECT workspace_id, day, sum(tokens) AS tokens, sum(cost_micros) AS cost_micros FROM usage_days GROUP BY 1, 2) d FULL JOIN (
  SELECT workspace_id, (at AT TIME ZONE 'UTC')::date AS day, sum(input_tokens + output_tokens) AS tokens,
    coalesce(sum(cost_micros), 0) AS cost
  FROM usage_ledger GROUP BY 1, 2) l USING (workspace_id, day)
WHERE (coalesce(d.tokens, 0), coalesce(d.cost_micros, 0)) IS DISTINCT FROM (coalesce(l.tokens, 0), coalesce(l.cost, 0))
UNION ALL
SELECT 'a sum and the ledger', coalesce(s.workspace_id, l.workspace_id)::text
FROM (
  SELECT workspace_id, day, sum(tasks) AS tasks, sum(steps) AS steps, sum(input_tokens) AS input, sum(output_tokens) AS output,
    sum(cached_input_tokens) AS cached, sum(reasoning_tokens) AS reasoning, sum(cost_micros) AS cost
  FROM usage_sums GROUP BY 1, 2) s FULL JOIN (
  SELECT e.workspace_id, (at AT TIME ZONE 'UTC')::date AS day, count(*) FILTER (WHERE starts_turn) AS tasks, count(*) AS steps, sum(input_tokens) AS input,
    sum(output_tokens) AS output, sum(cached_input_tokens) AS cached, sum(reasoning_tokens) AS reasoning, sum(cost_micros) AS cost
  FROM usage_ledger e JOIN usage_closed c ON c.workspace_id = e.workspace_id AND (at AT TIME ZONE 'UTC')::date < c.until
  GROUP BY 1, 2) l USING (workspace_id, day)
WHERE (s.tasks, s.steps, s.input, s.output, s.cached, s.reasoning, s.cost)
  IS DISTINCT FROM (l.tasks, l.steps, l.input, l.output, l.cached, l.reasoning, l.cost)
UNION ALL
SELECT 'the turns and the counters', t.workspace_id::text
FROM (
  SELECT workspace_id, sum(turn - (turn_steps = 0 AND status_reason ->> 'code' IS NOT DISTINCT FROM 'usage_exhausted')::int) AS turns
  FROM tasks GROUP BY 1) t
LEFT JOIN (SELECT workspace_id, sum(tasks) AS turns FROM usage_days GROUP BY 1) d USING (workspace_id)
WHERE t.turns <> coalesce(d.turns, 0)`;

/**
 * Where the sums over the steps, the tasks, the ledger and the counters differ (reference §14); empty when they agree. While no task
 * was deleted.
 */
export function imbalances(db: Pick<TestDatabase, 'query'>): Promise<{ of: string; id: string }[]> {
  return db.query<{ of: string; id: string }>(IMBALANCES);
}
