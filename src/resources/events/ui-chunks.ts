// Parts of messages as chunks of the AI SDK's UI message stream v1: only those that its versions 5, 6 and 7 all read (reference §17).
import type { PartView } from '../tasks/messages/message.view.js';

export type Chunk = { type: string } & Record<string, unknown>;

/** The chunks of a part that is whole; `id` tells its text from others. `toUIMessages` of the SDK makes the same of a list. */
export function chunksOf(part: PartView, id: string): Chunk[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [textStart(part.type, id), textDelta(part.type, id, part.text), textEnd(part.type, id)];
    case 'tool_call': {
      const { toolCallId, name: toolName, input } = part;
      return [{ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true }];
    }
    case 'tool_result':
      return [resultChunk(part)];
    case 'file':
    case 'reasoning_file':
      return [{ type: 'file', mediaType: part.mediaType, url: part.downloadUrl }];
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
    case 'step_start':
      return [];
  }
} // prettier-ignore

function resultChunk(part: Extract<PartView, { type: 'tool_result' }>): Chunk {
  const { toolCallId } = part;
  // Version 5 looks for the call by `dynamic`.
  const about = { toolCallId, dynamic: true };
  if (part.status === 'success') return { type: 'tool-output-available', ...about, output: part.output };
  return { type: 'tool-output-error', ...about, errorText: part.status === 'error' ? part.error : 'Denied.' };
}

type TextType = 'text' | 'reasoning';
export const textStart = (type: TextType, id: string): Chunk => ({ type: `${type}-start`, id });
export const textDelta = (type: TextType, id: string, delta: string): Chunk => ({ type: `${type}-delta`, id, delta });
export const textEnd = (type: TextType, id: string): Chunk => ({ type: `${type}-end`, id });
