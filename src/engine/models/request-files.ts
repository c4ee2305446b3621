// Pictures and documents that a conversation shows to models that take them (reference §15, docs/decisions/0054).
import type { ConversationMessage, KeptFile, StoredPart } from './conversation.js';

/** What a model takes beside text. */
export type FileKind = 'image' | 'file';
export type ModelInput = readonly ('text' | FileKind)[];

/** Files of one request. */
const MOST_FILES = 20;
/** How many are left out at once, the oldest first: each time the provider reads the prompt anew from there on. */
const BATCH = 5;
/** Of the bytes that a request may hold, what stays when it would hold more. */
const KEPT_PART = 0.75;

/** As what a model takes a file of the type; null: not at all. */
export function fileKind(mediaType: string): FileKind | null {
  if (mediaType === 'application/pdf') return 'file';
  return /^image\/(png|jpeg|gif|webp)$/.test(mediaType) ? 'image' : null;
}

/** The media type of a file, from its first bytes; null for a type that no model reads. */
export function readableType(head: Buffer): string | null {
  const starts = (text: string, at = 0) => head.subarray(at, at + text.length).equals(Buffer.from(text, 'latin1'));
  if (starts('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (starts('\xff\xd8\xff')) return 'image/jpeg';
  if (starts('GIF87a') || starts('GIF89a')) return 'image/gif';
  if (starts('RIFF') && starts('WEBP', 8)) return 'image/webp';
  return starts('%PDF-') ? 'application/pdf' : null;
}

/** What a request contains of a file: its bytes as base64, or a clause that says why not. */
export type FileContent = { mediaType: string; name: string; data: string } | { why: string };

/** The files of one task. */
export interface RequestFiles {
  /** What a request with these messages contains of the files in them, by {@link FileRef.key}: the same for the same messages. */
  contents(messages: ConversationMessage[], limits: FileLimits): Promise<ReadonlyMap<string, FileContent>>;
}

export interface FileLimits {
  input: ModelInput;
  /** That the files of one request may have together. */
  bytes: number;
  /** Aborted when nobody waits for the request any more: then it rejects with the signal's reason, after the file that it is at. */
  signal?: AbortSignal;
}

/** A file that the conversation refers to: attached to a message (`path`), or part of a result (`kept`). */
export type FileRef = { key: string; name: string; kind: FileKind } & ({ path: string } | { kept: KeptFile });

/** The files of a conversation, in the order in which the model reads. */
export function filesIn(messages: readonly ConversationMessage[]): FileRef[] {
  return messages.flatMap(({ parts, invocations }) => {
    const attached = parts.flatMap((part): FileRef[] => {
      const kind = part.type === 'file' ? fileKind(part.mediaType) : null;
      return part.type !== 'file' || kind === null
        ? []
        : [{ key: part.fileId, name: part.name, kind, path: part.path }];
    });
    const ofResults = invocations.flatMap(({ toolCallId, result }) =>
      keptFiles(result).flatMap((kept, index): FileRef[] => {
        const kind = fileKind(kept.mediaType);
        return kind === null ? [] : [{ key: keptFileKey(toolCallId, index), name: kept.name, kind, kept }];
      }),
    );
    return [...attached, ...ofResults];
  });
}

/**
 * Files that are never sent again and only named: the provider refused a request with them and answered it without (`unshown` of a
 * step). No provider says reliably which file it refused.
 */
export function refusedIn(messages: readonly ConversationMessage[]): FileRef[] {
  const answer = messages.findLastIndex(({ parts: [first] }) => first?.type === 'step_start' && first.unshown === true);
  return filesIn(messages.slice(0, Math.max(0, answer)));
}

/** The record of an answer to a request without its files. */
export function markedWithoutFiles(parts: StoredPart[]): StoredPart[] {
  return parts.map((part) => (part.type === 'step_start' ? { ...part, unshown: true } : part));
}

/** Whether a request may contain any file. */
export function mayShow(messages: readonly ConversationMessage[], input: ModelInput): boolean {
  const refused = new Set(refusedIn(messages).map(({ key }) => key));
  return filesIn(messages).some(({ key, kind }) => input.includes(kind) && !refused.has(key));
}

/** The files of a result, which a model reads beside its text. */
export function keptFiles(result: ConversationMessage['invocations'][number]['result']): readonly KeptFile[] {
  return result?.status === 'success' ? (result.forModel?.files ?? []) : [];
}

export function keptFileKey(toolCallId: string, index: number): string {
  return `${toolCallId}/${index}`;
}

/**
 * How many of the first files are left out of a request. What is said of the first ones is the same whatever comes behind them, so that
 * a prompt only grows but for the moments in which a batch goes.
 * @param sizes bytes of each file.
 */
export function leftOutFirst(sizes: readonly number[], mostBytes: number): number {
  let first = 0;
  let total = 0;
  const drop = () => (total -= sizes[first++] ?? 0);
  for (const [index, size] of sizes.entries()) {
    total += size;
    if (index + 1 - first > MOST_FILES) for (let count = 0; count < BATCH; count++) drop();
    if (total > mostBytes) while (first < index && total > mostBytes * KEPT_PART) drop();
  }
  return first;
}

/** What a provider may count for a file. It is corrected by what it counts. */
export function fileTokens({ kind, width, height, size }: { kind: FileKind } & Partial<KeptFile>): number {
  if (kind === 'file') return size === undefined ? 20_000 : Math.min(100_000, Math.max(2_000, Math.ceil(size / 20)));
  return width === undefined || height === undefined ? 2_000 : Math.ceil((width * height) / 750);
}
