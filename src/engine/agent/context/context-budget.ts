// How much of a model's window is used before something is left out, and what (docs/decisions/0048).
import type { ConversationMessage } from '../../models/conversation.js';
import { leftOut } from './compaction.js';
import type { ContextSize } from './context-size.js';

/** Tokens, by a model's window. */
export interface ContextBudget {
  window: number;
  /** What may be sent; the rest is for the answer. */
  all: number;
  /** From here on the oldest results are left out, down to `few`, or not at all when that frees less than `batch`. */
  many: number;
  few: number;
  batch: number;
  /** From here on the beginning is summarised. */
  tooMany: number;
  /** The end of the conversation, which stays. */
  tail: number;
  /** Of a summary: messages of people, the model's text (also of an answer that was truncated), the plan, the surroundings. */
  people: number;
  summary: number;
  plan: number;
  surroundings: number;
}

export function budgetOf(window: number): ContextBudget {
  const all = window - Math.min(20_000, Math.floor(window / 4));
  const partOf = (part: number, most = Infinity) => Math.floor(Math.min(most, all * part));
  return {
    window,
    all,
    many: partOf(0.7),
    few: partOf(0.5),
    batch: Math.floor(window * 0.15),
    tooMany: partOf(0.85),
    tail: partOf(0.25, 15_000),
    people: partOf(1 / 6, 20_000),
    summary: partOf(1 / 6, 6_000),
    plan: partOf(1 / 20, 2_000),
    surroundings: partOf(1 / 15, 8_000),
  };
}

/** A conversation as it is sent, and what it takes. */
export interface Measured {
  messages: ConversationMessage[];
  tokens: number;
  size: ContextSize;
}

/** Up to which call the results are left out, and the bytes that this frees. Null when it is not worth a new prompt. */
export function resultsToLeaveOut(
  { messages, tokens, size }: Measured,
  budget: ContextBudget,
): { uptoMessageId: string; uptoCalls: number; freed: number } | null {
  const perByte = tokens / size.bytes(messages);
  const end = tailBegin({ messages, tokens, size }, budget.tail);
  let freed = 0;
  let found: { uptoMessageId: string; uptoCalls: number } | null = null;
  for (const [at, message] of messages.entries()) {
    for (const [idx, call] of message.invocations.entries()) {
      if (at > end.at || (at === end.at && idx >= end.calls)) break;
      if (tokens - freed * perByte <= budget.few) break;
      const short = call.result === null ? null : leftOut(call.result);
      if (short === call.result) continue;
      freed += size.ofResult(call) - size.ofResult({ ...call, result: short });
      found = { uptoMessageId: message.id, uptoCalls: idx + 1 };
    }
  }
  return found === null || freed * perByte < budget.batch ? null : { ...found, freed };
}

/** Where the last `tail` tokens begin: results before this call of this message are older. */
function tailBegin({ messages, tokens, size }: Measured, tail: number): { at: number; calls: number } {
  const perByte = tokens / size.bytes(messages);
  let after = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    const { invocations } = messages[at] as ConversationMessage;
    for (let calls = invocations.length; calls > 0; calls--) {
      if (after * perByte >= tail) return { at, calls };
      const call = invocations[calls - 1];
      if (call !== undefined) after += size.ofResult(call);
    }
    after += size.ofWords(messages[at] as ConversationMessage);
  }
  return { at: -1, calls: 0 };
}

/**
 * How many messages a summary stands for; the others stay. The last step stays when it is not too long, though it has more than the tail.
 * @param least the summary that stands at the beginning already, if any, is no reason for another one.
 */
export function messagesToSummarise(
  { messages, tokens, size }: Measured,
  budget: ContextBudget,
  least: number,
): number {
  const perByte = tokens / size.bytes(messages);
  let kept = 0;
  let begin = messages.length;
  while (begin > 0) {
    kept += size.ofMessage(messages[begin - 1] as ConversationMessage) * perByte;
    const isLastStep = begin === messages.length && messages[begin - 1]?.role === 'assistant';
    if (kept > (isLastStep ? budget.all * 0.4 : budget.tail)) break;
    begin--;
  }
  return begin > least ? begin : messages.length;
}
