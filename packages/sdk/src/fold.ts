import type { Message, MessagePart, TaskEvent } from './types.js';

/**
 * The messages that events amount to, as `GET …/messages` lists them: the last form of each, in the order of `createdAt`, then of
 * its first event (reference §17).
 */
export function fold(events: Iterable<TaskEvent>): Message[] {
  const folded = new Map<string, { message: Message; first: number }>();
  for (const event of events) {
    if (event.type === 'message.created' || event.type === 'message.completed') {
      const { message } = event.data;
      folded.set(message.id, { message, first: folded.get(message.id)?.first ?? event.seq });
    } else if (event.type === 'message.withdrawn') {
      folded.delete(event.data.messageId);
    } else if (event.type === 'tool.completed') {
      const { messageId, parts } = event.data;
      const known = folded.get(messageId);
      // The first event of its message may have been hidden.
      if (known !== undefined) known.message = { ...known.message, parts: withResult(known.message.parts, parts) };
    }
  }
  const inOrder = [...folded.values()].sort(
    (a, b) => compare(a.message.createdAt, b.message.createdAt) || a.first - b.first,
  );
  return inOrder.map(({ message }) => message);
}

/** A result stands behind its call; what the tool added, at the end. */
function withResult(parts: MessagePart[], news: MessagePart[]): MessagePart[] {
  const result = news.find((part) => part.type === 'tool_result');
  const added = news.filter((part) => part !== result);
  const all = parts.flatMap((part) =>
    result !== undefined && part.type === 'tool_call' && part.toolCallId === result.toolCallId ? [part, result] : [part],
  ); // prettier-ignore
  return [...all, ...added];
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
