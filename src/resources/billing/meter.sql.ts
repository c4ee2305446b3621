// The pieces of SQL that count what work uses, in the statement that records the work (reference §14, docs/decisions/0038): the claim
// of a run counts a turn, the record of a step its model call. A model call that is no step of the agent, such as a summary of
// a long history, is to be counted by METER too, in the statement that records it.
// They lock the workspace's counter of the day, then the workspace's row when its top-up pays: after the task, the claims
// and the run, so both locks are the last ones of their statement.
import { bigint, bigintOrNull, field, type Fragment, type None, raw, sql, uuid } from '../../platform/database/sql.js';
import { lastUsedUp, LIMITED, MODEL, priced, TODAY, windows, WITH_TODAY } from './usage.sql.js';

/** What a model call used; the cost in micro-dollars, null on a model without prices. */
export const CALL = {
  messageId: uuid('messageId'),
  inputTokens: bigint('inputTokens'),
  outputTokens: bigint('outputTokens'),
  cachedInputTokens: bigint('cachedInputTokens'),
  reasoningTokens: bigint('reasoningTokens'),
  costMicros: bigintOrNull('costMicros'),
};
const TOKENS = sql`(${CALL.inputTokens} + ${CALL.outputTokens})`;
const COST = CALL.costMicros;
/** The model of the turn, which another one may have answered for: a top-up opens windows for tasks whose own model has prices. */
const OF_TURN = field<{ model: string }>()('run', 'model', 'text');

/**
 * Whether a turn under way is beyond a window `v` of turns: it counts when it starts, and goes on when others have used up the rest. A window
 * that has begun anew or was widened meanwhile has room; so has one of turns, when the turn was refused for tokens or cost.
 */
export const underWay = (task: 'task' | 't') => raw(`${task}.turn_beyond AND v.used >= v.allowance`);
const UNDER_WAY = underWay('task');

/**
 * Of a workspace without windows a task counts in one of these lanes: nothing is decided by the sum. In one row 16 tasks at once waited for each
 * other's commits, 1.9 ms a step in place of 0.3, and made half as many steps. With windows all count in lane 0, each after the other: exactly.
 */
const LANE = raw('(1 + abs(hashtext(task.id::text) % 32))');

const entry = (startsTurn: Fragment<None>) => sql`
entry AS (
  INSERT INTO usage_ledger (workspace_id, at, message_id, task_id, project_id, created_by, automation_id, model, starts_turn,
    input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, cost_micros)
  SELECT run.workspace_id, date_trunc('milliseconds', now()), ${CALL.messageId}, task.id, task.project_id, task.created_by, task.automation_id, ${MODEL},
    ${startsTurn}, ${CALL.inputTokens}, ${CALL.outputTokens}, ${CALL.cachedInputTokens}, ${CALL.reasoningTokens}, ${COST}
  FROM task, run)`;
const ADDED = raw('tokens = d.tokens + excluded.tokens, cost_micros = d.cost_micros + excluded.cost_micros');

/**
 * CTEs that count a model call of the CTE `run` (workspace_id) and the CTE `task`. Its time is cut to milliseconds, not rounded, so
 * that it lies on the day of the counter. Of what lies beyond a window a top-up pays its
 * share of the cost: of tokens in proportion, of a turn beyond the window all of it, and of several windows the largest.
 */
const meter = (startsTurn: Fragment<None>) => sql`
${entry(startsTurn)},
payer AS (
  SELECT w.id, w.plan, w.usage_windows, w.top_up_micros, ${LIMITED} AS limited FROM run JOIN workspaces w ON w.id = run.workspace_id),
today AS (
  INSERT INTO usage_days AS d (workspace_id, day, lane, tokens, cost_micros)
  SELECT w.id, ${TODAY}, CASE WHEN w.limited THEN 0 ELSE ${LANE} END, ${TOKENS}, coalesce(${COST}, 0) FROM payer w, task
  ON CONFLICT (workspace_id, day, lane) DO UPDATE SET ${ADDED}
  RETURNING *),
v AS (SELECT v.* FROM today JOIN payer w ON w.limited, LATERAL (${windows}) v),
beyond AS (
  SELECT max(CASE v.unit
    WHEN 'tasks' THEN ${COST}
    WHEN 'tokens' THEN round(${COST} * least(v.used - v.allowance, ${TOKENS}) / nullif(${TOKENS}, 0))
    ELSE least(v.used - v.allowance, ${COST}) END) AS micros
  FROM v, task
  WHERE ${COST} IS NOT NULL AND CASE v.unit WHEN 'tasks' THEN ${UNDER_WAY} ELSE v.used > v.allowance END),
paid AS (
  UPDATE workspaces w SET top_up_micros = greatest(w.top_up_micros - beyond.micros, 0) FROM run, beyond
  WHERE w.id = run.workspace_id AND w.top_up_micros > 0 AND beyond.micros > 0
  RETURNING w.top_up_micros),
open AS (
  SELECT coalesce((SELECT top_up_micros FROM paid), w.top_up_micros) > 0 AND ${priced(OF_TURN)} AS open FROM payer w)`;

const FIRST_STEP = raw('task.turn_steps = 0');
export const METER = meter(FIRST_STEP);
/** As {@link METER}, of a call that is no step. */
export const METER_BESIDE = meter(raw('false'));

/** As {@link METER}, of a workspace that is not {@link LIMITED}: nothing pays, and nothing is used up. */
export const METER_FREELY = sql`
${entry(FIRST_STEP)},
today AS (
  INSERT INTO usage_days AS d (workspace_id, day, lane, tokens, cost_micros)
  SELECT run.workspace_id, ${TODAY}, ${LANE}, ${TOKENS}, coalesce(${COST}, 0) FROM run, task
  ON CONFLICT (workspace_id, day, lane) DO UPDATE SET ${ADDED})`;

/** Beside {@link METER}: as `exhausted`, with this call. */
export const EXHAUSTED_NOW = sql`(SELECT CASE WHEN NOT open THEN (${lastUsedUp(UNDER_WAY)}) END FROM open)`;

/**
 * CTEs that count a turn when the CTE `run` (workspace_id, fresh) begins one: `started` has no row when the workspace may start
 * none. The condition is checked again on the newest version of the counter, so of two claims that want the last turn one gets it.
 */
export const START_TURN = sql`
allowed AS MATERIALIZED (
  SELECT w.id, w.top_up_micros > 0 AND ${priced(raw('task.model'))} AS open,
    coalesce(bool_or(v.unit <> 'tasks' AND v.used >= v.allowance), false) AS spent,
    min(v.allowance - v.used) FILTER (WHERE v.unit = 'tasks') + coalesce(today.tasks, 0) AS turns_today
  FROM task, run, ${WITH_TODAY} LEFT JOIN LATERAL (${windows}) v ON true
  WHERE run.fresh AND w.id = run.workspace_id GROUP BY w.id, task.model, today.tasks),
started AS (
  INSERT INTO usage_days AS d (workspace_id, day, tasks)
  SELECT id, ${TODAY}, 1 FROM allowed WHERE open OR (NOT spent AND (turns_today < 1) IS NOT TRUE)
  ON CONFLICT (workspace_id, day, lane) DO UPDATE SET tasks = d.tasks + 1
  WHERE (SELECT a.open OR (d.tasks >= a.turns_today) IS NOT TRUE FROM allowed a)
  RETURNING d.tasks)`;

/** The assignment of an `UPDATE tasks t` beside {@link START_TURN}. */
export const TURN_BEYOND = raw(`turn_beyond = CASE WHEN run.fresh THEN NOT EXISTS (
    SELECT FROM started, allowed WHERE (started.tasks > allowed.turns_today) IS NOT TRUE) ELSE t.turn_beyond END`);
