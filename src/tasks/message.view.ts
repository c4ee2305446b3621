import type { Transparency } from '../config/config-file.js';
import { downloadUrl } from '../files/file.view.js';
import type { StoredPart } from '../models/conversation.js';
import type { InvocationRow, MessageRow } from './message.row.js';

/** A part as clients see it (reference §6): exactly the fields of its type. */
type PartView = { type: string } & Record<string, unknown>;

/** What a view needs beside the row: the policy, and the origin for absolute links. */
export interface MessageViewContext {
  transparency: Transparency;
  origin: string;
}

/** A message under the transparency policy. Without exposed parts it is to be omitted: see `parts.length`. */
export function messageView(row: MessageRow, context: MessageViewContext) {
  return {
    id: row.id,
    role: row.role,
    createdAt: row.createdAt.toISOString(),
    status: row.status,
    createdBy: row.createdById === null ? null : { id: row.createdById, name: row.createdByName },
    parts: row.parts.flatMap((part) => partViews(part, row.invocations ?? [], context)),
  };
}

function partViews(part: StoredPart, invocations: InvocationRow[], context: MessageViewContext): PartView[] {
  const { transparency } = context;
  switch (part.type) {
    case 'text':
      return transparency.text ? [{ type: 'text', text: part.text }] : [];
    case 'reasoning':
      // One without text is stored for its seal, which only its provider can read.
      return transparency.reasoning && part.text !== '' ? [{ type: 'reasoning', text: part.text }] : [];
    case 'tool': {
      const invocation = invocations.find(({ toolCallId }) => toolCallId === part.toolCallId);
      return transparency.tool_activity && invocation !== undefined ? toolViews(invocation) : [];
    }
    case 'file':
      return transparency.files ? [fileView(part, context.origin)] : [];
    case 'reasoning_file':
      return transparency.reasoning_files ? [fileView(part, context.origin)] : [];
    case 'source_url':
      return transparency.url_sources
        ? [{ type: part.type, sourceId: part.sourceId, url: part.url, title: part.title }]
        : [];
    case 'source_document':
      return transparency.document_sources ? [documentView(part)] : [];
    case 'custom':
      return transparency.custom ? [{ type: 'custom', kind: part.kind, data: part.data }] : [];
    case 'data':
      return transparency.data ? [{ type: 'data', name: part.name, id: part.id, data: part.data }] : [];
    case 'step_start':
      return transparency.step_boundaries ? [{ type: 'step_start' }] : [];
  }
}

/** The two views of one invocation: its call and, once it is completed, directly after it its result. */
function toolViews({ toolCallId, name, input, state, output, error }: InvocationRow): PartView[] {
  const call = { type: 'tool_call', toolCallId, name, input };
  const result = { type: 'tool_result', toolCallId, name, status: state };
  switch (state) {
    case 'running':
      return [call];
    case 'success':
      return [call, { ...result, output }];
    case 'error':
      return [call, { ...result, error }];
    case 'denied':
      return [call, result];
  }
}

function fileView(part: Extract<StoredPart, { type: 'file' | 'reasoning_file' }>, origin: string): PartView {
  const { type, fileId: id, name, mediaType } = part;
  return { type, id, name, mediaType, downloadUrl: downloadUrl(id, origin) };
}

function documentView({
  type,
  sourceId,
  mediaType,
  title,
  name,
}: Extract<StoredPart, { type: 'source_document' }>): PartView {
  return { type, sourceId, mediaType, title, name };
}
