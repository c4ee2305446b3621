// What a call of a model has used, as statements record it.
import { sql } from '../../platform/database/sql.js';
import { CALL } from '../../resources/billing/meter.sql.js';

/** What a call of the model that is no step adds to its task. */
export const SPENT_BESIDE = sql`
  input_tokens = t.input_tokens + ${CALL.inputTokens}, output_tokens = t.output_tokens + ${CALL.outputTokens},
  cached_input_tokens = t.cached_input_tokens + ${CALL.cachedInputTokens},
  reasoning_tokens = t.reasoning_tokens + ${CALL.reasoningTokens},
  turn_tokens = t.turn_tokens + ${CALL.inputTokens} + ${CALL.outputTokens},
  cost_micros = CASE WHEN ${CALL.costMicros} IS NULL THEN t.cost_micros ELSE coalesce(t.cost_micros, 0) + ${CALL.costMicros} END,
  turn_cost_micros = t.turn_cost_micros + coalesce(${CALL.costMicros}, 0)`;

/** What a call of the model adds to its task. */
export const SPENT = sql`
  steps = t.steps + 1, turn_steps = t.turn_steps + 1, ${SPENT_BESIDE}`;

/** As an event tells what a call of the model used. */
export const USAGE = sql`jsonb_build_object(
  'inputTokens', ${CALL.inputTokens}, 'outputTokens', ${CALL.outputTokens},
  'cachedInputTokens', ${CALL.cachedInputTokens}, 'reasoningTokens', ${CALL.reasoningTokens})`;
