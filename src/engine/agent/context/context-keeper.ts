import { setImmediate } from 'node:timers/promises';
import { newId } from '../../../platform/database/ids.js';
import type { ConversationMessage, StoredPart } from '../../models/conversation.js';
import { ContextOverflowError, type ModelRequest, type ModelUsage } from '../../models/model-provider.js';
import { resultText } from '../../models/result-text.js';
import type { AgentEvent, AgentInput } from '../agent-engine.js';
import type { CalledAnswer } from '../model-caller.js';
import {
  budgetOf,
  type ContextBudget,
  type Measured,
  messagesToSummarise,
  resultsToLeaveOut,
} from './context-budget.js';
import { afterSummary, type ContextCut, withCuts } from './context-cut.js';
import { type Counted, type ContextSize } from './context-size.js';
import type { ContextWindows } from './context-windows.js';
import { recordText, SUMMARY_PROMPT, summaryText } from './summary.js';

type CutEvent = Extract<AgentEvent, { type: 'cut' }>;
type Ask = (request: Pick<ModelRequest, 'system' | 'messages' | 'tools'>) => Promise<CalledAnswer>;

/** Refusals in a row after which a turn fails: each has made the conversation shorter. */
const REFUSALS = 3;
/** Of what may be sent, the part that the record for the notes takes; less with each refusal. In bytes for a token. */
const RECORD = [2.2, 1, 0.5];
/** Milliseconds after which others have a turn: the whole history of a task can take seconds. */
const SLICE = 20;

/** Keeps what one run sends to its model within the model's window (reference §15). */
export class ContextKeeper {
  private readonly cuts: ContextCut[];
  private counted: Counted | null;
  /** Refusals since the last answer, and the model whose refusal waits for a summary. */
  private refusals = 0;
  private refusedBy: string | null = null;
  private summarised = false;

  constructor(
    private readonly modelId: string,
    { cuts = [], contextTokens = null, messages }: Pick<AgentInput, 'cuts' | 'contextTokens' | 'messages'>,
    private readonly windows: ContextWindows,
    private readonly size: ContextSize,
  ) {
    this.cuts = [...cuts];
    this.counted = countedAtFirst(this.cuts, contextTokens, messages);
  }

  /** What is sent of a conversation. */
  shown(conversation: ConversationMessage[]): ConversationMessage[] {
    // The cuts are those of another model, which the task had before.
    return this.isEndless() ? conversation : withCuts(conversation, this.cuts);
  }

  /** Renders what is sent of the results, which is remembered. Leases are renewed meanwhile. Throws the signal's reason. */
  async warm(conversation: ConversationMessage[], signal: AbortSignal): Promise<void> {
    if (this.isEndless()) return;
    let since = performance.now();
    for (const { result } of afterSummary(conversation, this.cuts).flatMap(({ invocations }) => invocations)) {
      resultText(result);
      if (performance.now() - since < SLICE) continue;
      await setImmediate();
      signal.throwIfAborted();
      since = performance.now();
    }
  }

  /** The model has answered, and its provider has counted; not all do: then what was counted before holds. */
  answered(messageId: string, { inputTokens, outputTokens }: ModelUsage): void {
    if (inputTokens > 0) this.counted = { tokens: inputTokens + outputTokens, messageId, withResults: false };
    this.refusals = 0;
    this.summarised = false;
  }

  /** The provider has refused what was sent. True when {@link cut} can make it shorter. */
  overflowed(conversation: ConversationMessage[], { contextWindow, refusedBy }: ContextOverflowError): boolean {
    const { tokens } = this.measure(conversation);
    const model = refusedBy ?? this.modelId;
    this.windows.refused(model, tokens, contextWindow, this.refusals > 0);
    if (this.isEndless() || ++this.refusals > REFUSALS) return false;
    this.refusedBy = model;
    return true;
  }

  /**
   * Leaves something out when the conversation has become too long: the event that is to be recorded, before the next model call.
   * Null when it is short enough, or cannot be shorter. Throws as `ask` does.
   */
  async cut(conversation: ConversationMessage[], ask: Ask): Promise<CutEvent | null> {
    const { refusedBy } = this;
    const window = this.windows.of(refusedBy ?? this.modelId);
    if (window === Infinity) return null;
    const budget = budgetOf(window);
    const measured = this.measure(conversation);
    if (refusedBy !== null) {
      this.refusedBy = null;
      // More than was guessed, and more than the model can read.
      return this.summary(conversation, { ...measured, tokens: Math.max(measured.tokens, window) }, budget, ask);
    }
    if (measured.tokens < budget.many) return null;
    const found = resultsToLeaveOut(measured, budget);
    const freed = ((found?.freed ?? 0) * measured.tokens) / this.size.bytes(measured.messages);
    if (measured.tokens - freed >= budget.tooMany && !this.summarised) {
      return this.summary(conversation, measured, budget, ask);
    }
    if (found === null) return null;
    const { uptoMessageId, uptoCalls } = found;
    return this.done(conversation, measured, { kind: 'results', uptoMessageId, uptoCalls, summary: null }, null);
  }

  private isEndless(): boolean {
    return this.windows.of(this.modelId) === Infinity;
  }

  private measure(conversation: ConversationMessage[]): Measured {
    const messages = this.shown(conversation);
    return { messages, tokens: this.size.tokens(messages, this.counted), size: this.size };
  }

  private async summary(
    conversation: ConversationMessage[],
    measured: Measured,
    budget: ContextBudget,
    ask: Ask,
  ): Promise<CutEvent | null> {
    this.summarised = true;
    const { messages } = measured;
    const least = this.cuts.some(({ kind }) => kind === 'summary') ? 1 : 0;
    const count = messagesToSummarise(measured, budget, least);
    const upto = messages[count - 1];
    if (upto === undefined || count <= least) return null;
    const begun = messages.slice(0, count);
    const answer = begun.some(({ role }) => role === 'assistant') ? await this.notes(begun, budget, ask) : null;
    const perToken = this.size.bytes(messages) / measured.tokens;
    const bytes = (tokens: number) => Math.floor(tokens * perToken);
    const whole = conversation.slice(0, conversation.findLastIndex(({ id }) => id === upto.id) + 1);
    const { people, summary: notes, plan, surroundings } = budget;
    const limits = { people: bytes(people), notes: bytes(notes), plan: bytes(plan), surroundings: bytes(surroundings) };
    const summary = summaryText(whole, textOf(answer), limits);
    const cut = { kind: 'summary', uptoMessageId: upto.id, uptoCalls: 0, summary } as const;
    return this.done(conversation, measured, cut, answer);
  }

  /** Null when even a short record is refused: then people's messages and the plan have to do. */
  private async notes(messages: ConversationMessage[], budget: ContextBudget, ask: Ask): Promise<CalledAnswer | null> {
    for (const share of RECORD) {
      const text = recordText(messages, Math.floor(budget.all * share));
      const record = { id: newId(), role: 'user' as const, parts: [{ type: 'text' as const, text }], invocations: [] };
      try {
        return await ask({ system: SUMMARY_PROMPT, messages: [record], tools: [] });
      } catch (error) {
        if (!(error instanceof ContextOverflowError)) throw error;
      }
    }
    return null;
  }

  private done(
    conversation: ConversationMessage[],
    { messages, tokens }: Measured,
    what: Omit<ContextCut, 'throughMessageId' | 'tokensAfter'>,
    answer: CalledAnswer | null,
  ): CutEvent {
    const perByte = tokens / this.size.bytes(messages);
    const throughMessageId = conversation.at(-1)?.id ?? what.uptoMessageId;
    const shown = withCuts(conversation, [...this.cuts, { ...what, throughMessageId, tokensAfter: 0 }]);
    const tokensAfter = Math.ceil(this.size.bytes(shown) * perByte);
    const cut = { ...what, throughMessageId, tokensAfter };
    this.cuts.push(cut);
    this.counted = { tokens: tokensAfter, messageId: throughMessageId, withResults: true };
    const messageId = newId();
    const data = { kind: cut.kind, tokensBefore: tokens, tokensAfter };
    // That another model wrote the notes is said as with any answer.
    const noted = (answer?.parts ?? []).filter(({ type }) => type === 'data');
    const parts: StoredPart[] = [...noted, { type: 'data', name: 'context', id: messageId, data }];
    const by = answer === null ? {} : { model: answer.model };
    return { type: 'cut', messageId, cut, parts, usage: answer?.usage ?? null, ...by };
  }
}

function countedAtFirst(cuts: ContextCut[], tokens: number | null, messages: ConversationMessage[]): Counted | null {
  const last = messages.findLast(({ role }) => role === 'assistant');
  if (tokens !== null && tokens > 0 && last !== undefined) return { tokens, messageId: last.id, withResults: false };
  const cut = cuts.at(-1);
  return cut === undefined ? null : { tokens: cut.tokensAfter, messageId: cut.throughMessageId, withResults: true };
}

function textOf(answer: CalledAnswer | null): string {
  return (answer?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}
