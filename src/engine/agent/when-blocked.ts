// What a task does about what others have to remedy (reference §5).
import type { AgentInput, AgentOutcome } from './agent-engine.js';

/** Failures that pass without a change of the task. */
const BLOCKS: ReadonlySet<string> = new Set([
  'usage_exhausted',
  'model_quota',
  'model_overloaded',
  'model_credentials',
  'sandbox_unavailable',
  'repository_unavailable',
  'storage_exhausted',
  'mcp_unavailable',
]);

/** Whether the outcome is a failure of these. */
export const isBlock = (outcome: AgentOutcome): outcome is Extract<AgentOutcome, { type: 'failed' }> =>
  outcome.type === 'failed' && BLOCKS.has(outcome.code);

/** Whether the task waits after this outcome, and its turn goes on later. */
export const waitsAfter = ({ whenBlocked }: Pick<AgentInput, 'whenBlocked'>, outcome: AgentOutcome): boolean =>
  whenBlocked === 'wait' && isBlock(outcome);
