import type { Socket } from 'node:net';
import { Readable, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { RunResult } from '../run-result.js';
import { type RunOptions, SandboxError } from '../sandbox.js';
import { Arrival, streamsOf } from './arrival.js';
import type { Entered } from './box.js';
import { type KeptBytes, Output } from './output.js';
import { OutputLimit, type OutputLimits } from './output-limit.js';

export interface CommandOptions extends OutputLimits {
  stdin?: Readable | string | Buffer | undefined;
  timeoutSeconds: number;
  /** What the result has of each stream. */
  keep: KeptBytes | undefined;
  onOutput: RunOptions['onOutput'];
}

type Killed = NonNullable<RunResult['killed']>;
const EXIT_TIMEOUT = 124;
const EXIT_KILLED = 137;
// For output that is still under way when its processes have ended; more comes only from others, which may have opened it by its name in /proc.
const LAST_OUTPUT_MS = 1000;
/** More than the pipes of a command hold. Nobody keeps it from coming any more, and what takes it may have to hold it. */
const LATE_BYTES = 1024 ** 2;
const ENDED_FROM_OUTSIDE =
  'The command was cut off from outside; it may have run partly. It was not run again: look at the state of the workdir before you go on.';

/** A command did not begin: nothing of it was run. */
export class NotStarted extends SandboxError {
  override readonly name = 'NotStarted';
}

/** One command in a box, from its entry until all its processes are gone. */
export class Command {
  private readonly stdout: Output;
  private readonly stderr: Output;
  private readonly arrival = new Arrival();
  private over = false;
  private killed: Killed | 'ended' | undefined;
  private readonly streams: Socket[] = [];
  /** For what they wait. */
  private pauses = 0;
  /** Bytes that have come since it was to end, for which they wait no more. */
  private late: number | undefined;
  private readonly limit: OutputLimit;

  constructor(
    private readonly entered: Entered,
    private readonly options: CommandOptions,
  ) {
    this.stdout = new Output(options.keep);
    this.stderr = new Output(options.keep);
    this.limit = new OutputLimit(options, () => this.kill('output'));
  }

  /** Resolves when all processes are gone. Rejects with {@link NotStarted} when it could not begin. */
  async run(): Promise<RunResult> {
    const { timeoutSeconds } = this.options;
    const timer =
      timeoutSeconds === Infinity ? undefined : setTimeout(() => this.kill('timeout'), timeoutSeconds * 1000);
    const { entry } = this.entered;
    try {
      const streams = await entry.streams;
      const collected = (streams?.output ?? []).map((stream, which) => this.collect(stream, which as 0 | 1));
      await entry.begun;
      // What has not begun reads nothing, and may begin in another box.
      if (streams?.input && entry.started) writeInput(this.options.stdin, streams.input);
      const code = await entry.ended;
      this.over = true;
      if (this.entered.outOfMemory) this.killed ??= 'memory';
      await this.entered.clear();
      closeLater(this.streams);
      await Promise.all(collected);
      streams?.input?.destroy();
      return this.result(code);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends it at once; `ended` stands for the session's own reasons. */
  kill(why: Killed | 'ended'): void {
    // What its output waits for may never come, as on a disk that hangs; its end, also its own, would wait with it.
    this.late ??= 0;
    this.streams.forEach((stream) => stream.resume());
    if (this.over) return;
    this.killed ??= why;
    void this.entered.clear();
  }

  /** Sends a signal to all processes of the command that runs, and to no other. */
  signal(name: 'SIGINT' | 'SIGTERM'): void {
    if (!this.over) void this.entered.signal(name);
  }

  private collect(stream: Socket, which: 0 | 1): Promise<void> {
    const into = which === 0 ? this.stdout : this.stderr;
    this.streams.push(stream);
    stream.on('data', (chunk: Buffer) => {
      if (this.killed === 'output') return;
      const began = performance.now();
      into.add(chunk);
      this.arrival.note(which, into.bytes);
      if (this.late !== undefined) return this.takeLate(which, chunk);
      const taken = this.options.onOutput?.(which, chunk);
      const allowed = this.limit.reached(this.stdout.bytes + this.stderr.bytes, began);
      if (taken !== undefined || allowed !== undefined) this.pauseUntil(Promise.all([taken, allowed]));
    });
    return finished(stream, { writable: false }).catch(() => undefined);
  }

  private takeLate(which: 0 | 1, chunk: Buffer): void {
    this.late = (this.late ?? 0) + chunk.length;
    if (this.late <= LATE_BYTES) void this.options.onOutput?.(which, chunk);
  }

  /** Pauses both streams, because the order in which they come is recorded. */
  private pauseUntil(until: Promise<unknown>): void {
    // The limit may just have ended it.
    if (this.late !== undefined) return;
    this.pauses += 1;
    this.streams.forEach((stream) => stream.pause());
    void until.finally(() => {
      this.pauses -= 1;
      if (this.pauses === 0) this.streams.forEach((stream) => stream.resume());
    });
  }

  private result(code: number | null): RunResult {
    const [stdout, stderr] = [this.stdout.text(), this.stderr.text()];
    const killed = this.killed === 'ended' ? null : (this.killed ?? null);
    if (this.killed === undefined) {
      if (!this.entered.entry.started) throw new NotStarted(`The sandbox did not start: ${stderr.trim() || `exit code ${code}`}`); // prettier-ignore
      // Somebody outside ended it, or another command. The sandbox works: only this command is over.
      if (code === null) throw new Error(ENDED_FROM_OUTSIDE);
    }
    const truncated = this.stdout.left + this.stderr.left > 0 || killed === 'output';
    const exitCode = killed === 'timeout' ? EXIT_TIMEOUT : killed === null ? (code ?? EXIT_KILLED) : EXIT_KILLED;
    return { exitCode, stdout, stderr, truncated, killed, ...streamsOf(this.arrival, [this.stdout, this.stderr]) };
  }
}

/** Another process may keep the output open for as long as it lives. */
function closeLater(streams: Socket[]): void {
  // A worker that was busy or stopped meanwhile reads first what the pipes have: that comes before the immediate.
  const now = () => setImmediate(() => streams.forEach((stream) => stream.destroy()));
  setTimeout(now, LAST_OUTPUT_MS).unref();
}

/** Writes the input of a command. The command need not read it, and the source may break off: neither is an error of the run. */
function writeInput(source: CommandOptions['stdin'], stdin: Writable): void {
  if (!(source instanceof Readable)) {
    stdin.on('error', () => undefined);
    stdin.end(source);
    return;
  }
  stdin.on('error', () => source.destroy());
  stdin.on('close', () => source.destroy());
  source.on('error', () => stdin.destroy());
  source.pipe(stdin);
}
