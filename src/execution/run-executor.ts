import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Env } from '../config/env.js';
import { databaseError } from '../http/database-errors.js';
import { type ClaimedRun, FencedError, HandedBackError } from './claimed-run.js';
import { HeldRuns } from './held-runs.js';
import { RunClaims } from './run-claims.js';
import { RunDriver } from './run-driver.js';
import { RunRecorder } from './run-recorder.js';
import { WorkdirCleaner } from './workdir-cleaner.js';

/** Rung runs that wait in memory for a free place. More are found in the table. */
const MAX_WAITING = 1000;

/** Drives runs: claims one, lets the engine work, records what happens, and takes the next. */
@Injectable()
export class RunExecutor implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(RunExecutor.name);
  private readonly waiting = new Set<string>();
  private readonly concurrency: number;
  private readonly claiming = new Set<Promise<unknown>>();
  private ready = false;
  private stopping = false;
  private onFree: () => void = () => undefined;

  constructor(
    private readonly claims: RunClaims,
    private readonly held: HeldRuns,
    private readonly driver: RunDriver,
    private readonly recorder: RunRecorder,
    private readonly workdirs: WorkdirCleaner,
    env: Env,
  ) {
    this.concurrency = env.variables.WORKER_CONCURRENCY;
  }

  /** How many runs could start now. */
  get free(): number {
    return !this.ready || this.stopping ? 0 : this.concurrency - this.held.size - this.claiming.size;
  }

  /** Calls `listener` when a run has ended and nothing that was rung waits for its place. */
  whenFree(listener: () => void): void {
    this.onFree = listener;
  }

  /**
   * Where every signal ends: claims the run and starts it when there is a free place, else remembers it.
   * Resolves when it is claimed or refused, not when it is over. Never rejects: the reconciler tries again.
   */
  async execute(runId: string): Promise<void> {
    if (this.free <= 0) {
      if (!this.stopping && this.waiting.size < MAX_WAITING) this.waiting.add(runId);
      return;
    }
    const claim = this.claims.claim(runId);
    this.claiming.add(claim);
    try {
      const run = await claim;
      if (run !== null) void this.drive(run);
    } catch (error) {
      this.logger.warn(`Run ${runId} was not claimed: ${String(error)}`);
    } finally {
      this.claiming.delete(claim);
    }
    this.next();
  }

  /** Bull rings as soon as its own module is ready; a run that is claimed before the rest is (engine, sandbox) would break. */
  onApplicationBootstrap(): void {
    this.ready = true;
    this.next();
  }

  /** Stops claiming, hands running work back, and resolves when nothing runs here any more. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.waiting.clear();
    // Claims under way first: what they bring is held by then, and is handed back with the rest.
    await Promise.allSettled(this.claiming);
    await this.held.stopAll(new HandedBackError('This worker stops.'));
  }

  private next(): void {
    for (const runId of this.waiting) {
      if (this.free <= 0) return;
      this.waiting.delete(runId);
      void this.execute(runId);
    }
  }

  private async drive(run: ClaimedRun): Promise<void> {
    const controller = this.held.add(run);
    // A claim that was under way when the stop came.
    if (this.stopping) controller.abort(new HandedBackError('This worker stops.'));
    let next: string | null = null;
    try {
      await this.held.clear(run);
      next = await this.driver.drive(run, controller.signal);
    } catch (error) {
      await this.ended(run, controller.signal.aborted ? controller.signal.reason : error);
    } finally {
      this.held.remove(run);
    }
    if (next !== null) void this.execute(next);
    this.next();
    if (this.free > 0) this.onFree();
  }

  /** What is left to do when a run was stopped rather than finished. */
  private async ended(run: ClaimedRun, error: unknown): Promise<void> {
    try {
      if (error instanceof FencedError) return await this.fenced(run, error);
      if (error instanceof HandedBackError) return await this.claims.handBack(run);
      if (databaseError(error)?.code === 'unavailable') {
        this.logger.warn(`Run ${run.runId} is let go, because the database failed it: ${String(error)}`);
        return await this.claims.letGo(run);
      }
      this.logger.error(`Run ${run.runId} broke: ${error instanceof Error ? error.stack : String(error)}`);
      const message = 'An internal error ended this turn. Send a message to try again.';
      await this.recorder.finish(run, { type: 'failed', code: 'internal_error', message, retryable: true });
    } catch (cause) {
      // The database cannot be reached, or the run is not ours: its lease runs out and another worker takes over.
      this.logger.warn(`The end of run ${run.runId} was not recorded: ${String(cause)}`);
    }
  }

  private async fenced({ taskId }: ClaimedRun, error: FencedError): Promise<void> {
    this.logger.log(error.message);
    await this.workdirs.removeIfGone(taskId);
  }
}
