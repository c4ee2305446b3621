import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { until } from './until.js';

/** A frame of a stream, as it was sent. */
export interface Frame {
  /** Without `id:` undefined. */
  id: string | undefined;
  data: { type: string; seq?: number; position?: string; reason?: string; [field: string]: unknown };
}

/** Opens streams of a block's tests, each of which is closed when its test is over. */
export function useStreams(): (
  ...given: Parameters<(typeof StreamReader)['open']>
) => ReturnType<(typeof StreamReader)['open']> {
  const open: StreamReader[] = [];
  afterEach(() => {
    for (const reader of open.splice(0)) reader.close();
  });
  return async (...given) => {
    const reader = await StreamReader.open(...given);
    open.push(reader);
    return reader;
  };
}

/** A client of a stream of events. */
export class StreamReader {
  readonly frames: Frame[] = [];
  /** Of `retry:` lines, in order. */
  readonly retries: number[] = [];
  readonly comments: string[] = [];
  /** The data that are no JSON objects. */
  readonly words: string[] = [];
  ended = false;
  private rest = '';

  private constructor(
    readonly status: number,
    readonly headers: IncomingHttpHeaders,
    private readonly call: ClientRequest,
    private readonly response: IncomingMessage,
  ) {
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.take(text));
    response.on('error', () => undefined);
    response.once('close', () => (this.ended = true));
  }

  /**
   * Resolves with the head of the answer.
   * @param secret a key; null for a stream by the headers alone. @param reads whether it takes what comes.
   */
  static open(
    url: string,
    secret: string | null,
    headers: Record<string, string> = {},
    reads = true,
  ): Promise<StreamReader> {
    return new Promise((resolve, reject) => {
      const credential = secret === null ? {} : { Authorization: `Bearer ${secret}` };
      const all = { Accept: 'text/event-stream', ...credential, ...headers };
      const call = request(url, { headers: all, agent: false });
      call.once('error', reject);
      call.once('response', (response) => {
        const reader = new StreamReader(response.statusCode ?? 0, response.headers, call, response);
        if (!reads) response.pause();
        resolve(reader);
      });
      call.end();
    });
  }

  /** The events among the frames. */
  get events(): Frame['data'][] {
    return this.frames.map(({ data }) => data).filter(({ seq }) => seq !== undefined);
  }

  get types(): string[] {
    return this.frames.map(({ data }) => data.type);
  }

  /** The first frame of this type, when it has come. */
  frame(type: string): Promise<Frame> {
    return until(`a frame ${type}`, () => this.frames.find(({ data }) => data.type === type));
  }

  /** The end of the stream, with what was said last. */
  async end(): Promise<Frame | undefined> {
    await until('the stream to end', () => this.ended);
    return this.frames.at(-1);
  }

  resume(): void {
    this.response.resume();
  }

  close(): void {
    this.call.destroy();
    this.response.destroy();
  }

  private take(text: string): void {
    const blocks = (this.rest + text).split('\n\n');
    this.rest = blocks.pop() ?? '';
    for (const block of blocks) this.block(block.split('\n'));
  }

  private block(lines: string[]): void {
    const valueOf = (name: string) =>
      lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1).replace(/^ /, ''); // prettier-ignore
    const [retry, comment, data] = [valueOf('retry'), valueOf(''), valueOf('data')];
    if (retry !== undefined) this.retries.push(Number(retry));
    if (comment !== undefined) this.comments.push(comment);
    if (data === undefined) return;
    if (data.startsWith('{')) this.frames.push({ id: valueOf('id'), data: JSON.parse(data) as Frame['data'] });
    else this.words.push(data);
  }
}
