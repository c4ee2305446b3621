// What `read` does with a picture or a PDF: the model is sent the file itself.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { newId } from '../../../platform/database/ids.js';
import type { KeptFile } from '../../models/conversation.js';
import { fileKind, readableType } from '../../models/request-files.js';
import type { PublishedFile, ToolContext, ToolOutcome } from '../agent-tool.js';
import { UnreadableFileError } from '../pictures.js';
import { notTaken, type ReadableFile, readableFile } from '../task-files.js';

/** Bytes that determine the type. */
const HEAD = 16;

/** The type of a file that a model may read, or null, and the whole content again. */
export async function sniffed(content: Readable): Promise<{ type: string | null; content: Readable }> {
  if (!content.readableEnded && content.readableLength === 0)
    await Promise.race([once(content, 'readable'), once(content, 'end')]);
  const head = content.read() as Buffer | null;
  if (head === null) return { type: null, content };
  content.unshift(head);
  return { type: readableType(head.subarray(0, HEAD)), content };
}

/** The result that has the file. Throws the message for the model when it cannot be sent. */
export async function show(
  { path, type, size, content }: { path: string; type: string; size: number; content: Readable },
  { input = ['text'] }: ToolContext,
): Promise<ToolOutcome> {
  const kind = fileKind(type);
  const what = `${path} is a ${kind === 'file' ? 'PDF' : 'picture'} (${type}, ${size} bytes)`;
  if (kind === null || !input.includes(kind)) {
    content.destroy();
    const advice =
      kind === 'file' ? 'Take its text with bash (pdftotext, strings)' : 'Look at it with bash (file, xxd)';
    throw new Error(`${what}, and ${notTaken(kind ?? 'file')}. ${advice}.`);
  }
  const { words, kept, files } = await handedOver(content, posix.basename(path), what);
  return { status: 'success', output: `${what}. ${words}`, forModel: { files: [kept] }, files };
}

/**
 * A picture or a PDF as the model is sent it: what is said of it, and what goes on record. Throws the message for the model.
 * @param what the beginning of that message: a sentence up to its object.
 */
export async function handedOver(
  content: Readable,
  name: string,
  what: string,
): Promise<{ words: string; kept: KeptFile; files: PublishedFile[] }> {
  const file = await readableFile(content).catch((error: unknown) => {
    throw error instanceof UnreadableFileError
      ? new Error(`${what} that is not shown: ${error.message}.`, { cause: error })
      : error;
  });
  const kept = keptFile(file, name);
  const words = file.mediaType === 'application/pdf' ? 'You are shown it.' : sizeInWords(file);
  const about = { id: newId(), name: kept.name, size: kept.size, forModel: true as const };
  return { words, kept, files: [{ ...about, content: Readable.from([file.bytes]) }] };
}

function sizeInWords({ width, height, from }: ReadableFile): string {
  const scaled = from !== undefined && Math.max(from.width, from.height) > Math.max(width ?? 0, height ?? 0);
  return scaled
    ? `It has ${from.width} × ${from.height} pixels; you are shown it with ${width} × ${height}.`
    : `You are shown it with ${width} × ${height} pixels.`;
}

function keptFile({ mediaType, bytes, width, height }: ReadableFile, name: string): KeptFile {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const pixels = width === undefined || height === undefined ? {} : { width, height };
  return { sha256, mediaType, name: name || 'file', size: bytes.length, ...pixels };
}
