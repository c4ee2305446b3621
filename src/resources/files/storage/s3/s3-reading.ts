// Bytes on their way out of the bucket: at the pace of the reader, whole or not at all.
import { createHash } from 'node:crypto';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ByteRange, BytesDamagedError } from '../storage-driver.js';
import { isPassing } from './s3-client.js';

/** How often in a row a connection may break without a byte in between. */
const BREAKS = 3;

/** What is to be read. */
export interface Wanted extends ByteRange {
  /** Of all bytes when all are read; null for a range, of which nobody knows it. */
  sha256: string | null;
}

/**
 * A stream of what `first` gives, which goes on by `again` where the connection broke. The last piece comes after the digest was
 * compared: a reader of altered bytes gets an error, and never all that it waits for. To destroy the stream ends the connection.
 */
export function reading(first: Readable, wanted: Wanted, again: (range: ByteRange) => Promise<Readable>): Readable {
  const through = new PassThrough();
  // What goes wrong destroys the stream with its error: the reader hears of it there.
  const gone = new AbortController();
  through.once('close', () => gone.abort());
  pipeline(pieces(first, wanted, again, gone.signal), through).catch(() => undefined);
  return through;
}

async function* pieces(
  first: Readable,
  { start, end, sha256 }: Wanted,
  again: (range: ByteRange) => Promise<Readable>,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void> {
  let [body, at, breaks] = [first, start, 0];
  let held: Buffer | null = null;
  const hash = sha256 === null ? null : createHash('sha256');
  const leave = () => body.destroy();
  signal.addEventListener('abort', leave);
  try {
    for (;;) {
      try {
        for await (const chunk of body as AsyncIterable<Buffer>) {
          [at, breaks] = [at + chunk.length, 0];
          hash?.update(chunk);
          if (held !== null) yield held;
          held = chunk;
        }
        if (at > end) break;
        throw Object.assign(new Error('The storage sent less than it had announced.'), { code: 'ECONNRESET' });
      } catch (error) {
        // All has come. Of a range without a byte S3 would send the whole object.
        if (at > end) break;
        if (signal.aborted || ++breaks > BREAKS || !isPassing(error)) throw error;
        body = await again({ start: at, end });
      }
    }
    if (hash !== null && hash.digest('hex') !== sha256)
      throw new BytesDamagedError(`The stored bytes ${sha256} are damaged.`);
    if (held !== null) yield held;
  } finally {
    signal.removeEventListener('abort', leave);
    body.destroy();
  }
}
