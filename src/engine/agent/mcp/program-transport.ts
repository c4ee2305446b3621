import { PassThrough } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { McpProgram } from '../../../platform/config/mcp-servers.js';
import type { RunningCommand } from '../../sandbox/running-command.js';
import { SandboxError, type SandboxSession } from '../../sandbox/sandbox.js';
import { shellQuote } from '../tools/tool-text.js';

/** Bytes of one line, and of one answer. */
export const MOST_BYTES = 16 * 1024 ** 2;
/** Bytes of its standard error that are told when it fails. */
const LAST_WORDS = 4 * 1024;

/** Speaks with a program in the sandbox: one message a line, each way. */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  /** Why it ended, for the model; null while it runs, and when we ended it. */
  failure: string | null = null;
  /** Whether nobody ended it. */
  endedByItself = false;
  /** The end of its standard error, for the operator. */
  lastWords = '';
  /** The sandbox could not start it; null: it did, or was not asked. */
  fault: SandboxError | null = null;
  /** Resolves when it is gone: then what stands above is known. */
  gone: Promise<void> = Promise.resolve();
  private readonly input = new PassThrough();
  private running: RunningCommand | null = null;
  private pieces: Buffer[] = [];
  private length = 0;
  private closed = false;
  /** Messages in a row that are of no use. */
  private unheard = 0;
  /** What we ask, as far as it is not answered. */
  private readonly asked = new Set<unknown>();
  /** Bytes of answers that the program has not read: it may ask without an end. What we ask is bounded by the calls of a task. */
  private unread = 0;

  constructor(
    private readonly session: SandboxSession,
    private readonly server: McpProgram,
  ) {}

  async start(): Promise<void> {
    const { command, args, env, network, memoryBytes } = this.server;
    // Nothing of it is for a shell: it takes the place of the one that starts it.
    const words = ['exec', ...[command, ...args].map(shellQuote)].join(' ');
    const onOutput = (stream: 0 | 1, chunk: Buffer) => {
      if (stream === 0) this.take(chunk);
    };
    const keep = { first: 0, last: LAST_WORDS };
    const options = { env, network, prepared: true, stdin: this.input, keep, onOutput, program: { memoryBytes } };
    const starting = this.session.start(words, options);
    this.gone = starting
      .then(({ ended }) => ended)
      .then(
        ({ exitCode, stderr, killed }) => {
          this.lastWords = stderr.slice(-LAST_WORDS);
          this.endedByItself = !this.closed && killed === null;
          this.over(killed === null ? `It ended with exit code ${exitCode}.` : KILLED[killed]);
        },
        (error: unknown) => {
          if (error instanceof SandboxError) this.fault = error;
          this.over(error instanceof Error ? error.message : String(error));
        },
      );
    this.running = await starting;
    // Nobody wants it any more.
    if (this.closed) this.running.stop();
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.closed || !this.input.writable) return Promise.reject(new Error('The program has ended.'));
    const line = `${JSON.stringify(message)}\n`;
    if ('method' in message) {
      if ('id' in message) this.asked.add(message.id);
      this.input.write(line);
      return Promise.resolve();
    }
    const bytes = Buffer.byteLength(line);
    this.unread += bytes;
    if (this.unread > MOST_UNREAD) this.refuse('It reads too little of what it is answered, and was ended.');
    else this.input.write(line, () => (this.unread -= bytes));
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.finish();
    this.running?.stop();
    await this.gone;
  }

  private over(why: string): void {
    if (!this.closed) this.failure ??= why;
    this.finish();
  }

  private finish(): void {
    if (this.closed) return;
    this.closed = true;
    this.pieces = [];
    this.input.end();
    this.onclose?.();
  }

  private take(chunk: Buffer): void {
    let from = 0;
    while (!this.closed) {
      const end = chunk.indexOf(10, from);
      const piece = chunk.subarray(from, end < 0 ? undefined : end);
      this.length += piece.length;
      if (this.length > MOST_BYTES) return this.refuse(TOO_LONG);
      this.pieces.push(piece);
      if (end < 0) return;
      from = end + 1;
      const line = Buffer.concat(this.pieces);
      this.pieces = [];
      this.length = 0;
      this.read(line);
    }
  }

  /** What is no message is passed over: programs print warnings between them. */
  private read(line: Buffer): void {
    const text = line.toString('utf8').trim();
    if (!text.startsWith('{')) return;
    let message: JSONRPCMessage;
    try {
      message = JSON.parse(text) as JSONRPCMessage;
    } catch {
      return;
    }
    const { id, method } = message as { id?: unknown; method?: unknown };
    if (typeof method === 'string' ? method === PROGRESS : this.asked.delete(id)) this.unheard = 0;
    else if (++this.unheard > MOST_UNHEARD) return this.refuse('It wrote without an end, and was ended.');
    if (typeof method === 'string' && id === undefined && !HEARD.includes(method)) return;
    this.onmessage?.(message);
  }

  private refuse(why: string): void {
    this.failure = why;
    this.finish();
    this.running?.stop();
  }
}

const TOO_LONG = `It wrote a line of more than ${MOST_BYTES / 1024 ** 2} MiB, and was ended.`;
/** What a server tells by itself and is of use. */
const PROGRESS = 'notifications/progress';
const HEARD = [PROGRESS, 'notifications/tools/list_changed', 'notifications/subscriptions/acknowledged'];
const MOST_UNHEARD = 20_000;
const MOST_UNREAD = 1024 ** 2;

const KILLED = {
  timeout: 'It was ended.',
  memory: 'It used more memory than it may, and was ended.',
  disk: 'The workdir became larger than it may, and it was ended.',
  output: 'It was ended.',
};
