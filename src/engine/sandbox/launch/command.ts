import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { Readable, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Heartbeat } from '../heartbeat.js';
import type { ControlGroup, ControlGroups } from '../limits/control-groups.js';
import { Arrival, streamsOf } from './arrival.js';
import { giveWay } from '../limits/give-way.js';
import { type KeptBytes, Output } from './output.js';
import { OutputLimit, type OutputLimits } from './output-limit.js';
import type { Pipes } from './pipes.js';
import { type RunOptions, type RunResult, SandboxError } from '../sandbox.js';
import type { WayFiles } from '../network/inside.js';
import type { ProcessTree } from '../workdir/open-files.js';

/** Variable that marks all processes of one command, for the driver that has no other means to find them. */
export const MARK = 'MILLWRIGHT_SANDBOX';

/** The same for all launches of one driver. */
export interface LaunchResources {
  pipes: Pipes;
  heartbeat: Heartbeat;
  /** Null where there is none that we may divide. */
  groups: ControlGroups | null;
  /** Ends what has outlived the first process of a sandbox; only where the kernel does not do it. */
  sweep?: (mark: string) => Promise<void>;
}

/** The program that makes one sandbox and starts the command in it. */
export interface LaunchCommand {
  argv: string[];
  /** What its program finds on descriptor 6. */
  file: Buffer;
}

/** How one command is launched. */
export interface LaunchOptions {
  /** The folder that it runs in, as it is named inside. */
  cwd: string;
  group: ControlGroup | null;
  /** What leads out, as the host names it; null: nothing does. */
  wayOut: WayFiles | null;
  /** How large a file it may make, in bytes; 0: none, and it may still delete. */
  fileBytes: number;
}

export interface CommandOptions extends LaunchCommand, OutputLimits {
  stdin?: Readable | string | Buffer | undefined;
  timeoutSeconds: number;
  /** What the result has of each stream. */
  keep: KeptBytes | undefined;
  onOutput: RunOptions['onOutput'];
  mark: string;
  /** Removed at its end. */
  group: ControlGroup | null;
}

type Killed = NonNullable<RunResult['killed']>;
const EXIT_TIMEOUT = 124;
const EXIT_KILLED = 137;
// When the first process inside has not reported by then, its parent is killed, and it dies with that.
const KILL_AGAIN_MS = 2000;
// For output that is still under way when the small parent has ended; more comes only from what has got away.
const LAST_OUTPUT_MS = 1000;
/** More than the pipes of a command hold. Nobody keeps it from coming any more, and what takes it may have to hold it. */
const LATE_BYTES = 1024 ** 2;
const ENDED_FROM_OUTSIDE =
  'The command was cut off from outside; it may have run partly. It was not run again: look at the state of the workdir before you go on.';

/** One sandbox from its start until all its processes are gone. */
export class Command {
  private readonly stdout: Output;
  private readonly stderr: Output;
  private readonly arrival = new Arrival();
  private child: ChildProcess | undefined;
  /** First process inside, as the host numbers it. */
  private first: number | undefined;
  private started = false;
  private killed: Killed | 'ended' | undefined;
  private readonly streams: Socket[] = [];
  /** For what they wait. */
  private pauses = 0;
  /** Bytes that have come since it was to end, for which they wait no more. */
  private late: number | undefined;
  private readonly limit: OutputLimit;
  private readonly handed: number[] = [];

  constructor(
    private readonly resources: LaunchResources,
    private readonly options: CommandOptions,
  ) {
    this.stdout = new Output(options.keep);
    this.stderr = new Output(options.keep);
    this.limit = new OutputLimit(options, () => this.kill('output'));
  }

  /** Resolves when all processes are gone. Rejects with {@link SandboxError} when the sandbox could not be started. */
  async run(): Promise<RunResult> {
    const timer = setTimeout(() => this.kill('timeout'), this.options.timeoutSeconds * 1000);
    try {
      const { code, signal } = await this.spawnAndWait();
      if (this.options.group?.outOfMemory() === true) this.killed ??= 'memory';
      return this.result(code, signal);
    } finally {
      clearTimeout(timer);
      await this.options.group?.remove();
    }
  }

  /** Its processes, for those who measure their files; null before there are any. */
  get tree(): ProcessTree | null {
    const pid = this.child?.pid;
    return pid === undefined ? null : { pid, handed: this.handed };
  }

  /** Ends it at once; `ended` stands for the session's own reasons. */
  kill(why: Killed | 'ended'): void {
    const { child } = this;
    // What its output waits for may never come, as on a disk that hangs; its end, also its own, would wait with it.
    this.late ??= 0;
    this.streams.forEach((stream) => stream.resume());
    if (child !== undefined && (child.exitCode !== null || child.signalCode !== null)) return;
    this.killed ??= why;
    if (child !== undefined) this.killNow(child);
  }

  private killNow(child: ChildProcess): void {
    // The first process and not the parent: that one then waits until the kernel has ended all the others. Only when the
    // sandbox stands: bubblewrap would wait forever for a child that is gone before.
    if (this.first !== undefined && this.started) signalQuietly(this.first);
    setTimeout(() => child.exitCode === null && endHeartbeats(child, ''), KILL_AGAIN_MS).unref();
  }

  private async spawnAndWait() {
    const [out, err] = [await this.resources.pipes.open(), await this.resources.pipes.open()];
    const child = this.spawn(out.input, err.input);
    this.child = child;
    const streams = [this.collect(out.output, 0), this.collect(err.output, 1)];
    const ended = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
      child.once('error', (error) => reject(new SandboxError(`The sandbox cannot be started: ${error.message}`)));
    });
    this.watch(child);
    // Elsewhere the kernel ends all processes of a sandbox, and with them its output.
    if (this.resources.sweep !== undefined) child.once('exit', () => closeLater([out.output, err.output]));
    if (child.stdin !== null) writeInput(this.options.stdin, child.stdin);
    try {
      const [result] = await Promise.all([ended, ...streams]);
      return result;
    } finally {
      child.stdio.forEach((stream) => stream?.destroy());
      [out, err].forEach(({ output }) => output.destroy());
    }
  }

  private spawn(...output: [number, number]): ChildProcess {
    const { argv, file, stdin } = this.options;
    const own: number[] = [...output];
    try {
      const forMaker = this.resources.pipes.file(file);
      own.push(forMaker);
      this.handed.push(file.length);
      const stdio: StdioOptions = [
        stdin === undefined ? 'ignore' : 'pipe',
        ...output,
        'pipe',
        'pipe',
        'pipe',
        forMaker,
      ];
      return spawn(argv[0] ?? '', argv.slice(1), { cwd: '/', env: {}, detached: true, stdio });
    } finally {
      own.forEach((fd) => closeSync(fd));
    }
  }

  private watch(child: ChildProcess): void {
    const [beats, life, started] = child.stdio.slice(3) as (Socket | null | undefined)[];
    if (!beats || !life || !started) return;
    for (const stream of [beats, life, started]) stream.on('error', () => undefined);
    this.resources.heartbeat.add(beats);
    beats.once('close', () => this.resources.heartbeat.remove(beats));
    child.once('exit', () => this.resources.heartbeat.remove(beats));
    started.once('data', () => {
      this.started = true;
      this.heard(child);
    });
    let text = '';
    life.on('data', (chunk: Buffer) => {
      // What comes later is of no use, and would be kept.
      if (this.first !== undefined) return;
      text += chunk.toString('latin1');
      const pid = /pid"?:? *(\d+)\D/.exec(text)?.[1];
      if (pid === undefined) return;
      this.first = Number(pid);
      this.heard(child);
    });
    if (this.killed !== undefined) this.killNow(child);
    life.once('end', () => void this.afterLife(child));
  }

  /** It has started, or its first process is known: one comes on another pipe than the other, in whatever order. */
  private heard(child: ChildProcess): void {
    // Not before it has started: until then bubblewrap makes a session of its own, which begins with the weight of a service.
    if (this.started && this.first !== undefined && this.options.group === null) giveWay(this.first);
    // Asked to end before there was anything to end.
    if (this.killed !== undefined) this.killNow(child);
  }

  private async afterLife(child: ChildProcess): Promise<void> {
    await this.resources.sweep?.(this.options.mark);
    endHeartbeats(child, 'q');
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

  private result(code: number | null, signal: string | null): RunResult {
    const [stdout, stderr] = [this.stdout.text(), this.stderr.text()];
    const killed = this.killed === 'ended' ? null : (this.killed ?? null);
    if (this.killed === undefined) {
      if (!this.started) throw new SandboxError(`The sandbox did not start: ${stderr.trim() || `exit code ${code}`}`);
      // Nobody but the small parent or somebody outside ends it in this way. The sandbox works: only this command is over.
      if (signal !== null || code === null) throw new Error(ENDED_FROM_OUTSIDE);
    }
    const truncated = this.stdout.left + this.stderr.left > 0 || killed === 'output';
    const exitCode = killed === 'timeout' ? EXIT_TIMEOUT : killed === null ? (code ?? EXIT_KILLED) : EXIT_KILLED;
    return { exitCode, stdout, stderr, truncated, killed, ...streamsOf(this.arrival, [this.stdout, this.stderr]) };
  }
}

/** A process that the sweep could not find may keep the output open for as long as it lives. */
function closeLater(streams: Socket[]): void {
  // A worker that was busy or stopped meanwhile reads first what the pipes have: that comes before the immediate.
  const now = () => setImmediate(() => streams.forEach((stream) => stream.destroy()));
  setTimeout(now, LAST_OUTPUT_MS).unref();
}

function endHeartbeats(child: ChildProcess, last: string): void {
  (child.stdio[3] as Writable | null)?.end(last);
}

function signalQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
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
