// How the ledger of days that are over is added up (docs/decisions/0089).
import { LOCKS } from '../../platform/database/locks.js';
import { int, raw, sql, uuid } from '../../platform/database/sql.js';
import { NOWHERE } from './usage-sum.entity.js';

const WORKSPACE_ID = uuid('workspaceId');
/** The first day that is not to be added up yet: an hour after its end an entry of a day that writes its own time has been committed. */
const OPEN = raw(`((now() AT TIME ZONE 'UTC') - interval '1 hour')::date`);

/** Some workspaces with days that are to be added up. */
export const DUE = sql`
SELECT w.id FROM workspaces w LEFT JOIN usage_closed c ON c.workspace_id = w.id
WHERE c.until IS NULL OR c.until < ${OPEN} LIMIT ${int('limit')}`.rows<{ id: string }>();

/** Until the end of the transaction no late entry of the workspace is written: in the snapshot of the statement behind it, each is there or will add itself. */
export const HOLD_LATE = sql`
SELECT pg_advisory_xact_lock(${raw(String(LOCKS.usageSums))}, hashtext(${WORKSPACE_ID}::text))`.rows();

/** Adds up the next days of a workspace, 31 at most. The caller has {@link HOLD_LATE}. */
export const CLOSE = sql`
WITH days AS MATERIALIZED (
  SELECT since, least(since + 31, ${OPEN}) AS until FROM (
    SELECT coalesce(
      (SELECT c.until FROM usage_closed c WHERE c.workspace_id = ${WORKSPACE_ID}),
      (SELECT (l.at AT TIME ZONE 'UTC')::date FROM usage_ledger l WHERE l.workspace_id = ${WORKSPACE_ID} ORDER BY l.at LIMIT 1),
      ${OPEN}) AS since) s),
added AS (
  INSERT INTO usage_sums (workspace_id, day, model, project_id, automation_id, created_by, tasks, steps, input_tokens, output_tokens,
    cached_input_tokens, reasoning_tokens, cost_micros)
  SELECT l.workspace_id, (l.at AT TIME ZONE 'UTC')::date, l.model, coalesce(l.project_id, ${raw(`'${NOWHERE}'`)}),
    coalesce(l.automation_id, ${raw(`'${NOWHERE}'`)}), l.created_by, count(*) FILTER (WHERE l.starts_turn), count(*), sum(l.input_tokens),
    sum(l.output_tokens), sum(l.cached_input_tokens), sum(l.reasoning_tokens), sum(l.cost_micros)
  FROM usage_ledger l
  WHERE l.workspace_id = ${WORKSPACE_ID} AND l.at >= (SELECT since::timestamp AT TIME ZONE 'UTC' FROM days)
    AND l.at < (SELECT until::timestamp AT TIME ZONE 'UTC' FROM days)
  GROUP BY 1, 2, 3, 4, 5, 6)
INSERT INTO usage_closed (workspace_id, until) SELECT w.id, days.until FROM workspaces w, days WHERE w.id = ${WORKSPACE_ID}
ON CONFLICT (workspace_id) DO UPDATE SET until = greatest(usage_closed.until, excluded.until)`.rows();
