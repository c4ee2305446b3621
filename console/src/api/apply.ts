// What an event makes of a conversation that is shown. `fold` of the SDK does the same for a whole log.
import type { Message, MessagePart, TaskEvent } from './client.ts';

/** The same array when the event changes nothing. What did not change stays the same object, so that only the rest is drawn anew. */
export function applied(messages: Message[], event: TaskEvent): Message[] {
  switch (event.type) {
    case 'message.created':
    case 'message.completed':
      return withMessage(messages, event.data.message);
    case 'message.withdrawn':
      return messages.filter(({ id }) => id !== event.data.messageId);
    case 'tool.completed':
      return messages.map((message) =>
        message.id === event.data.messageId
          ? { ...message, parts: withResult(message.parts, event.data.parts) }
          : message,
      );
    default:
      return messages;
  }
}

function withMessage(messages: Message[], message: Message): Message[] {
  const at = messages.findIndex(({ id }) => id === message.id);
  if (at !== -1) {
    // What was read is newer than an event of before.
    if (messages[at]?.status === 'complete' && message.status !== 'complete') return messages;
    // An event of a message as it was created has no results, which may be there already.
    const known = messages[at]?.parts.filter(({ type }) => type === 'tool_result') ?? [];
    const parts = known.reduce((all, result) => withResult(all, [result]), message.parts);
    return messages.with(at, { ...message, parts });
  }
  const after = messages.findLastIndex(({ createdAt }) => createdAt <= message.createdAt);
  return messages.toSpliced(after + 1, 0, message);
}

/** A result stands behind its call; what the tool added, at the end. */
function withResult(parts: MessagePart[], added: MessagePart[]): MessagePart[] {
  const result = added.find((part) => part.type === 'tool_result');
  if (result === undefined) return parts;
  if (parts.some((part) => part.type === 'tool_result' && part.toolCallId === result.toolCallId)) return parts;
  const at = parts.findIndex((part) => part.type === 'tool_call' && part.toolCallId === result.toolCallId);
  if (at === -1) return parts;
  return [...parts.toSpliced(at + 1, 0, result), ...added.filter((part) => part !== result)];
}
