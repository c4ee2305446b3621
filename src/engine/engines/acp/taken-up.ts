import type { AgentOutcome } from '../../agent/agent-engine.js';
import { INTERRUPTED } from '../../agent/turn-outcomes.js';
import type { ConversationMessage, ToolInvocation } from '../../models/conversation.js';
import type { CallRecord } from './call-record.js';
import type { Gate } from './gate.js';
import { HeldStep, reachedIn } from './held-step.js';

interface Deps {
  record: CallRecord;
  gate: Gate;
  /** As of `handedOut`. */
  handOut: (message: ConversationMessage, call: ToolInvocation) => Promise<AgentOutcome | null>;
}

/**
 * What an earlier run has left: calls that had reached the program are not carried out again. Resolves with the step that is to be given to it, and with
 * how the run ends while tasks are not over that a call has made: no program is started before.
 */
export async function takenUp(
  conversation: readonly ConversationMessage[],
  { record, gate, handOut }: Deps,
): Promise<{ held: HeldStep[]; waits: AgentOutcome | null }> {
  const index = conversation.findLastIndex(({ role }) => role === 'assistant');
  const message = conversation[index];
  if (message === undefined) return { held: [], waits: null };
  for (const call of reachedIn(message)) {
    await record.record(message, call, { result: { status: 'error', error: INTERRUPTED } });
  }
  await record.settled();
  for (const call of message.invocations.filter(({ result }) => result === null)) {
    const held = gate.holds(conversation, call);
    if (held === null || !('tasks' in held)) break;
    const waits = await handOut(message, call);
    if (waits !== null) return { held: [], waits };
  }
  const isAnswer = message.invocations.length === 0 && index === conversation.length - 1;
  const isOpen = isAnswer || message.invocations.some(({ result }) => result === null);
  return { held: isOpen ? [HeldStep.ofRecord(message)] : [], waits: null };
}
