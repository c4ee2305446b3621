import type { ConversationMessage, ToolResult } from '../../models/conversation.js';
import { keptFiles } from '../../models/request-files.js';
import { outputFile } from '../../models/result-lines.js';
import { resultText } from '../../models/result-text.js';

/**
 * One compaction of a conversation that became too long for its model (reference §15). The record keeps everything.
 *
 * - `results`: the model is still sent the calls up to a point, and no longer their results.
 * - `summary`: the model is sent a summary instead of the messages up to a point.
 */
export interface Compaction {
  kind: 'results' | 'summary';
  /** The last message that it compacts. */
  uptoMessageId: string;
  /** Of `results`: how many calls of that message. */
  uptoCalls: number;
  /** Of `summary`: its text. */
  summary: string | null;
  /** The last message of the conversation at that time, and the tokens that the compacted conversation had then. */
  throughMessageId: string;
  tokensAfter: number;
}

/** A result of fewer characters stays: the note in its stead would hardly be shorter. */
const SHORT = 200;

/** The conversation as the model is sent it. The last compaction of each kind counts: it includes the earlier ones. */
export function compacted(messages: ConversationMessage[], compactions: Compaction[]): ConversationMessage[] {
  const summary = summaryIn(compactions);
  const results = compactions.findLast(({ kind }) => kind === 'results');
  const begin = summary === undefined ? 0 : indexOf(messages, summary) + 1;
  const last = results === undefined ? -1 : indexOf(messages, results);
  const turn = turnOfCompaction(messages, compactions);
  const kept = messages.slice(begin).map((given, index) => {
    const at = begin + index;
    const message = at < turn && given.role === 'assistant' ? { ...given, beforeCut: true as const } : given;
    if (at > last || results === undefined) return message;
    return withoutResults(message, at === last ? results.uptoCalls : message.invocations.length);
  });
  return summary === undefined ? kept : [summaryMessage(summary), ...kept];
}

/** The messages behind the last summary; all, when there is none. */
export function afterSummary(messages: ConversationMessage[], compactions: Compaction[]): ConversationMessage[] {
  const summary = summaryIn(compactions);
  return summary === undefined ? messages : messages.slice(indexOf(messages, summary) + 1);
}

function summaryIn(compactions: Compaction[]): Compaction | undefined {
  return compactions.findLast(({ kind }) => kind === 'summary');
}

function indexOf(messages: ConversationMessage[], { uptoMessageId }: Compaction): number {
  return messages.findLastIndex(({ id }) => id === uptoMessageId);
}

/**
 * Index of the message with which the turn of the last compaction began. It stays the same until the next compaction, so the prompt only
 * grows. Answers of that turn are sent unchanged, because providers check a call against the reasoning before it.
 */
function turnOfCompaction(messages: ConversationMessage[], compactions: Compaction[]): number {
  const through = Math.max(
    -1,
    ...compactions.map((one) => messages.findLastIndex(({ id }) => id === one.throughMessageId)),
  );
  return messages.slice(0, through + 1).findLastIndex(({ role }) => role === 'user');
}

function summaryMessage({ uptoMessageId, summary }: Compaction): ConversationMessage {
  return { id: uptoMessageId, role: 'user', parts: [{ type: 'text', text: summary ?? '' }], invocations: [] };
}

function withoutResults(message: ConversationMessage, calls: number): ConversationMessage {
  if (calls === 0) return message;
  const invocations = message.invocations.map((one, idx) => {
    return idx < calls && one.result !== null ? { ...one, result: leftOut(one.result) } : one;
  });
  return { ...message, invocations };
}

/** Remembered, because every step of a run asks for each again. */
const LEFT_OUT = new WeakMap<ToolResult, ToolResult>();

/** The note in place of a result that is left out; the result itself, when it is too short to be left out. */
export function leftOut(result: ToolResult): ToolResult {
  let found = LEFT_OUT.get(result);
  if (found === undefined) LEFT_OUT.set(result, (found = shortened(result)));
  return found;
}

function shortened(result: ToolResult): ToolResult {
  const { length } = resultText(result);
  const files = keptFiles(result).length;
  if (result.status === 'denied' || (length <= SHORT && files === 0)) return result;
  const withFiles = files === 0 ? '' : ', and what it showed';
  const whole = result.forModel?.whole;
  const again = whole === undefined ? 'Run it again.' : `Run it again or read ${outputFile(whole)}`;
  const text = `[Result left out: ${length.toLocaleString('en-US')} characters${withFiles}. ${again}]`;
  return result.status === 'error' ? { status: 'error', error: text } : { status: 'success', output: text };
}
