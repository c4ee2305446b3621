import { PassThrough } from 'node:stream';
import type { RunningCommand } from './running-command.js';
import { type RunOptions, SandboxError, type SandboxSession } from './sandbox.js';

/** Bytes of one line. */
export const MOST_BYTES = 16 * 1024 ** 2;
/** Bytes of its standard error that are told when it fails. */
const LAST_WORDS = 4 * 1024;
const KILLED = {
  timeout: 'It was ended.',
  memory: 'It used more memory than it may, and was ended.',
  disk: 'The workdir became larger than it may, and it was ended.',
  output: 'It was ended.',
};
const TOO_LONG = `It wrote a line of more than ${MOST_BYTES / 1024 ** 2} MiB, and was ended.`;

export interface LineHandlers {
  /** A line that it wrote, without its end. */
  line(text: string): void;
  /** Nothing more comes: it has ended, or was ended. */
  over(): void;
}

/** A program in the sandbox with which the service speaks in lines, each way (reference §28, §30). */
export class ProgramLines {
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
  closed = false;
  private readonly input = new PassThrough();
  private running: RunningCommand | null = null;
  private pieces: Buffer[] = [];
  private length = 0;

  constructor(
    private readonly session: SandboxSession,
    private readonly handlers: LineHandlers,
  ) {}

  /** @param command for a shell. Rejects as {@link SandboxSession.start}. */
  async start(command: string, about: Pick<RunOptions, 'env' | 'network' | 'cwd' | 'program'>): Promise<void> {
    const onOutput = (stream: 0 | 1, chunk: Buffer) => {
      if (stream === 0) this.take(chunk);
    };
    const keep = { first: 0, last: LAST_WORDS };
    const starting = this.session.start(command, { ...about, prepared: true, stdin: this.input, keep, onOutput });
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

  get writable(): boolean {
    return !this.closed && this.input.writable;
  }

  /** @param read called when it is handed on. */
  write(line: string, read?: () => void): void {
    this.input.write(line, read);
  }

  async close(): Promise<void> {
    this.finish();
    this.running?.stop();
    await this.gone;
  }

  /** Ends it for what it does. */
  refuse(why: string): void {
    this.failure = why;
    this.finish();
    this.running?.stop();
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
    this.handlers.over();
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
      this.handlers.line(line.toString('utf8').trim());
    }
  }
}
