// What a call may use, and the tasks that one hands over.
import type { ConversationMessage, ToolInvocation } from '../models/conversation.js';
import type { AgentEvent, AgentFeedback, AgentInput } from './agent-engine.js';
import type { ToolContext } from './agent-tool.js';
import type { DelegationUse, HandedTasks } from './delegation.js';
import { type CallRef, progressOf } from './live-answer.js';
import { closeHanded, type Finished } from './turn-outcomes.js';
import type { TurnParts } from './turn-parts.js';

type ContextParts = Pick<
  TurnParts,
  'sandbox' | 'secrets' | 'commands' | 'resultCharacters' | 'reads' | 'limits' | 'web'
>;

/** What a call may use. `keepWhole` as of {@link ToolContext}. */
export function contextOf(
  given: AgentInput,
  deps: ContextParts,
  conversation: readonly ConversationMessage[],
  call: CallRef,
  keepWhole: NonNullable<ToolContext['keepWhole']>,
): ToolContext {
  const { sandbox, secrets, commands, resultCharacters, reads: input, limits } = deps;
  const { taskId, workspaceId, userId, signal, stopping, passOn } = given;
  const secondsLeft = limits.secondsLeft();
  const web = deps.web?.(conversation) ?? null;
  const may = { secrets, web, commands, delegation: delegationOf(given, deps, call) };
  const most = { resultCharacters, input, ...(secondsLeft === null ? {} : { secondsLeft }) };
  const ids = { taskId, workspaceId, userId, toolCallId: call.toolCallId };
  const progress = progressOf(call, passOn);
  return { ...ids, ...may, ...most, keepWhole, progress, signal, stopping, sandbox: () => sandbox.get() };
}

/** What a call may hand to tasks of its own; null: nothing. */
function delegationOf(input: AgentInput, { limits }: ContextParts, call: CallRef): DelegationUse | null {
  const { delegation, model, repository = null } = input;
  if (delegation === undefined) return null;
  const calls = { of: () => delegation.of(call), agent: (name: string) => delegation.agent(name) };
  return { ...calls, made: delegation.made, left: () => limits.left(), model, repository };
}

/** Has the tasks of a call put on record; null when they are, or were before, else why not. `emit` as of the run of the turn. */
export async function* handOver(
  messageId: string,
  call: ToolInvocation,
  handed: HandedTasks | null,
  emit: (event: AgentEvent) => Generator<AgentEvent, unknown, AgentFeedback>,
): AsyncGenerator<AgentEvent, Finished | null, AgentFeedback> {
  if (handed === null) return null;
  const { toolCallId } = call;
  try {
    const { tasks, base } = handed;
    yield* emit({ type: 'delegate', messageId, toolCallId, tasks, base });
  } finally {
    await closeHanded(handed);
  }
  const { result } = call;
  if (result === null) return null;
  call.result = null;
  return { result, files: [], parts: [], ending: null };
}
