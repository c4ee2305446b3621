import { setTimeout as later } from 'node:timers/promises';
import type { RunningCommand } from '../../sandbox/running-command.js';
import type { RunResult } from '../../sandbox/run-result.js';
import type { CommandLog } from './command-log.js';
import { OutputRing } from './output-ring.js';

/** `exited`: by itself, or by a limit. `stopped`: by the agent, a person, or the end of its run. `lost`: its worker has gone, or its box. */
export const COMMAND_STATUSES = ['running', 'exited', 'stopped', 'lost'] as const;
export type CommandStatus = (typeof COMMAND_STATUSES)[number];

/** Milliseconds from a gentle signal to the end of a command that does not heed it. */
const GRACE_MS = 2_000;
/** A program that waits for input has said what it asks when nothing has come for so long. Milliseconds. */
const QUIET_MS = 300;
const LOOK_MS = 25;

/** What ends a wait: `signal` with its reason, `stopping` as if its time were over. */
interface Until {
  signal: AbortSignal;
  stopping?: AbortSignal;
}

/** A command of the agent that may go on. */
export class AgentCommand {
  readonly ring = new OutputRing();
  /** Null until it goes on beyond its call. */
  number: number | null = null;
  status: CommandStatus = 'running';
  exitCode: number | null = null;
  /** Why the sandbox has ended it. */
  killed: RunResult['killed'] = null;
  /** Up to where its output was shown. */
  shown = 0;
  /** Whether the agent knows that it has ended: it has ended it, or has been shown that. */
  told = false;
  /** Whether it was interrupted. It may not heed that. */
  interrupted = false;
  private heard = performance.now();
  private running: RunningCommand | null = null;
  private stopping = false;
  private seen: () => void = () => undefined;

  constructor(
    readonly command: string,
    readonly terminal: boolean,
    readonly takesInput: boolean,
    readonly log: CommandLog,
  ) {}

  get id(): string {
    return `b${this.number}`;
  }

  /** The file that has what it says. */
  get logPath(): string {
    return `/tmp/output/${this.id}.log`;
  }

  /** It has been started. `over` is called when it has ended, `seen` when the agent is shown that for the first time. */
  begun(running: RunningCommand, { over, seen }: { over: () => void; seen: () => void }): void {
    this.running = running;
    this.seen = seen;
    if (!this.takesInput) running.end();
    running.ended
      .then(
        ({ exitCode, killed }) => {
          this.exitCode = this.stopping ? null : exitCode;
          this.killed = killed;
          this.status = this.stopping ? 'stopped' : 'exited';
        },
        () => (this.status = this.stopping ? 'stopped' : 'lost'),
      )
      .finally(over);
  }

  said(chunk: Buffer): void {
    this.ring.add(chunk);
    this.log.add(chunk);
    this.heard = performance.now();
  }

  /** False: it takes no input. */
  write(bytes: string): boolean {
    return this.takesInput && this.running?.write(bytes) === true;
  }

  /** It has ended, and little of its output is kept. */
  shrink(bytes: number): void {
    this.ring.shrink(bytes);
    this.running = null;
  }

  endInput(): void {
    this.running?.end();
  }

  interrupt(): void {
    this.interrupted = true;
    this.running?.stop('SIGINT');
  }

  /** Resolves when it has ended: it is asked to, and then made to. @param told whether the agent wants it. */
  async stop(told: boolean): Promise<void> {
    if (this.status !== 'running') return;
    this.told ||= told;
    this.stopping = true;
    this.running?.stop('SIGTERM');
    const kill = setTimeout(() => this.running?.stop(), GRACE_MS);
    await this.ended();
    clearTimeout(kill);
  }

  /** The agent is shown how it stands. */
  show(): void {
    if (this.status === 'running' || this.told) return;
    this.told = true;
    this.seen();
  }

  ended(): Promise<unknown> {
    return this.running?.ended.catch(() => undefined) ?? Promise.resolve();
  }

  /** Waits at most so long for its end; with `answer` only until it has said something and is quiet. */
  async wait(seconds: number, { signal, stopping }: Until, answer = false): Promise<void> {
    const begun = performance.now();
    const before = this.ring.bytes;
    const isQuiet = () => this.ring.bytes > before && performance.now() - this.heard > QUIET_MS;
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal, ...(stopping === undefined ? [] : [stopping])]);
    // Once: what waits for the end of a command is kept until then.
    void this.ended().then(() => over.abort());
    const time = answer ? LOOK_MS : seconds * 1000;
    try {
      do {
        if (this.status !== 'running') return;
        await later(time, undefined, { signal: until }).catch(() => undefined);
        signal.throwIfAborted();
      } while (answer && stopping?.aborted !== true && !isQuiet() && performance.now() - begun < seconds * 1000);
    } finally {
      over.abort();
    }
  }
}
