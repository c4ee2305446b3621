import type { Message, MessagePart } from './types.js';

/** A part of the AI SDK's `UIMessage`, versions 5 to 7. Tools are `dynamic-tool`: their names are not known before. */
export type UIPart =
  | { type: 'text'; text: string; state: 'done' }
  | { type: 'reasoning'; text: string; state: 'done' }
  | { type: 'step-start' }
  | { type: 'dynamic-tool'; toolName: string; toolCallId: string; state: 'input-available'; input: unknown }
  | { type: 'dynamic-tool'; toolName: string; toolCallId: string; state: 'output-available'; input: unknown; output: unknown }
  | { type: 'dynamic-tool'; toolName: string; toolCallId: string; state: 'output-error'; input: unknown; errorText: string }
  | { type: 'file'; mediaType: string; filename: string; url: string }
  | { type: 'source-url'; sourceId: string; url: string; title?: string }
  | { type: 'source-document'; sourceId: string; mediaType: string; title: string; filename?: string }
  | { type: `data-${string}`; id?: string; data: unknown }; // prettier-ignore

/** What the AI SDK calls `UIMessage`. */
export interface UIMessage {
  id: string;
  role: 'user' | 'assistant';
  metadata: { createdAt: string };
  parts: UIPart[];
}

/**
 * For `useChat` and its kin: the steps of a turn are one message, each begun by `step-start`, also when a person has said something in between.
 * It is the message that the stream of the turn (`format=ui-message-stream`) makes.
 */
export function toUIMessages(messages: Iterable<Message>): UIMessage[] {
  const all: UIMessage[] = [];
  const byTurn = new Map<number, UIMessage>();
  for (const { id, role, createdAt, parts, turn } of messages) {
    const last = all.at(-1);
    const known = turn === undefined || turn === null ? last : byTurn.get(turn);
    const shown: UIPart[] = role === 'assistant' ? [{ type: 'step-start' }, ...partsOf(parts)] : partsOf(parts);
    if (role === 'assistant' && known?.role === 'assistant') {
      known.parts.push(...shown);
      continue;
    }
    const message: UIMessage = { id, role, metadata: { createdAt }, parts: shown };
    all.push(message);
    if (role === 'assistant' && typeof turn === 'number') byTurn.set(turn, message);
  }
  return all;
}

function partsOf(parts: MessagePart[]): UIPart[] {
  return parts.flatMap((part): UIPart[] => {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return [{ type: part.type, text: part.text, state: 'done' }];
      case 'tool_call':
        return [toolPart(part, parts)];
      case 'file':
      case 'reasoning_file':
        return [{ type: 'file', mediaType: part.mediaType, filename: part.name, url: part.downloadUrl }];
      case 'source_url':
        return [{ type: 'source-url', sourceId: part.sourceId, url: part.url, ...(part.title !== null && { title: part.title }) }];
      case 'source_document': {
        const { sourceId, mediaType, title, name } = part;
        return [{ type: 'source-document', sourceId, mediaType, title, ...(name !== null && { filename: name }) }];
      }
      case 'data':
        return [{ type: `data-${part.name}`, id: part.id, data: part.data }];
      case 'custom':
        return [{ type: `data-${part.kind}`, data: part.data }];
      default:
        // `tool_result` stands in its call's part, `step_start` is set by us; others are not known to this version.
        return [];
    }
  });
} // prettier-ignore

function toolPart(call: Extract<MessagePart, { type: 'tool_call' }>, parts: MessagePart[]): UIPart {
  const { toolCallId, name: toolName, input } = call;
  const about = { type: 'dynamic-tool', toolName, toolCallId, input } as const;
  const result = parts.find((part) => part.type === 'tool_result' && part.toolCallId === toolCallId);
  if (result?.type !== 'tool_result') return { ...about, state: 'input-available' };
  if (result.status === 'success') return { ...about, state: 'output-available', output: result.output };
  return { ...about, state: 'output-error', errorText: result.status === 'error' ? result.error : 'Denied.' };
}
