import { setTimeout as wait } from 'node:timers/promises';
import { Logger } from '@nestjs/common';

interface LoopOptions {
  /** What the loop looks at, for the log: `the jobs`. */
  at: string;
  /** Claims the work that is due. Resolves with the milliseconds until the next look; with nothing, the loop sleeps until `wake()`. */
  look: () => Promise<number | void>;
  /** Milliseconds from a wake to its look. The look also finds what comes meanwhile. */
  delayMs?: number;
  /** Milliseconds from the begin of one look to that of the next, at least. */
  pauseMs?: number;
  /** Milliseconds after which it wakes by itself when a look has failed. */
  retryMs?: number;
}

/**
 * The loop of everything that works. Notices and the clock wake it. It then looks for work in the database, one look at a time. If it is woken
 * during a look, it looks again.
 */
export class WorkLoop {
  private readonly logger = new Logger(WorkLoop.name);
  private readonly stop = new AbortController();
  private running: Promise<void> | null = null;
  private woken = false;
  private lookedAt = -Infinity;
  private alarm: NodeJS.Timeout | undefined;

  constructor(private readonly options: LoopOptions) {}

  /** Whether a look is under way, or about to begin. */
  get looking(): boolean {
    return this.running !== null;
  }

  /** Says that there may be work. Resolves after a look that began after this call, when no other is due. Never rejects. */
  wake(): Promise<void> {
    if (this.stop.signal.aborted) return Promise.resolve();
    this.woken = true;
    this.running ??= this.run();
    return this.running;
  }

  /** Begins no more looks. Resolves when the one under way is over. */
  async end(): Promise<void> {
    this.stop.abort();
    clearTimeout(this.alarm);
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stop;
    clearTimeout(this.alarm);
    let sleepMs: number | void = undefined;
    // It waits a microtask at least, so that `running` is set before the first look begins.
    await this.rest();
    while (this.woken && !signal.aborted) {
      this.woken = false;
      this.lookedAt = performance.now();
      sleepMs = await this.look();
      if (this.woken) await this.rest();
    }
    // Nothing is awaited between the check of `woken` and this line: a later wake begins a new run.
    this.running = null;
    if (sleepMs !== undefined && !signal.aborted) this.alarm = setTimeout(() => void this.wake(), Math.ceil(sleepMs));
  }

  private async look(): Promise<number | void> {
    const { at, look, retryMs } = this.options;
    try {
      return await look();
    } catch (error) {
      this.logger.warn(`The look at ${at} failed: ${String(error)}`);
      return retryMs;
    }
  }

  private async rest(): Promise<void> {
    const { delayMs = 0, pauseMs = 0 } = this.options;
    const ms = Math.max(delayMs, this.lookedAt + pauseMs - performance.now());
    if (ms > 0) await wait(ms, undefined, { ref: false, signal: this.stop.signal }).catch(() => undefined);
  }
}
