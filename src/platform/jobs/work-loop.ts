import { setTimeout as wait } from 'node:timers/promises';
import { Logger } from '@nestjs/common';

interface LoopOptions {
  /** What a look is at, for the log: `the jobs`. */
  at: string;
  /** Takes what there is. Resolves with the milliseconds after which the loop wakes by itself; without them only others wake it. */
  look: () => Promise<number | void>;
  /** Milliseconds from a wake to its look: what comes meanwhile is found by the same look. */
  delayMs?: number;
  /** Milliseconds from one look to the next at least. */
  pauseMs?: number;
  /** Milliseconds after which it wakes by itself when a look has failed. */
  retryMs?: number;
}

/**
 * The loop of everything that works: it is woken by notices and by the clock, looks for work in the database, one look at a time, and
 * looks again when it was woken meanwhile.
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

  /** There may be work. Resolves when there was a look that began after this call, and none is wanted any more. Never rejects. */
  wake(): Promise<void> {
    if (this.stop.signal.aborted) return Promise.resolve();
    this.woken = true;
    this.running ??= this.run();
    return this.running;
  }

  /** No look begins any more. Resolves when none is under way. */
  async end(): Promise<void> {
    this.stop.abort();
    clearTimeout(this.alarm);
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stop;
    clearTimeout(this.alarm);
    let sleepMs: number | void = undefined;
    // A microtask at least: who wakes it has `running` before the first look begins.
    await this.rest();
    while (this.woken && !signal.aborted) {
      this.woken = false;
      this.lookedAt = performance.now();
      sleepMs = await this.look();
      if (this.woken) await this.rest();
    }
    // In the same turn as the last look at `woken`: a wake from now on begins anew.
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
