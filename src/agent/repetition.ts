import type { ConversationMessage, ToolInvocation } from '../models/conversation.js';

/**
 * How often in a row the model has made one and the same single call, the last one included; 0 when its last step was
 * something else. A message of the user begins a new row.
 */
export function repetitions(conversation: ConversationMessage[]): number {
  let first: string | null = null;
  let count = 0;
  for (let index = conversation.length - 1; index >= 0; index--) {
    const message = conversation[index];
    const call = message?.invocations[0];
    if (message?.role !== 'assistant' || call === undefined || message.invocations.length > 1) break;
    const key = keyOf(call);
    first ??= key;
    if (key !== first) break;
    count++;
  }
  return count;
}

function keyOf({ name, input }: ToolInvocation): string {
  return `${name} ${JSON.stringify(input)}`;
}

/** What the model reads instead of a result. */
export function repeatedError(times: number, fatal: number): string {
  return (
    `You have now made this same call with the same arguments ${times} times in a row, so it was not carried out. ` +
    `Its earlier results still hold. Do something else, or finish; the task fails when the call is made ${fatal} times.`
  );
}
