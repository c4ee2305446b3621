import { z } from 'zod';
import type { Transparency } from '../../../platform/config/config-file.js';
import { downloadUrl } from '../../files/file.view.js';
import { idSchema, named, personSchema, timestampSchema, timestampView } from '../../../platform/http/schema.js';
import { CHECKS_PART } from '../../../engine/agent/check-steps.js';
import type { JsonValue, StoredPart } from '../../../engine/models/conversation.js';
import { OUTPUT_FAULT } from '../../../engine/models/nudges.js';
import type { InvocationRow, MessageRow } from './message.sql.js';

const toolCall = { toolCallId: z.string(), name: z.string() };
const anyJson = z.unknown().describe('Any JSON value.');
const fileFields = { id: idSchema, name: z.string(), mediaType: z.string(), downloadUrl: z.string() };

// The results of the three statuses have different fields, so they are told apart by two keys.
const toolResults = [
  named('SuccessfulToolResult', z.strictObject({ type: z.literal('tool_result'), ...toolCall, status: z.literal('success'), output: anyJson })),
  named('FailedToolResult', z.strictObject({ type: z.literal('tool_result'), ...toolCall, status: z.literal('error'), error: z.string() })),
  named('DeniedToolResult', z.strictObject({ type: z.literal('tool_result'), ...toolCall, status: z.literal('denied') })),
] as const; // prettier-ignore

export const partSchema = named(
  'MessagePart',
  z.union([
    named('TextPart', z.strictObject({ type: z.literal('text'), text: z.string() })),
    named('ReasoningPart', z.strictObject({ type: z.literal('reasoning'), text: z.string() })),
    named('ToolCallPart', z.strictObject({ type: z.literal('tool_call'), ...toolCall, input: anyJson })),
    ...toolResults,
    named('FilePart', z.strictObject({ type: z.literal('file'), ...fileFields })),
    named('SourceUrlPart', z.strictObject({ type: z.literal('source_url'), sourceId: z.string(), url: z.string(), title: z.string().nullable() })),
    named('SourceDocumentPart', z.strictObject({ type: z.literal('source_document'), sourceId: z.string(), mediaType: z.string(), title: z.string(), name: z.string().nullable() })),
    named('ReasoningFilePart', z.strictObject({ type: z.literal('reasoning_file'), ...fileFields })),
    named('DataPart', z.strictObject({ type: z.literal('data'), name: z.string(), id: z.string(), data: anyJson })),
    named('CustomPart', z.strictObject({ type: z.literal('custom'), kind: z.string(), data: anyJson })),
    named('StepStartPart', z.strictObject({ type: z.literal('step_start') })),
  ]),
  { description: 'Told apart by `type`. Which types appear depends on the transparency policy.' },
); // prettier-ignore

export const messageSchema = named(
  'Message',
  z.strictObject({
    id: idSchema,
    role: z.enum(['user', 'assistant']),
    createdAt: timestampSchema,
    status: z.enum(['queued', 'in_progress', 'complete']),
    turn: z.int().min(1).nullable().describe('The number of the turn that read or made it; null while it waits.'),
    readAt: timestampSchema.nullable().describe('When a run took it; null while it waits, and for the assistant.'),
    createdBy: personSchema.nullable().describe('Null for the assistant.'),
    parts: z.array(partSchema),
  }),
);

/** A message as clients see it. */
export type MessageView = z.output<typeof messageSchema>;
/** A part as clients see it (reference §6): exactly the fields of its type. */
export type PartView = z.output<typeof partSchema>;

/** Names of the `data` parts that say why a branch, its pull request, the patch of a turn, what was in the folder or an answer of a host is not there. */
const NOT_ARRIVED: ReadonlySet<string> = new Set(['repository_push', 'repository_patch', 'workdir', 'network']);

/** What a view needs beside the row: the policy, and the origin for absolute links. */
export interface MessageViewContext {
  transparency: Transparency;
  origin: string;
}

/** A message under the transparency policy. Without exposed parts it is to be omitted: see `parts.length`. */
export function messageView(row: MessageRow, { transparency, origin }: MessageViewContext): MessageView {
  // The comments of a review are a person's words: they are shown where text is, too.
  const custom = transparency.custom || (row.role === 'user' && transparency.text);
  const context = { transparency: { ...transparency, custom }, origin };
  return {
    id: row.id,
    role: row.role,
    createdAt: timestampView(row.createdAt),
    status: row.status,
    turn: row.turn,
    readAt: row.readAt === null ? null : timestampView(row.readAt),
    createdBy: senderOf(row),
    parts: row.parts.flatMap((part) => partViews(part, row.invocations ?? [], context)),
  };
}

/** Null for the assistant. */
function senderOf({ createdById: id, createdByName: name }: MessageRow) {
  return id === null || name === null ? null : { id, name };
}

/** A result with the parts that the tool has added to its message, as clients see them. */
export function resultViews(call: InvocationRow, added: StoredPart[], context: MessageViewContext): PartView[] {
  const result = context.transparency.tool_activity ? toolViews(call).slice(1) : [];
  return [...result, ...added.flatMap((part) => partViews(part, [], context))];
}

function partViews(part: StoredPart, invocations: InvocationRow[], context: MessageViewContext): PartView[] {
  const { transparency } = context;
  switch (part.type) {
    case 'text':
      return transparency.text ? [{ type: 'text', text: part.text }] : [];
    case 'surroundings':
      return [];
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
      // What does not fit a schema is said in words of the answer. Why the changes of a turn did not arrive is told to all who see its answer.
      return (transparency.data && (transparency.text || part.name !== OUTPUT_FAULT)) ||
        (transparency.text && NOT_ARRIVED.has(part.name))
        ? [
            {
              type: 'data',
              name: part.name,
              id: part.id,
              data: transparency.tool_activity ? part.data : withoutOutput(part),
            },
          ]
        : [];
    case 'step_start':
      return transparency.step_boundaries ? [{ type: 'step_start' }] : [];
  }
}

/** What checks have written is tool activity; that they failed is not (reference §26). */
function withoutOutput({ name, data }: Extract<StoredPart, { type: 'data' }>): JsonValue {
  if (name !== CHECKS_PART) return data;
  const { failed, ...round } = data as { failed: { [field: string]: JsonValue }[]; [field: string]: JsonValue };
  return { ...round, failed: failed.map((check) => ({ ...check, output: null })) };
}

/** The two views of one invocation: its call and, once it is completed, directly after it its result. */
function toolViews({ toolCallId, name, input, state, output, error }: InvocationRow): PartView[] {
  const call = { type: 'tool_call', toolCallId, name, input } as const;
  const result = { type: 'tool_result', toolCallId, name } as const;
  switch (state) {
    case 'running':
      return [call];
    case 'success':
      return [call, { ...result, status: state, output }];
    case 'error':
      return [call, { ...result, status: state, error: error ?? '' }];
    case 'denied':
      return [call, { ...result, status: state }];
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
