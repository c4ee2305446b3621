import type { IncomingMessage } from 'node:http';
import { Readable, Transform, type TransformCallback } from 'node:stream';
import busboy from 'busboy';
import { ApiError } from '../../platform/http/api-error.js';

/** The file of a form, while it arrives. */
export interface FilePart {
  /** As sent, path and all; null when the part has none. */
  name: string | null;
  /** The part's `Content-Type` without parameters, null when it has none that can be read. */
  declaredType: string | null;
  /** Ends only when the whole form has arrived well-formed; breaks when the form, the client or the line does. */
  content: Readable;
}

/** Milliseconds without a byte. The whole of a request is limited by the server. */
const PATIENCE = 30_000;
/** Bytes before the file begins: a boundary and the part's headers. */
const MAX_HEAD = 64 * 1024;
// The parser reports this type also for a part that declares none.
const DECLARES_TEXT = /\r\ncontent-type:[ \t]*text\/plain/i;

const TOO_MUCH = [
  ['filesLimit', 'The form has more than one file.'],
  ['fieldsLimit', 'The form has a part that is no file.'],
  ['partsLimit', 'The form has more than one part.'],
] as const;

/**
 * Reads a form of exactly one part, a file named `file`, and gives it to `store` as it arrives. Resolves with what `store`
 * made of it. A form that is anything else is `invalid_body`, something that is no form `unsupported_media_type`; `store`'s
 * stream then breaks, and the rejection waits until `store` has cleaned up.
 */
export async function readFilePart<T>(
  request: IncomingMessage,
  store: (part: FilePart) => Promise<T>,
  patience = PATIENCE,
): Promise<T> {
  const parser = parserFor(request);
  if (request.destroyed) throw broken();
  const head = new Head();
  let stored: Promise<T> | undefined;
  const read = new Promise<void>((resolve, reject) => {
    const arrival = new Arrival(request, patience, reject);
    head.on('error', () => arrival.fail(broken()));
    parser.on('error', () => arrival.fail(broken()));
    for (const [event, what] of TOO_MUCH) parser.on(event, () => arrival.fail(refused(what)));
    parser.on('finish', () => (arrival.stop(), resolve()));
    parser.on('file', (field: string | undefined, stream, info) => {
      // An error before the first read has no listener yet and would end the process; reading throws it again.
      stream.on('error', () => undefined);
      if (field !== 'file') return arrival.fail(refused('The form has a file under another name.'));
      const whole = endingWith(stream, () => read);
      stored = store({ ...described(info, head), content: Readable.from(whole, { objectMode: false }) });
      stored.catch((error: Error) => arrival.fail(error));
    });
  });
  try {
    request.pipe(head).pipe(parser);
    await read;
    if (stored === undefined) throw refused('The form has no file.');
    return await stored;
  } catch (error) {
    request.unpipe(head);
    head.destroy();
    parser.destroy(error as Error);
    await stored?.catch(() => undefined);
    throw error;
  }
}

// The types promise a file name that a part need not have.
function described({ filename, mimeType }: Partial<busboy.FileInfo>, head: Head) {
  const isDeclared = mimeType !== 'text/plain' || DECLARES_TEXT.test(head.text);
  return { name: nameIn(filename, head.text), declaredType: isDeclared ? (mimeType ?? null) : null };
}

const ESCAPES: Record<string, string> = { '%22': '"', '%0a': '\n', '%0d': '\r' };

/** Browsers and curl escape three characters of a name, and nothing else of it (WHATWG HTML §4.10.21.8). */
function nameIn(filename: string | undefined, head: string): string | null {
  // A name in `filename*` has an encoding of its own, which the parser has undone.
  if (filename === undefined || /filename\*=/i.test(head)) return filename ?? null;
  return filename.replace(/%(22|0a|0d)/gi, (escaped) => ESCAPES[escaped.toLowerCase()] ?? escaped);
}

function parserFor(request: IncomingMessage): busboy.Busboy {
  const type = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data[ \t]*(;|$)/i.test(type)) {
    throw new ApiError('unsupported_media_type', 'The body must have the content type multipart/form-data.');
  }
  try {
    // Names as they are sent, in UTF-8; of two parts the second is one too many.
    const limits = { files: 1, fields: 0, parts: 2 };
    return busboy({ headers: request.headers, defParamCharset: 'utf8', preservePath: true, limits });
  } catch {
    throw new ApiError('invalid_body', 'The content type multipart/form-data needs a readable boundary.');
  }
}

/** Watches a body come in: fails when the client goes or sends nothing for long. */
class Arrival {
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly request: IncomingMessage,
    patience: number,
    private readonly reject: (error: Error) => void,
  ) {
    this.timer = setTimeout(() => this.fail(late(patience)), patience);
    request.on('data', this.onData).on('error', this.onGone).on('close', this.onGone);
  }

  fail(error: Error): void {
    this.stop();
    this.reject(error);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.request.off('data', this.onData).off('error', this.onGone).off('close', this.onGone);
  }

  private readonly onData = (): void => {
    this.timer.refresh();
  };

  private readonly onGone = (): void => {
    if (!this.request.readableEnded) this.fail(broken());
  };
}

/**
 * Passes a form on, its first part's headers without control characters: names may hold them as they are sent, but the
 * parser takes no header that does.
 */
class Head extends Transform {
  /** The first part's headers, once they are passed on; one character is one byte. */
  text = '';
  private complete = false;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.complete) return done(null, chunk);
    this.text += chunk.toString('latin1');
    const end = this.text.indexOf('\r\n\r\n');
    if (end === -1) return done(this.text.length > MAX_HEAD ? broken() : null);
    this.complete = true;
    const rest = this.text.slice(end);
    this.text = this.text.slice(0, end).replace(/[^\P{Cc}\t\r\n\x80-\x9f]/gu, '');
    done(null, Buffer.from(this.text + rest, 'latin1'));
  }

  override _flush(done: TransformCallback): void {
    done(null, this.complete ? undefined : Buffer.from(this.text, 'latin1'));
  }
}

async function* endingWith(stream: Readable, last: () => Promise<void>): AsyncGenerator<Buffer> {
  yield* stream as AsyncIterable<Buffer>;
  await last();
}

function refused(what: string): ApiError {
  return new ApiError('invalid_body', `${what} Exactly one part is accepted: a file with the name "file".`, {
    param: 'file',
  });
}

function broken(): ApiError {
  return new ApiError('invalid_body', 'The form is not well-formed multipart/form-data, or it ended early.');
}

function late(patience: number): ApiError {
  const message = `The form did not arrive: nothing came for ${patience / 1000} seconds.`;
  return new ApiError('invalid_body', message, { headers: { Connection: 'close' } });
}
