// Tools of the service, carried out for a program (reference §30).
import type { AgentEvent, AgentFeedback, AgentOutcome } from '../../agent/agent-engine.js';
import type { Question, ToolContext } from '../../agent/agent-tool.js';
import { handOver } from '../../agent/call-context.js';
import type { HandedTasks } from '../../agent/delegation.js';
import type { CallRef } from '../../agent/live-answer.js';
import type { ToolRegistry } from '../../agent/tool-registry.js';
import { failedBy } from '../../agent/turn-outcomes.js';
import type { ConversationMessage, ToolInvocation } from '../../models/conversation.js';
import { ownTool } from '../../models/own-tool.js';
import type { CallRecord, CameTo } from './call-record.js';

export interface Carrying {
  tools: ToolRegistry;
  denied: readonly string[];
  contextOf: (call: CallRef) => ToolContext;
}

type Came = CameTo | { question: Question } | { handed: HandedTasks | null };

/** What a call of a tool of the service comes to. */
export async function carriedOut(
  { tools, denied, contextOf }: Carrying,
  messageId: string,
  { toolCallId, name, input }: ToolInvocation,
): Promise<Came> {
  const checked = tools.check({ name: ownTool(name) ?? name, input }, denied);
  if ('error' in checked) return { result: { status: 'error', error: checked.error } };
  try {
    const outcome = await tools.execute(checked, contextOf({ messageId, toolCallId }));
    if (outcome.status === 'question') return { question: outcome.question };
    if (outcome.status === 'tasks') return { handed: outcome.handed };
    const { files = [], parts = [], ...came } = outcome;
    const result = came.status === 'denied' ? came : { ...came, paths: undefined };
    return { result, files, parts };
  } catch (error) {
    const { result, ending } = failedBy(error);
    return { result, ends: ending?.outcome ?? null };
  }
}

interface Handing extends Carrying {
  record: CallRecord;
  emit: (event: AgentEvent) => Promise<AgentFeedback>;
}

/**
 * A call that hands work to tasks. Resolves with how the run ends, when the call waits for them or the turn cannot go on; null: its result is on
 * record. It never reaches the program, which would wait for as long.
 */
export async function handedOut(
  message: ConversationMessage,
  call: ToolInvocation,
  deps: Handing,
): Promise<AgentOutcome | null> {
  const { id } = message;
  const came = await carriedOut(deps, id, call);
  if ('question' in came) throw new Error('Tasks are expected.');
  const result = 'handed' in came ? await handedOver(id, call, came.handed, deps.emit) : came;
  if (result === null) return { type: 'tasks', messageId: id, toolCallId: call.toolCallId };
  await deps.record.record(message, call, result);
  await deps.record.settled();
  return result.ends ?? null;
}

/** As of {@link handOver}, whose events go to `emit`. */
async function handedOver(
  messageId: string,
  call: ToolInvocation,
  handed: HandedTasks | null,
  emit: Handing['emit'],
): Promise<CameTo | null> {
  const steps = handOver(messageId, call, handed, function* (event): Generator<AgentEvent, void, AgentFeedback> {
    const { result } = yield event;
    if (result !== undefined) call.result = result;
  });
  let next = await steps.next();
  while (next.done !== true) next = await steps.next(await emit(next.value));
  return next.value;
}
