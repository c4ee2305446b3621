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
import { Machine } from '../machines/machine.js';
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
/** What a process that stops has left for a snapshot, after the calls of a step: it must end within 10 s. Milliseconds. */
const HAND_OVER_MS = 3_000;
/** What snapshots have left that were under way when the process was told to stop, and those behind the calls of a step, which may take 5 s of it. Milliseconds. */
const HURRY_MS = 8_000;

/**
 * Drives runs: claims one, lets the engine work, records what happens, and takes the next. When a notice names a run, a place is free and
 * nothing else waits, the executor claims that run. Otherwise it reads the queue in fair order (docs/decisions/0014).
 *
 * A place is one of WORKER_CONCURRENCY. A free one is _kept_ for workspaces without a running task, or _open_ to every workspace
 * (docs/decisions/0029). The `first` run of a workspace is one that may have a kept place.
 */
@Injectable()
export class RunExecutor implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(RunExecutor.name);
  private readonly concurrency: number;
  private readonly kept: number;
  private readonly claiming = new Map<string, Promise<unknown>>();
  private readonly table = new WorkLoop({ at: 'the queue', look: () => this.look() });
  private state: 'booting' | 'working' | 'stopping' = 'booting';
  /** Aborted when each snapshot has to end. */
  private readonly hurry = new AbortController();
  private draining = false;
  /** A queued run may have been left out because no place was free. When a claim under way is then refused, the executor looks at the queue again. */
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
    private readonly machine: Machine,
    env: Env,
  ) {
    this.concurrency = env.variables.WORKER_CONCURRENCY;
    this.kept = keptPlaces(this.concurrency);
  }

  onModuleInit(): void {
    const [places, kept] = [this.concurrency, this.kept];
    const of = kept === 0 ? 'workspaces take turns' : `${kept} kept for workspaces that have no running task`;
    this.safeguards.report({ inForce: [`Places for tasks: ${places}, ${of}.`] });
    this.machine.drained(() => void this.drain());
  }

  /** How many runs could start now. */
  get free(): number {
    // When the disk is nearly full no run starts. The reconciler looks each second, and goes on when there is space.
    if (performance.now() < this.busyUntil || this.space.state !== 'enough') return 0;
    return this.state === 'working' ? this.concurrency - this.held.size - this.claiming.size : 0;
  }

  /** Free places that any workspace may have. */
  get open(): number {
    return Math.max(0, this.free - this.kept);
  }

  /**
   * Every notice of a run ends here. Claims the run and starts it when a place is free and nothing else waits. Otherwise the run stays in the
   * queue, which is looked at whenever a run ends. Resolves with whether it is claimed, not when it is over. Never rejects: the reconciler
   * tries again.
   */
  async execute(runId: string): Promise<boolean> {
    if (this.claiming.has(runId)) return false;
    if (this.table.looking || this.free <= 0) {
      this.leftOut = true;
      if (this.table.looking) void this.table.wake();
      return false;
    }
    const open = this.open > 0;
    // A claim under way may be of the same workspace, which would then get a kept place too. The look counts such claims, so it decides.
    if (!open && this.claiming.size > 0) {
      await this.claimWaiting();
      return false;
    }
    if (await this.claim(runId)) return true;
    // No open place was free, so it asked for a kept one and was refused. If another claim is refused too, its place opens: then look again.
    if (!open) this.leftOut ||= this.open > 0 || this.claiming.size > 0;
    if (this.leftOut) await this.claimWaiting();
    return false;
  }

  /**
   * Claims queued runs in fair order while places are free. Does not wait for the claims: one may hang at a task that a frozen process has
   * locked. Never rejects.
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

  /** Bull brings work as soon as its own module is ready. A run that is claimed before engine and sandbox are ready would fail. */
  onApplicationBootstrap(): void {
    this.state = 'working';
    void this.claimWaiting();
  }

  /**
   * Stops claiming, hands running work back, and resolves when nothing runs here any more. On SIGTERM the calls of a step may end first
   * (run-leases.ts); when a program closes the application they are aborted at once.
   */
  async beforeApplicationShutdown(signal?: string): Promise<void> {
    const hurry = setTimeout(() => this.hurry.abort(), HURRY_MS);
    await this.stop(signal === undefined ? 'now' : 'soon');
    clearTimeout(hurry);
  }

  /** An operator has told this machine to end: what runs goes on to the end of its step, however long that takes, and then the process ends. */
  private async drain(): Promise<void> {
    this.draining = true;
    await this.stop('after the step');
    this.logger.log('This machine was told to end, and nothing runs on it any more.');
    // The way of any other end: what else the process does is closed in its order.
    process.kill(process.pid, 'SIGTERM');
  }

  private async stop(when: 'after the step' | 'soon' | 'now'): Promise<void> {
    this.state = 'stopping';
    if (this.held.size > 0) this.logger.log(`Told to stop: ${this.held.size} running tasks are handed back.`);
    await this.table.end();
    // Others need not leave to this machine what it hands back. One that drains stays on record until its end.
    if (when !== 'after the step') await this.machine.leave();
    // Claims under way first: what they bring is held by then, and is handed back with the rest.
    await Promise.allSettled(this.claiming.values());
    await this.held.stopAll(new HandedBackError('This worker stops.'), when);
  }

  /** Claims a run that a look has found. When another process was faster, it looks again. */
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
      // The stop came while this run was being claimed.
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

  /** Cleans up after a run that was stopped before its end. */
  private async ended(run: ClaimedRun, thrown: unknown, { signal, stopping }: RunSignals): Promise<void> {
    const stopped: unknown = stopping.aborted && !(thrown instanceof FencedError) ? stopping.reason : thrown;
    const error: unknown = signal.aborted ? signal.reason : stopped;
    try {
      if (error instanceof FencedError) return await this.fenced(run, error);
      if (error instanceof SandboxBusyError) {
        this.busyUntil = performance.now() + BUSY_MS;
        const level = error.usual ? 'debug' : 'warn';
        this.logger[level]({ ...idsOf(run), msg: `Run ${run.runId} goes back to the queue: ${error.message}` });
        return await this.claims.handBack(run);
      }
      if (error instanceof HandedBackError) return await this.handBack(run);
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
      // The database is away, or another worker has the run. In both cases the lease here ends, and another worker takes over.
      this.logger.warn({ ...idsOf(run), msg: `The end of run ${run.runId} was not recorded: ${String(cause)}` });
    }
  }

  private async handBack(run: ClaimedRun): Promise<void> {
    await this.recorder.handOver(run, this.untilItEnds()).catch((error: unknown) => {
      this.logger.warn({ ...idsOf(run), msg: `Run ${run.runId} is handed back without a snapshot: ${String(error)}` });
    });
    await this.claims.handBack(run);
  }

  private async fenced(run: ClaimedRun, error: FencedError): Promise<void> {
    this.logger.log({ ...idsOf(run), msg: error.message });
    await this.folders.removeIfGone(run.taskId);
    await this.recorder.left(run, this.untilItEnds());
  }

  /** The snapshot of a run that has left takes the time that it needs, also of a machine that drains, but where the process is about to end. */
  private untilItEnds(): AbortSignal {
    return this.state === 'stopping' && !this.draining ? AbortSignal.timeout(HAND_OVER_MS) : this.hurry.signal;
  }
}
