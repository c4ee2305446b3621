// Answers and calls that were cut off at the output limit of a model (reference §15).
import type { ConversationMessage, StoredPart } from '../models/conversation.js';
import { cutsInARow } from '../models/nudges.js';

export const CUT_TOO_OFTEN = {
  code: 'output_limit',
  message: 'The answer was cut off at the output limit of the model, again and again.',
  retryable: true,
};

export const CUT_CALL =
  'This call was cut off at your output limit, so it was not carried out. Say it in less, for example in several smaller calls.';

/** The record of an answer that the next one goes on with. */
export function markedCut(parts: StoredPart[]): StoredPart[] {
  return parts.map((part) => (part.type === 'step_start' ? { ...part, cut: true } : part));
}

export function isCutCall({ parts }: ConversationMessage, toolCallId: string): boolean {
  return parts.some((part) => part.type === 'tool' && part.toolCallId === toolCallId && part.cut === true);
}

/** The text of the answer at the end of a conversation, put together from its pieces; null when the last piece is cut off. */
export function wholeAnswer(conversation: readonly ConversationMessage[]): string | null {
  if (cutsInARow(conversation) > 0) return null;
  const before = cutsInARow(conversation.slice(0, -1));
  const pieces = conversation.slice(conversation.length - 1 - before);
  return pieces
    .map(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n'))
    .join('');
}
