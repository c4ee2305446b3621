import { setImmediate } from 'node:timers/promises';
import { newId } from '../../../platform/database/ids.js';
import { type ConversationMessage, type StoredPart, textOf } from '../../models/conversation.js';
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
import { afterSummary, type Compaction, compacted } from './compaction.js';
import { type Counted, type ContextSize } from './context-size.js';
import type { ContextWindows } from './context-windows.js';
import { recordText, SUMMARY_PROMPT, summaryText } from './summary.js';

type CompactionEvent = Extract<AgentEvent, { type: 'cut' }>;
type Ask = (request: Pick<ModelRequest, 'system' | 'messages' | 'tools'>) => Promise<CalledAnswer>;

/** Refusals in a row after which a turn fails. The conversation becomes shorter after each. */
const REFUSALS = 3;
/** How much of the conversation the summarising model reads, in bytes for each token of its budget. Less after each refusal. */
const RECORD = [2.2, 1, 0.5];
/** Milliseconds of work between two pauses for the event loop: rendering a long history can take seconds. */
const SLICE = 20;

/** Compacts the conversation of one run, so that it fits the window of the model (reference §15). */
export class ContextCompactor {
  private readonly compactions: Compaction[];
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
    this.compactions = [...cuts];
    this.counted = countedAtFirst(cuts, contextTokens, messages);
  }

  /** The conversation as it is sent to the model. */
  compacted(conversation: ConversationMessage[]): ConversationMessage[] {
    // A model without a limit reads everything. The compactions are those of a model that the task had before.
    return this.isEndless() ? conversation : compacted(conversation, this.compactions);
  }

  /** Renders the results that will be sent, so that they are cached. Pauses for the event loop, which renews leases. Throws the signal's reason. */
  async warm(conversation: ConversationMessage[], signal: AbortSignal): Promise<void> {
    if (this.isEndless()) return;
    let since = performance.now();
    for (const { result } of afterSummary(conversation, this.compactions).flatMap(({ invocations }) => invocations)) {
      resultText(result);
      if (performance.now() - since < SLICE) continue;
      await setImmediate();
      signal.throwIfAborted();
      since = performance.now();
    }
  }

  /** The model has answered. Most providers report how many tokens they counted; where one does not, the last count stays. */
  answered(messageId: string, { inputTokens, outputTokens }: ModelUsage): void {
    if (inputTokens > 0) this.counted = { tokens: inputTokens + outputTokens, messageId, withResults: false };
    this.refusals = 0;
    this.summarised = false;
  }

  /** The provider has refused what was sent. True when {@link compact} can make it shorter. */
  overflowed(conversation: ConversationMessage[], { contextWindow, refusedBy }: ContextOverflowError): boolean {
    const { tokens } = this.measure(conversation);
    const model = refusedBy ?? this.modelId;
    this.windows.refused(model, tokens, contextWindow, this.refusals > 0);
    if (this.isEndless() || ++this.refusals > REFUSALS) return false;
    this.refusedBy = model;
    return true;
  }

  /**
   * Compacts a conversation that has become too long. Resolves with the event that the caller records before the next model call; with
   * null when the conversation is short enough, or cannot be shorter. Throws as `ask` does.
   */
  async compact(conversation: ConversationMessage[], ask: Ask): Promise<CompactionEvent | null> {
    const { refusedBy } = this;
    const window = this.windows.of(refusedBy ?? this.modelId);
    if (window === Infinity) return null;
    const budget = budgetOf(window);
    const measured = this.measure(conversation);
    if (refusedBy !== null) {
      this.refusedBy = null;
      // The provider refused it: so it has more tokens than was estimated, and more than the window.
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
    const messages = this.compacted(conversation);
    return { messages, tokens: this.size.tokens(messages, this.counted), size: this.size };
  }

  private async summary(
    conversation: ConversationMessage[],
    measured: Measured,
    budget: ContextBudget,
    ask: Ask,
  ): Promise<CompactionEvent | null> {
    this.summarised = true;
    const { messages } = measured;
    const least = this.compactions.some(({ kind }) => kind === 'summary') ? 1 : 0;
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
    const summary = summaryText(whole, textOf(answer?.parts ?? []), limits);
    const what = { kind: 'summary', uptoMessageId: upto.id, uptoCalls: 0, summary } as const;
    return this.done(conversation, measured, what, answer);
  }

  /** The model's summary. Null when the provider refuses even a short record: the summary then consists of people's messages and the plan. */
  private async notes(messages: ConversationMessage[], budget: ContextBudget, ask: Ask): Promise<CalledAnswer | null> {
    for (const perToken of RECORD) {
      const text = recordText(messages, Math.floor(budget.all * perToken));
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
    what: Omit<Compaction, 'throughMessageId' | 'tokensAfter'>,
    answer: CalledAnswer | null,
  ): CompactionEvent {
    const perByte = tokens / this.size.bytes(messages);
    const throughMessageId = conversation.at(-1)?.id ?? what.uptoMessageId;
    const sent = compacted(conversation, [...this.compactions, { ...what, throughMessageId, tokensAfter: 0 }]);
    const tokensAfter = Math.ceil(this.size.bytes(sent) * perByte);
    const cut = { ...what, throughMessageId, tokensAfter };
    this.compactions.push(cut);
    this.counted = { tokens: tokensAfter, messageId: throughMessageId, withResults: true };
    const messageId = newId();
    const data = { kind: cut.kind, tokensBefore: tokens, tokensAfter };
    // The summary's message says which model wrote it, if it was another one, as any answer does.
    const notices = (answer?.parts ?? []).filter(({ type }) => type === 'data');
    const parts: StoredPart[] = [...notices, { type: 'data', name: 'context', id: messageId, data }];
    const by = answer === null ? {} : { model: answer.model };
    return { type: 'cut', messageId, cut, parts, usage: answer?.usage ?? null, ...by };
  }
}

function countedAtFirst(
  compactions: Compaction[],
  tokens: number | null,
  messages: ConversationMessage[],
): Counted | null {
  const last = messages.findLast(({ role }) => role === 'assistant');
  if (tokens !== null && tokens > 0 && last !== undefined) return { tokens, messageId: last.id, withResults: false };
  const one = compactions.at(-1);
  return one === undefined ? null : { tokens: one.tokensAfter, messageId: one.throughMessageId, withResults: true };
}
