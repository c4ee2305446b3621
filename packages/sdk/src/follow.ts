// Following a log of events over every interruption (reference §17, §19).
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ConnectionError, MillwrightError } from './errors.js';
import { limited, pause, reasonOf } from './signals.js';
import type { Query, Transport } from './transport.js';

/** What a stream says; an event has a number, or an id and no position. */
export type Frame = { type: string; seq?: number | null; position?: string } & Record<string, unknown>;

export interface FollowOptions {
  path: string;
  /** Where to begin: a position, or `latest`; null for the service's own beginning. */
  after: string | null;
  query: Query;
  signal: AbortSignal | undefined;
}

/** Times in milliseconds; the tests have shorter ones. */
export const TIMES = { silence: 45_000, leastWait: 1_000, mostWait: 30_000, pollSeconds: 25 };

/** So many connections in a row on which nothing came mean that something between holds streams back. */
const SILENT_CONNECTIONS = 2;

/**
 * Each frame of the streams of a log, in order, for ever: it connects again from the last position after every end but `gone` and
 * `unauthorized`, which throw, and `final`. Where no stream comes through it asks again and again.
 */
export async function* follow(transport: Transport, options: FollowOptions): AsyncGenerator<Frame, void> {
  const { signal } = options;
  const connection = new Connection(transport, options);
  for (let failures = 0; ; failures++) {
    try {
      for await (const frame of connection.frames()) {
        if (frame.type === 'stream.end') {
          if (frame['reason'] === 'final') return;
          throwEnd(String(frame['reason']));
          break;
        }
        // A service that tells of an event is well: the wait begins anew.
        if (isEvent(frame)) failures = 0;
        yield frame;
      }
    } catch (error) {
      if (signal?.aborted === true) throw reasonOf(signal);
      if (error instanceof MillwrightError ? !error.retryable : !(error instanceof ConnectionError)) throw error;
      connection.failed(error);
    }
    const backOff = Math.min(TIMES.mostWait, connection.retryMs * 2 ** failures);
    await pause(Math.max(connection.askedMs, backOff * (0.5 + Math.random() / 2)), signal);
  }
}

class Connection {
  /** Of the last `retry:`. */
  retryMs = TIMES.leastWait;
  /** What the last refusal asked to wait. */
  askedMs = 0;
  private position: string | null;
  private silent = 0;

  constructor(
    private readonly transport: Transport,
    private readonly options: FollowOptions,
  ) {
    this.position = options.after;
  }

  frames(): AsyncGenerator<Frame, void> {
    this.askedMs = 0;
    return this.silent < SILENT_CONNECTIONS ? this.stream() : this.poll();
  }

  failed(error: unknown): void {
    this.askedMs = error instanceof MillwrightError ? error.retryAfterMs : 0;
  }

  private async *stream(): AsyncGenerator<Frame, void> {
    const limit = limited(this.options.signal);
    const alive = () => limit.expire(TIMES.silence, () => new ConnectionError('The stream is silent.'));
    let heard = false;
    try {
      alive();
      const response = await this.transport.stream(
        this.options.path,
        { ...this.options.query, ...(this.position === null ? {} : { after: this.position }) },
        { accept: 'text/event-stream' },
        limit.signal,
      );
      for await (const { id, data } of this.messages(response, alive)) {
        heard = true;
        const frame = JSON.parse(data) as Frame;
        if (id !== undefined && this.isBehind(frame)) continue;
        if (id !== undefined) this.position = id;
        yield frame;
      }
    } catch (error) {
      throw limit.signal.aborted ? reasonOf(limit.signal) : error;
    } finally {
      this.silent = !heard && isSilence(limit.signal) ? this.silent + 1 : 0;
      limit.done();
      limit.end(new ConnectionError('The stream was closed.'));
    }
  }

  private messages(response: Response, alive: () => void): AsyncIterable<{ id?: string | undefined; data: string }> {
    if (response.body === null) throw new ConnectionError('The answer has no body.');
    const bytes = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, out) {
        alive();
        out.enqueue(chunk);
      },
    });
    const onRetry = (ms: number) => (this.retryMs = Math.max(TIMES.leastWait, ms));
    return chunksOf(
      response.body
        .pipeThrough(bytes)
        .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
        .pipeThrough(new EventSourceParserStream({ onRetry })),
    );
  }

  /** An event that was told already: of a service that begins a little before the position. */
  private isBehind({ seq }: Frame): boolean {
    return typeof seq === 'number' && this.position !== null && seq <= Number(this.position);
  }

  /** The same without a stream. What is still being made does not come. */
  private async *poll(): AsyncGenerator<Frame, void> {
    const { path, query, signal } = this.options;
    const { deltas: _, ...known } = query;
    for (;;) {
      const asked = { ...known, wait: TIMES.pollSeconds, ...(this.position === null ? {} : { after: this.position }) };
      const request = { method: 'GET', path, query: asked, signal, moreTime: TIMES.pollSeconds * 1000 } as const;
      const page = await this.transport.json<{ events: Frame[]; position: string; caughtUp: boolean }>(request);
      yield* page.events;
      this.position = page.position;
      if (page.caughtUp) yield { type: 'stream.caught_up', position: page.position };
    }
  }
}

export const isEvent = (frame: Frame): boolean => typeof frame.seq === 'number' || frame.seq === null;

const isSilence = ({ reason }: AbortSignal): boolean =>
  reason instanceof ConnectionError && reason.message === 'The stream is silent.';

function throwEnd(reason: string): void {
  const end = (status: number, type: string, code: string, message: string) =>
    new MillwrightError(status, { error: { type, code, message, param: null, retryable: false, requestId: null } }, new Headers());
  if (reason === 'gone') throw end(404, 'not_found', 'not_found', 'What was followed is gone, or is not seen any more.');
  if (reason === 'unauthorized') throw end(401, 'unauthorized', 'invalid_credential', 'The key has ended.');
} // prettier-ignore

/** Not every runtime's streams can be walked through. */
async function* chunksOf<T>(stream: ReadableStream<T>): AsyncGenerator<T, void> {
  const reader = stream.getReader();
  try {
    for (;;) {
      // Each runtime has its own words and classes for a connection that is lost in the middle.
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw new ConnectionError('The stream was cut.', { cause: error });
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
