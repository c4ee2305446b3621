import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { SandboxBusyError } from '../../engine/sandbox/sandbox.js';
import { databaseError } from '../../platform/database/database-errors.js';
import { type ClaimedRun, FencedError, HandedBackError, type RunSignals } from './claimed-run.js';
import { RunLeases } from './run-leases.js';
import { RunClaims } from './run-claims.js';
import { RunDriver } from './run-driver.js';
import { RunRecorder } from './run-recorder.js';
import { retryWhileUnavailable } from './retry-while-unavailable.js';
import { WorkdirCleaner } from './workdir-cleaner.js';

/** How many claims in a row may be lost to other processes before this one waits for the reconciler's next second. */
const MAX_LOST = 3;
/** Milliseconds in which nothing is claimed after the sandbox had no place for a run. */
const BUSY_MS = 1000;

/**
 * Drives runs: claims one, lets the engine work, records what happens, and takes the next. A signal is obeyed while there
 * are free places that nothing waits for; else the table says in fair order what comes next (docs/decisions/0014).
 */
@Injectable()
export class RunExecutor implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(RunExecutor.name);
  private readonly concurrency: number;
  private readonly claiming = new Map<string, Promise<unknown>>();
  private ready = false;
  private stopping = false;
  private filling = false;
  /** Work may have come since the last look at the table. */
  private lookAgain = false;
  /** The last look found a run that this process is claiming already. That claim may still be refused, so the look is repeated. */
  private passedOver = false;
  private lost = 0;
  /** By `performance.now()`. */
  private busyUntil = 0;

  constructor(
    private readonly claims: RunClaims,
    private readonly held: RunLeases,
    private readonly driver: RunDriver,
    private readonly recorder: RunRecorder,
    private readonly workdirs: WorkdirCleaner,
    env: Env,
  ) {
    this.concurrency = env.variables.WORKER_CONCURRENCY;
  }

  /** How many runs could start now. */
  get free(): number {
    if (performance.now() < this.busyUntil) return 0;
    return !this.ready || this.stopping ? 0 : this.concurrency - this.held.size - this.claiming.size;
  }

  /**
   * Where every signal ends: claims the run and starts it when there is a free place that nothing else waits for. Otherwise it
   * is left in the table with the others, which is looked at whenever a run ends.
   * Resolves when it is claimed or refused, not when it is over. Never rejects: the reconciler tries again.
   */
  async execute(runId: string): Promise<void> {
    if (this.claiming.has(runId)) return;
    if (this.filling || this.free <= 0) this.lookAgain = true;
    else if (!(await this.claim(runId)) && (this.lookAgain || this.passedOver)) await this.fill();
  }

  /**
   * Takes what waits in the table, in fair order, until no place is free. One look at a time; resolves when it is done, without
   * waiting for the claims: one may wait for a task that a stopped process has locked. Never rejects.
   */
  async fill(): Promise<void> {
    this.lookAgain = true;
    if (this.filling) return;
    this.filling = true;
    try {
      while (this.lookAgain && this.free > 0) {
        this.lookAgain = false;
        this.passedOver = false;
        const found = await this.claims.queued(this.free + this.claiming.size);
        for (const runId of found) void this.take(runId);
      }
    } catch (error) {
      this.logger.warn(`The look at the queue failed: ${String(error)}`);
    } finally {
      this.filling = false;
    }
  }

  /** Bull rings as soon as its own module is ready; a run that is claimed before the rest is (engine, sandbox) would break. */
  onApplicationBootstrap(): void {
    this.ready = true;
    void this.fill();
  }

  /**
   * Stops claiming, hands running work back, and resolves when nothing runs here any more. Told by a signal of the system, it
   * lets short commands end first; a program that closes the application waits for nothing.
   */
  async beforeApplicationShutdown(signal?: string): Promise<void> {
    this.stopping = true;
    if (this.held.size > 0) this.logger.log(`Told to stop: ${this.held.size} running tasks are handed back.`);
    // Claims under way first: what they bring is held by then, and is handed back with the rest.
    await Promise.allSettled(this.claiming.values());
    await this.held.stopAll(new HandedBackError('This worker stops.'), signal === undefined ? 'now' : 'soon');
  }

  /** Claims what a look has found; when another process was first, there may be more for us. */
  private async take(runId: string): Promise<void> {
    if (this.claiming.has(runId)) this.passedOver = true;
    else if (this.free > 0 && !(await this.claim(runId)) && ++this.lost <= MAX_LOST) await this.fill();
  }

  /** Whether the run is ours now. */
  private async claim(runId: string): Promise<boolean> {
    const askedAt = performance.now();
    const claim = this.claims.claim(runId);
    this.claiming.set(runId, claim);
    let run: ClaimedRun | null = null;
    try {
      run = await claim;
    } catch (error) {
      this.logger.warn(`Run ${runId} was not claimed: ${String(error)}`);
    }
    this.claiming.delete(runId);
    if (run === null) return false;
    this.lost = 0;
    void this.drive(run, askedAt);
    return true;
  }

  private async drive(run: ClaimedRun, askedAt: number): Promise<void> {
    const signals = this.held.add(run, askedAt);
    try {
      // A claim that was under way when the stop came.
      if (this.stopping) throw new HandedBackError('This worker stops.');
      await this.held.clear(run);
      await this.driver.drive(run, signals);
    } catch (error) {
      await this.ended(run, error, signals);
    } finally {
      this.held.remove(run);
    }
    void this.fill();
  }

  /** What is left to do when a run was stopped rather than finished. */
  private async ended(run: ClaimedRun, thrown: unknown, { signal, stopping }: RunSignals): Promise<void> {
    const stopped: unknown = stopping.aborted && !(thrown instanceof FencedError) ? stopping.reason : thrown;
    const error: unknown = signal.aborted ? signal.reason : stopped;
    try {
      if (error instanceof FencedError) return await this.fenced(run, error);
      if (error instanceof SandboxBusyError) {
        this.busyUntil = performance.now() + BUSY_MS;
        this.logger.warn(`Run ${run.runId} goes back to the queue: ${error.message}`);
        return await this.claims.handBack(run);
      }
      if (error instanceof HandedBackError) return await this.claims.handBack(run);
      if (databaseError(error)?.code === 'unavailable') {
        this.logger.warn(`Run ${run.runId} is let go, because the database failed it: ${String(error)}`);
        return await retryWhileUnavailable(() => this.claims.letGo(run), signal);
      }
      this.logger.error(`Run ${run.runId} broke: ${error instanceof Error ? error.stack : String(error)}`);
      const message = 'An internal error ended this turn. Send a message to try again.';
      await this.recorder.finish(run, { type: 'failed', code: 'internal_error', message, retryable: true }, signal);
    } catch (cause) {
      // The database cannot be reached, or the run is not ours: its lease runs out and another worker takes over.
      this.logger.warn(`The end of run ${run.runId} was not recorded: ${String(cause)}`);
    }
  }

  private async fenced(run: ClaimedRun, error: FencedError): Promise<void> {
    this.logger.log(error.message);
    await this.workdirs.removeIfGone(run.taskId);
    await this.recorder.left(run);
  }
}
