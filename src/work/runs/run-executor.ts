import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { DiskSpace } from '../../platform/disk/disk-space.js';
import { Safeguards } from '../../platform/config/safeguards.js';
import { SandboxBusyError } from '../../engine/sandbox/sandbox.js';
import { keptPlaces } from '../../platform/fairness/shares.js';
import { isPassing } from '../../platform/database/database-errors.js';
import { type ClaimedRun, FencedError, HandedBackError, idsOf, type RunSignals } from './claimed-run.js';
import { RunLeases } from './run-leases.js';
import { RunClaims } from './run-claims.js';
import type { QueuedRun } from './run-claims.sql.js';
import { RunDriver } from './run-driver.js';
import { RunRecorder } from './run-recorder.js';
import { retryWhileUnavailable } from '../../platform/database/retry-while-unavailable.js';
import { WorkLoop } from '../../platform/jobs/work-loop.js';
import { TaskFolders } from './task-folders.js';

/** How many claims in a row may be lost to other processes before this one waits for the reconciler's next second. */
const MAX_LOST = 3;
/** Milliseconds in which nothing is claimed after the sandbox had no place for a run. */
const BUSY_MS = 1000;

/**
 * Drives runs: claims one, lets the engine work, records what happens, and takes the next. A signal is obeyed while there
 * are free places that nothing waits for; else the table says in fair order what comes next (docs/decisions/0014).
 */
@Injectable()
export class RunExecutor implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(RunExecutor.name);
  private readonly concurrency: number;
  private readonly kept: number;
  private readonly claiming = new Map<string, Promise<unknown>>();
  private readonly table = new WorkLoop({ at: 'the queue', look: () => this.look() });
  private state: 'booting' | 'working' | 'stopping' = 'booting';
  /** A run may wait that was left out for want of a place. A claim under way that is refused leaves one, and the table is looked at again. */
  private leftOut = false;
  /** Claims in a row that were lost to other processes. */
  private lost = 0;
  /** By `performance.now()`. */
  private busyUntil = 0;

  constructor(
    private readonly claims: RunClaims,
    private readonly held: RunLeases,
    private readonly driver: RunDriver,
    private readonly recorder: RunRecorder,
    private readonly folders: TaskFolders,
    private readonly space: DiskSpace,
    private readonly safeguards: Safeguards,
    env: Env,
  ) {
    this.concurrency = env.variables.WORKER_CONCURRENCY;
    this.kept = keptPlaces(this.concurrency);
  }

  onModuleInit(): void {
    const [places, kept] = [this.concurrency, this.kept];
    const of = kept === 0 ? 'workspaces take turns' : `${kept} kept for workspaces that have no running task`;
    this.safeguards.report({ inForce: [`Places for tasks: ${places}, ${of}.`] });
  }

  /** How many runs could start now. */
  get free(): number {
    // Below the reserve the queue waits; the reconciler's next second goes on when there is space again.
    if (performance.now() < this.busyUntil || this.space.state !== 'enough') return 0;
    return this.state === 'working' ? this.concurrency - this.held.size - this.claiming.size : 0;
  }

  /** Of the free places, how many are for every workspace. */
  get open(): number {
    return Math.max(0, this.free - this.kept);
  }

  /**
   * Where every signal ends: claims the run and starts it when there is a free place that nothing else waits for. Otherwise it
   * is left in the table with the others, which is looked at whenever a run ends.
   * Resolves when it is claimed (true) or refused, not when it is over. Never rejects: the reconciler tries again.
   */
  async execute(runId: string): Promise<boolean> {
    if (this.claiming.has(runId)) return false;
    if (this.table.looking || this.free <= 0) {
      this.leftOut = true;
      if (this.table.looking) void this.table.wake();
      return false;
    }
    const open = this.open > 0;
    // A claim under way may be of the same workspace, which would then have a kept place beside an open one. The look counts claims.
    if (!open && this.claiming.size > 0) {
      await this.claimWaiting();
      return false;
    }
    if (await this.claim(runId)) return true;
    // Without an open place it was refused a kept one. A claim under way that is refused too leaves one open, or has by now.
    if (!open) this.leftOut ||= this.open > 0 || this.claiming.size > 0;
    if (this.leftOut) await this.claimWaiting();
    return false;
  }

  /**
   * Takes what waits in the table, in fair order, as far as places are free. Resolves when it is done, without waiting for the claims: one
   * may wait for a task that a stopped process has locked. Never rejects.
   */
  claimWaiting(): Promise<void> {
    return this.table.wake();
  }

  private async look(): Promise<void> {
    const claiming = [...this.claiming.keys()];
    this.leftOut = claiming.length > 0;
    if (this.free <= 0) return;
    for (const run of await this.claims.queued(this.free, this.open, claiming)) void this.take(run);
  }

  /** Bull brings work as soon as its own module is ready; a run that is claimed before the rest is (engine, sandbox) would break. */
  onApplicationBootstrap(): void {
    this.state = 'working';
    void this.claimWaiting();
  }

  /**
   * Stops claiming, hands running work back, and resolves when nothing runs here any more. Told by a signal of the system, it
   * lets short commands end first; a program that closes the application waits for nothing.
   */
  async beforeApplicationShutdown(signal?: string): Promise<void> {
    this.state = 'stopping';
    if (this.held.size > 0) this.logger.log(`Told to stop: ${this.held.size} running tasks are handed back.`);
    await this.table.end();
    // Claims under way first: what they bring is held by then, and is handed back with the rest.
    await Promise.allSettled(this.claiming.values());
    await this.held.stopAll(new HandedBackError('This worker stops.'), signal === undefined ? 'now' : 'soon');
  }

  /** Claims what a look has found; when another process was first, there may be more for us. */
  private async take({ id, first }: QueuedRun): Promise<void> {
    if ((first ? this.free : this.open) <= 0) this.leftOut ||= this.claiming.size > 0;
    else if (!(await this.claim(id)) && ++this.lost <= MAX_LOST) await this.claimWaiting();
  }

  /** Whether the run is ours now. */
  private async claim(runId: string): Promise<boolean> {
    const askedAt = performance.now();
    const claim = this.claims.claim(runId, this.open > 0 ? 'any' : 'first');
    this.claiming.set(runId, claim);
    let run: ClaimedRun | null = null;
    try {
      run = await claim;
    } catch (error) {
      this.logger.warn({ runId, msg: `Run ${runId} was not claimed: ${String(error)}` });
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
      if (this.state === 'stopping') throw new HandedBackError('This worker stops.');
      await this.held.clear(run);
      await this.driver.drive(run, signals);
    } catch (error) {
      await this.ended(run, error, signals);
    } finally {
      this.held.remove(run);
    }
    void this.claimWaiting();
  }

  /** What is left to do when a run was stopped rather than finished. */
  private async ended(run: ClaimedRun, thrown: unknown, { signal, stopping }: RunSignals): Promise<void> {
    const stopped: unknown = stopping.aborted && !(thrown instanceof FencedError) ? stopping.reason : thrown;
    const error: unknown = signal.aborted ? signal.reason : stopped;
    try {
      if (error instanceof FencedError) return await this.fenced(run, error);
      if (error instanceof SandboxBusyError) {
        this.busyUntil = performance.now() + BUSY_MS;
        this.logger.warn({ ...idsOf(run), msg: `Run ${run.runId} goes back to the queue: ${error.message}` });
        return await this.claims.handBack(run);
      }
      if (error instanceof HandedBackError) return await this.claims.handBack(run);
      if (isPassing(error)) {
        this.logger.warn({
          ...idsOf(run),
          msg: `Run ${run.runId} is let go, because the database failed it: ${String(error)}`,
        });
        return await retryWhileUnavailable(() => this.claims.endLease(run), signal);
      }
      this.logger.error({
        ...idsOf(run),
        msg: `Run ${run.runId} broke: ${error instanceof Error ? error.stack : String(error)}`,
      });
      const message = 'An internal error ended this turn. Send a message to try again.';
      await this.recorder.finish(run, { type: 'failed', code: 'internal_error', message, retryable: true }, signal);
    } catch (cause) {
      // The database cannot be reached, or the run is not ours: its lease runs out and another worker takes over.
      this.logger.warn({ ...idsOf(run), msg: `The end of run ${run.runId} was not recorded: ${String(cause)}` });
    }
  }

  private async fenced(run: ClaimedRun, error: FencedError): Promise<void> {
    this.logger.log({ ...idsOf(run), msg: error.message });
    await this.folders.removeIfGone(run.taskId);
    await this.recorder.left(run);
  }
}
