import type { ConversationMessage } from '../models/conversation.js';

/**
 * How many steps in a row, the last one included, the model has made the same call or the same set of calls; 0 when its last
 * step made none. A message of the user begins a new row.
 */
export function repetitions(conversation: ConversationMessage[]): number {
  let first: string | null = null;
  let count = 0;
  for (let index = conversation.length - 1; index >= 0; index--) {
    const message = conversation[index];
    if (message?.role !== 'assistant' || message.invocations.length === 0) break;
    const key = JSON.stringify(message.invocations.map(({ name, input }) => [name, input]));
    first ??= key;
    if (key !== first) break;
    count++;
  }
  return count;
}

/** What the model reads instead of a result. */
export function repeatedError(times: number, fatal: number): string {
  return (
    `You have now made this same call with the same arguments ${times} times in a row, so it was not carried out. ` +
    `Its earlier results still hold. Do something else, or finish; the task fails when the call is made ${fatal} times.`
  );
}
