// Who is asked before a call reaches the program (reference §30).
import type { EngineConfig } from '../../../platform/config/engines.js';
import type { AgentInput, AgentOutcome } from '../../agent/agent-engine.js';
import { type Approval, approvalOf } from '../../agent/approval.js';
import { cleanText } from '../../agent/clean-json.js';
import { deniedBefore } from '../../agent/repetition.js';
import { truncateMiddle } from '../../agent/tools/tool-text.js';
import { DELEGATE } from '../../agent/tools/delegate.js';
import type { TurnParts } from '../../agent/turn-parts.js';
import { argumentsText, type ConversationMessage, type ToolInvocation } from '../../models/conversation.js';
import { ownTool } from '../../models/own-tool.js';
import { type Carrying, carriedOut } from './carried-out.js';

/** Characters of the question before a call. */
const QUESTION = 4_000;
const ASK = 'ask';

/** What stands between a call and the program. */
export type Held = { approval: Approval } | { refused: string } | { question: true } | { tasks: true };

/** A call that ends the run, until a person has said something, or tasks are over. */
export interface Ending {
  call: ToolInvocation;
  held: Exclude<Held, { refused: string }>;
}

export class Gate {
  constructor(
    private readonly input: Pick<AgentInput, 'approvals' | 'approvedTools'>,
    private readonly engine: Pick<EngineConfig, 'reads'>,
    private readonly deps: Pick<TurnParts, 'secrets' | 'web'> & Carrying,
  ) {}

  /** Null: it may go. */
  holds(conversation: readonly ConversationMessage[], call: ToolInvocation): Held | null {
    const own = ownTool(call.name);
    const approval = own === null ? this.ofProgram(call) : this.ofService(own, call);
    if (approval === null || !('approval' in approval)) return approval;
    const refused = deniedBefore(conversation, call);
    return refused === null ? approval : { refused };
  }

  /** How the run ends with a call that waits for a person. */
  async outcome(messageId: string, { call, held }: Ending): Promise<AgentOutcome> {
    const { toolCallId } = call;
    if ('approval' in held) return { type: 'approval', messageId, toolCallId, ...held.approval };
    const came = await carriedOut(this.deps, messageId, call);
    if (!('question' in came)) throw new Error('A question is expected.');
    return { type: 'question', messageId, toolCallId, question: came.question };
  }

  private ofService(name: string, call: ToolInvocation): Exclude<Held, { refused: string }> | null {
    const { tools, denied } = this.deps;
    const own = { ...call, name };
    const checked = tools.check(own, denied);
    // The door answers it with what is wrong.
    if ('error' in checked) return null;
    if (checked.tool.name === ASK) return { question: true };
    if (checked.tool.name === DELEGATE) return { tasks: true };
    const approval = approvalOf(this.input, own, checked, this.deps);
    return approval === null ? null : { approval };
  }

  private ofProgram({ name, input, stage }: ToolInvocation): { approval: Approval } | null {
    const { approvals, approvedTools } = this.input;
    if (approvals !== 'writes' || stage === 'approved') return null;
    if (this.engine.reads.includes(name) || approvedTools.includes(name)) return null;
    const text = `May the agent use the tool ${name}?\n\n${argumentsText(input)}`;
    return { approval: { question: cleanText(truncateMiddle(text, QUESTION).text), tool: name } };
  }
}
