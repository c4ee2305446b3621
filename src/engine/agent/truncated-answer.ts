// Answers and calls that were truncated at the output limit of a model (reference §15). The record marks them with `cut`.
import { type ConversationMessage, type StoredPart, textOf } from '../models/conversation.js';
import { truncatedInARow } from '../models/nudges.js';

export const TRUNCATED_TOO_OFTEN = {
  code: 'output_limit',
  message: 'The answer was cut off at the output limit of the model, again and again.',
  retryable: true,
};

export const TRUNCATED_CALL =
  'This call was cut off at your output limit, so it was not carried out. Say it in less, for example in several smaller calls.';

/** The record of an answer that the next one goes on with. */
export function markedTruncated(parts: StoredPart[]): StoredPart[] {
  return parts.map((part) => (part.type === 'step_start' ? { ...part, cut: true } : part));
}

export function isTruncatedCall({ parts }: ConversationMessage, toolCallId: string): boolean {
  return parts.some((part) => part.type === 'tool' && part.toolCallId === toolCallId && part.cut === true);
}

/** The text of the answer at the end of a conversation, put together from its parts; null when the last part is truncated. */
export function wholeAnswer(conversation: readonly ConversationMessage[]): string | null {
  if (truncatedInARow(conversation) > 0) return null;
  const before = truncatedInARow(conversation.slice(0, -1));
  const answers = conversation.slice(conversation.length - 1 - before);
  return answers.map(({ parts }) => textOf(parts)).join('');
}
