import { usd } from '../../platform/money/usd.js';
import type { TaskRow } from './task.sql.js';

type Figures = Pick<
  TaskRow,
  | 'inputTokens'
  | 'outputTokens'
  | 'cachedInputTokens'
  | 'reasoningTokens'
  | 'steps'
  | 'toolCalls'
  | 'durationMs'
  | 'costMicros'
>;

/** Of no task. */
export const NOTHING_USED: Figures = {
  ...{ inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
  ...{ steps: 0, toolCalls: 0, durationMs: 0, costMicros: null },
};

/** As the document describes it. */
export function usageView(of: Figures) {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens, steps, toolCalls, durationMs, costMicros } =
    of;
  const cost = costMicros === null ? null : { amount: usd(costMicros), currency: 'USD' as const };
  return { inputTokens, outputTokens, cachedInputTokens, reasoningTokens, steps, toolCalls, durationMs, cost };
}
