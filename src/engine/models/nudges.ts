// What the service says to a model between its answers. It is not stored: the record of the steps says where it was said, so that what
// was sent once is sent again the same.
import type { ConversationMessage } from './conversation.js';

const AFTER_EMPTY = '[Your last answer was empty. Answer the user, or call a tool.]';
export const AFTER_TRUNCATION =
  '[Your answer was cut off at its output limit. Go on exactly where it ended, and repeat nothing.]';

/** The `data` part of an answer that does not fit the schema of its task; `errors` says why. */
export const OUTPUT_FAULT = 'output_errors';

/** What the service says after an empty answer, before it asks the model once more. */
export function nudgeAfterEmpty(): ConversationMessage {
  return said(AFTER_EMPTY);
}

/** The conversation as a model reads it: with what the service said in it. */
export function withNudges(messages: ConversationMessage[]): ConversationMessage[] {
  return messages.flatMap((message) => {
    const { nudged, truncated } = marksOf(message);
    const fault = outputFault(message);
    const after = truncated ? AFTER_TRUNCATION : fault === null ? null : afterUnfit(fault);
    return [...(nudged ? [said(AFTER_EMPTY)] : []), message, ...(after === null ? [] : [said(after)])];
  });
}

/** How many answers at the end of a conversation were truncated, one after another. */
export function truncatedInARow(messages: readonly ConversationMessage[]): number {
  const last = messages.findLastIndex((message) => !marksOf(message).truncated);
  return messages.length - 1 - last;
}

/** Why an answer does not fit the schema of its task; null when it does, or needs not. */
export function outputFault({ role, parts }: ConversationMessage): string | null {
  if (role === 'user') return null;
  const part = parts.at(-1);
  if (part?.type !== 'data' || part.name !== OUTPUT_FAULT) return null;
  const { errors } = part.data as { errors?: unknown };
  return typeof errors === 'string' ? errors : null;
}

/** What the service says after such an answer. */
export function afterUnfit(fault: string): string {
  return `[Your answer does not fit the JSON Schema that this task asks for:\n${fault}\nAnswer once more, with the JSON alone.]`;
}

function marksOf({ parts }: ConversationMessage): { nudged: boolean; truncated: boolean } {
  const [first] = parts;
  if (first?.type !== 'step_start') return { nudged: false, truncated: false };
  return { nudged: first.nudged === true, truncated: first.cut === true };
}

/** Whether the service has said it, and no person. */
export function isNudge({ id }: ConversationMessage): boolean {
  return id === '';
}

/** A new one each time: a model may keep what it knows of a message by its identity. */
function said(text: string): ConversationMessage {
  return { id: '', role: 'user', parts: [{ type: 'text', text }], invocations: [] };
}
