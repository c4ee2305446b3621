// Tasks that ask before each command or file change (reference §4, docs/decisions/0016).
import type { ToolInvocation } from '../models/conversation.js';
import type { AgentInput } from './agent-engine.js';
import type { AgentTool } from './agent-tool.js';
import type { ReadyCall } from './tool-registry.js';

type Rules = Pick<AgentInput, 'approvals' | 'approvedTools'>;

/** Whether a call that has not begun must be approved by a person first. */
export function needsApproval(
  { approvals, approvedTools }: Rules,
  { stage }: ToolInvocation,
  tool: AgentTool,
): boolean {
  return approvals === 'writes' && tool.changes && stage !== 'approved' && !approvedTools.includes(tool.name);
}

/**
 * Whether a call is put on record as begun before it runs. Without approvals calls run straight after their step, and
 * which one may have begun follows from their order; with them a call may have waited for days, not begun at all.
 */
export function recordsBeginning({ approvals }: Rules, { tool, input }: ReadyCall): boolean {
  return approvals === 'writes' && !tool.mayRunAgain(input);
}
