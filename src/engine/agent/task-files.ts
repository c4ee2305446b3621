import type { Readable } from 'node:stream';
import type { ConversationMessage, KeptFile } from '../models/conversation.js';
import { ModelError } from '../models/model-provider.js';
import {
  type FileContent,
  type FileKind,
  type FileLimits,
  type FileRef,
  filesIn,
  leftOutFirst,
  refusedIn,
  type RequestFiles,
  readableType,
} from '../models/request-files.js';
import type { AgentInput, InputFile } from './agent-engine.js';
import type { FileCache } from './file-cache.js';
import { UnreadableFileError, picture } from './pictures.js';

/** Bytes of the largest picture or document that is read. */
const MOST_BYTES = 20_000_000;

/** A file in the form in which a model reads it and the record keeps it. */
export interface ReadableFile {
  mediaType: string;
  bytes: Buffer;
  width?: number;
  height?: number;
  /** Of a picture: its size before it was scaled down. */
  from?: { width: number; height: number };
}

/** Reads a picture or a PDF and converts it for a model; destroys `content`. Rejects with {@link UnreadableFileError}, and as `content` does. */
export async function readableFile(content: Readable): Promise<ReadableFile> {
  const bytes = await allOf(content);
  const mediaType = readableType(bytes);
  if (mediaType === null) throw new UnreadableFileError('it is neither a picture nor a PDF');
  if (mediaType !== 'application/pdf') return await picture(bytes);
  // Providers refuse the whole request.
  if (isEncrypted(bytes)) throw new UnreadableFileError('it is encrypted');
  return { mediaType, bytes };
}

/** A trailer names the dictionary of the encryption, by reference or in place (ISO 32000-1, 7.6.1). Text may have the word too. */
function isEncrypted(pdf: Buffer): boolean {
  const name = '/Encrypt';
  for (let at = pdf.indexOf(name); at >= 0; at = pdf.indexOf(name, at + name.length)) {
    const behind = pdf.toString('latin1', at + name.length, at + name.length + 40);
    if (/^\s*(\d+\s+\d+\s+R\b|<<)/.test(behind)) return true;
  }
  return false;
}

async function allOf(content: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MOST_BYTES) throw new UnreadableFileError(`it has more than ${MOST_BYTES / 1e6} MB`);
      chunks.push(chunk);
    }
  } finally {
    content.destroy();
  }
  return Buffer.concat(chunks);
}

/** A model that does not take a kind of files, as the end of a sentence. */
export function notTaken(kind: FileKind): string {
  return `this model takes no ${kind === 'image' ? 'pictures' : 'PDF files'}`;
}

type Known = { mediaType: string; size: number } | { why: string };
const REFUSED: Known = { why: "the model's provider refused a request with it" };

/** The same for the same bytes alone: tasks of all workspaces share the cache. The id of a call is the model's own. */
function cacheKey(file: FileRef): string {
  return 'kept' in file ? file.kept.sha256 : file.key;
}

/** The files that the conversation of one run refers to. Their bytes lie in the storage, and are read for each request. */
export class TaskFiles implements RequestFiles {
  private readonly attached = new Map<string, InputFile>();
  /** What is known of attachments, by their keys. */
  private readonly known = new Map<string, Known>();

  constructor(
    { files, keptFile }: Pick<AgentInput, 'files' | 'keptFile'>,
    private readonly cache: FileCache,
  ) {
    this.keptFile = keptFile;
    this.add(files);
  }

  private readonly keptFile: AgentInput['keptFile'];

  /** Those of messages that came meanwhile. */
  add(files: readonly InputFile[]): void {
    for (const file of files) this.attached.set(file.path, file);
  }

  async contents(messages: ConversationMessage[], limits: FileLimits): Promise<ReadonlyMap<string, FileContent>> {
    try {
      return await this.found(messages, limits, refusedIn(messages));
    } catch (cause) {
      limits.signal?.throwIfAborted();
      throw new ModelError('A file of the task could not be read from the storage.', true, null, { cause });
    }
  }

  /** For a request that the provider has refused with its files: all of them are named and not sent. */
  inWords(): RequestFiles {
    return { contents: (messages, limits) => this.found(messages, limits, filesIn(messages)) };
  }

  private async found(
    messages: ConversationMessage[],
    { input, bytes, signal }: FileLimits,
    inWords: FileRef[],
  ): Promise<ReadonlyMap<string, FileContent>> {
    const contents = new Map<string, FileContent>();
    const refused = new Set(inWords.map(({ key }) => key));
    const fitting: { file: FileRef; mediaType: string; size: number }[] = [];
    for (const file of filesIn(messages)) {
      signal?.throwIfAborted();
      const known = refused.has(file.key)
        ? REFUSED
        : input.includes(file.kind)
          ? await this.identify(file)
          : { why: notTaken(file.kind) };
      if ('why' in known) contents.set(file.key, known);
      else if (known.size > bytes)
        contents.set(file.key, { why: `this model takes at most ${bytes / 1e6} MB of files` });
      else fitting.push({ file, ...known });
    }
    const left = leftOutFirst(
      fitting.map(({ size }) => size),
      bytes,
    );
    for (const [index, { file, mediaType }] of fitting.entries()) {
      signal?.throwIfAborted();
      const { key, name } = file;
      if (index < left) contents.set(key, { why: 'newer files took its place; read it again when you need it' });
      else contents.set(key, { mediaType, name, data: await this.data(file) });
    }
    return contents;
  }

  /** The type and size of a file; or why a model cannot read it. */
  private async identify(file: FileRef): Promise<Known> {
    if ('kept' in file) return file.kept;
    let known = this.known.get(file.key);
    if (known === undefined) {
      try {
        const { mediaType, bytes } = await this.prepare(file);
        known = { mediaType, size: bytes.length };
        this.cache.set(cacheKey(file), bytes.toString('base64'));
      } catch (error) {
        if (!(error instanceof UnreadableFileError)) throw error;
        known = { why: error.message };
      }
      this.known.set(file.key, known);
    }
    return known;
  }

  private async data(file: FileRef): Promise<string> {
    const key = cacheKey(file);
    let data = this.cache.get(key);
    if (data === undefined) {
      const bytes = 'kept' in file ? await this.read(file.kept) : (await this.prepare(file)).bytes;
      this.cache.set(key, (data = bytes.toString('base64')));
    }
    return data;
  }

  private async prepare({ path }: Extract<FileRef, { path: string }>): Promise<ReadableFile> {
    const file = this.attached.get(path);
    if (file === undefined) throw new UnreadableFileError('it is gone');
    return await readableFile(await file.open());
  }

  private async read({ sha256 }: KeptFile): Promise<Buffer> {
    if (this.keptFile === undefined) throw new Error('This run has no kept files.');
    return allOf(await this.keptFile(sha256));
  }
}
