import type { ConversationMessage, ToolResult } from '../../models/conversation.js';
import { keptFiles } from '../../models/request-files.js';
import { outputFile } from '../../models/result-lines.js';
import { resultText } from '../../models/result-text.js';

/**
 * What a model is not sent any more, from the beginning of a conversation on (reference §15). The record keeps everything.
 *
 * - `results`: of the calls before a place only that there were results.
 * - `summary`: of the messages up to a place nothing; a text stands for them.
 */
export interface ContextCut {
  kind: 'results' | 'summary';
  /** The last message that it concerns. */
  uptoMessageId: string;
  /** Of `results`: how many calls of that message. */
  uptoCalls: number;
  /** Of `summary`: the text. */
  summary: string | null;
  /** The last message of the conversation at that time, and the tokens of all that is sent up to it. */
  throughMessageId: string;
  tokensAfter: number;
}

/** Characters of a result that is not worth leaving out: what would stand for it is hardly shorter. */
const SHORT = 200;

/** The conversation as the model is sent it. The last cut of each kind holds; the others are within it. */
export function withCuts(messages: ConversationMessage[], cuts: ContextCut[]): ConversationMessage[] {
  const summary = summaryIn(cuts);
  const results = cuts.findLast(({ kind }) => kind === 'results');
  const begin = summary === undefined ? 0 : placeOf(messages, summary) + 1;
  const last = results === undefined ? -1 : placeOf(messages, results);
  const turn = turnOfCut(messages, cuts);
  const kept = messages.slice(begin).map((given, index) => {
    const place = begin + index;
    const message = place < turn && given.role === 'assistant' ? { ...given, beforeCut: true as const } : given;
    if (place > last || results === undefined) return message;
    return withoutResults(message, place === last ? results.uptoCalls : message.invocations.length);
  });
  return summary === undefined ? kept : [summaryMessage(summary), ...kept];
}

/** Those messages for which no summary stands. */
export function afterSummary(messages: ConversationMessage[], cuts: ContextCut[]): ConversationMessage[] {
  const summary = summaryIn(cuts);
  return summary === undefined ? messages : messages.slice(placeOf(messages, summary) + 1);
}

function summaryIn(cuts: ContextCut[]): ContextCut | undefined {
  return cuts.findLast(({ kind }) => kind === 'summary');
}

function placeOf(messages: ConversationMessage[], { uptoMessageId }: ContextCut): number {
  return messages.findLastIndex(({ id }) => id === uptoMessageId);
}

/**
 * Where the turn of the last cut begins. That place stays until the next cut, so the prompt only grows; and the answers of that turn stay
 * as they were given, because a call must follow what was thought before it.
 */
function turnOfCut(messages: ConversationMessage[], cuts: ContextCut[]): number {
  const through = Math.max(-1, ...cuts.map((cut) => messages.findLastIndex(({ id }) => id === cut.throughMessageId)));
  return messages.slice(0, through + 1).findLastIndex(({ role }) => role === 'user');
}

function summaryMessage({ uptoMessageId, summary }: ContextCut): ConversationMessage {
  return { id: uptoMessageId, role: 'user', parts: [{ type: 'text', text: summary ?? '' }], invocations: [] };
}

function withoutResults(message: ConversationMessage, calls: number): ConversationMessage {
  if (calls === 0) return message;
  const invocations = message.invocations.map((one, idx) => {
    return idx < calls && one.result !== null ? { ...one, result: leftOut(one.result) } : one;
  });
  return { ...message, invocations };
}

/** Each is asked for again before every step. */
const LEFT_OUT = new WeakMap<ToolResult, ToolResult>();

/** What stands for a result that is left out; the result itself when it stays. */
export function leftOut(result: ToolResult): ToolResult {
  let found = LEFT_OUT.get(result);
  if (found === undefined) LEFT_OUT.set(result, (found = shortened(result)));
  return found;
}

function shortened(result: ToolResult): ToolResult {
  const { length } = resultText(result);
  const files = keptFiles(result).length;
  if (result.status === 'denied' || (length <= SHORT && files === 0)) return result;
  const shown = files === 0 ? '' : ', and what it showed';
  const whole = result.forModel?.whole;
  const again = whole === undefined ? 'Run it again.' : `Run it again or read ${outputFile(whole)}`;
  const text = `[Result left out: ${length.toLocaleString('en-US')} characters${shown}. ${again}]`;
  return result.status === 'error' ? { status: 'error', error: text } : { status: 'success', output: text };
}
