import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { Heartbeat } from '../../engine/sandbox/heartbeat.js';
import { PgChannel } from '../../platform/signals/pg-channel.js';
import { type ClaimedRun, FencedError, type RunSignals } from './claimed-run.js';
import { RunClaims } from './run-claims.js';

interface HeldRun {
  run: ClaimedRun;
  controller: AbortController;
  stopping: AbortController;
  /** When the confirmation that came last had been asked for, by this process's own clock: the lease began no earlier. */
  confirmedAt: number;
  fence?: NodeJS.Timeout;
  done: Promise<void>;
  finish: () => void;
}

/** Milliseconds until a run that was locked is renewed again. */
const RETRY_MS = 50;
/** Milliseconds that the calls of a step have left when this process is told to stop: half of the 10 s for its whole end. */
const GRACE_MS = 5_000;

/**
 * The runs of this process and their leases. One heartbeat renews them all; a run whose lease the database has not confirmed
 * for two thirds of its length is stopped at that moment, before anyone else may claim it.
 */
@Injectable()
export class RunLeases implements OnModuleInit {
  private readonly logger = new Logger(RunLeases.name);
  private readonly runs = new Map<string, HeldRun>();
  private readonly leaseMs: number;
  /** How long a run goes on without a confirmation. */
  private readonly patienceMs: number;
  private timer: NodeJS.Timeout | null = null;
  private beating = false;
  private missedBeat = false;

  constructor(
    private readonly claims: RunClaims,
    private readonly channel: PgChannel,
    private readonly heartbeat: Heartbeat,
    env: Env,
  ) {
    this.leaseMs = env.variables.LEASE_SECONDS * 1000;
    this.patienceMs = (this.leaseMs * 2) / 3;
  }

  get size(): number {
    return this.runs.size;
  }

  onModuleInit(): void {
    this.channel.listen((notice) => 'stop' in notice && this.lost(notice.stop));
    // A stop that was sent meanwhile is lost; the leases tell.
    this.channel.onReconnect(() => void this.beat());
    this.timer = setInterval(() => void this.beat(), this.leaseMs / 4);
  }

  /** @param askedAt when its claim was sent, by `performance.now()`: the claim may have waited before it set the lease. */
  add(run: ClaimedRun, askedAt: number): RunSignals {
    const [controller, stopping] = [new AbortController(), new AbortController()];
    let finish = (): void => undefined;
    const done = new Promise<void>((resolve) => (finish = resolve));
    const held: HeldRun = { run, controller, stopping, confirmedAt: askedAt, done, finish };
    this.runs.set(keyOf(run), held);
    this.confirm(held, askedAt);
    return { signal: controller.signal, stopping: stopping.signal };
  }

  remove(run: ClaimedRun): void {
    const held = this.runs.get(keyOf(run));
    clearTimeout(held?.fence);
    held?.finish();
    this.runs.delete(keyOf(run));
  }

  /**
   * Ends what this process still does for the task of a run that it has just claimed, and resolves when that is over: two
   * agents in one workdir would see each other's half-done work. What is left of an earlier run is fenced off already.
   */
  async clear({ taskId, runId, epoch }: ClaimedRun): Promise<void> {
    const earlier = [...this.runs.values()].filter(
      ({ run }) => run.taskId === taskId && !(run.runId === runId && run.epoch === epoch),
    );
    earlier.forEach((held) => abort(held));
    await Promise.all(earlier.map(({ done }) => done));
  }

  /** Someone else has the run now: cancelled, deleted, or taken over. */
  lost(runId: string): void {
    for (const held of this.runs.values()) if (held.run.runId === runId) abort(held);
  }

  /**
   * Stops everything with this reason and resolves when all of it has ended: `soon` lets the calls of a step that is under way
   * end within {@link GRACE_MS}; their leases are renewed meanwhile. `now` aborts them.
   */
  async stopAll(reason: Error, when: 'soon' | 'now'): Promise<void> {
    for (const held of this.runs.values()) held.stopping.abort(reason);
    const abortAll = () => this.runs.forEach((held) => abort(held, reason));
    const grace = setTimeout(abortAll, GRACE_MS);
    if (when === 'now') abortAll();
    await Promise.all([...this.runs.values()].map(({ done }) => done));
    clearTimeout(grace);
    if (this.timer !== null) clearInterval(this.timer);
  }

  private async beat(): Promise<void> {
    if (this.runs.size === 0) return;
    if (this.beating) {
      this.missedBeat = true;
      return;
    }
    this.beating = true;
    const until = performance.now() + this.leaseMs / 12;
    try {
      let locked = await this.renew([...this.runs.values()]);
      this.heartbeat.beat();
      while (locked.length > 0 && performance.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        locked = await this.renew(locked);
      }
    } catch (error) {
      this.logger.warn(`Leases were not renewed: ${String(error)}`);
    } finally {
      this.beating = false;
    }
    // One that hung until its limit leaves no time to wait for the next beat.
    if (!this.missedBeat) return;
    this.missedBeat = false;
    void this.beat();
  }

  /**
   * Resolves with the runs that are locked now. The recorder locks a run as well, until its write is committed: beside a busy
   * run, up to 40 % of the renewals met such a lock.
   */
  private async renew(runs: HeldRun[]): Promise<HeldRun[]> {
    const asked = performance.now();
    // A process that was frozen may come here before its timers: what it has to give up it must not renew.
    for (const held of runs) if (asked - held.confirmedAt >= this.patienceMs) this.fenceOff(held);
    // Nor what has ended while it was locked: it may have been let go.
    const due = runs.filter((held) => this.isHeld(held) && !isFenced(held));
    const kept = await this.claims.renew(due.map(({ run }) => run));
    return due.filter((held) => {
      const found = kept.get(held.run.runId);
      if (found?.epoch !== held.run.epoch) abort(held);
      else if (found.renewed) this.confirm(held, asked);
      return found?.renewed === false;
    });
  }

  private confirm(held: HeldRun, askedAt: number): void {
    held.confirmedAt = askedAt;
    this.heartbeat.confirmed(askedAt);
    clearTimeout(held.fence);
    // It may have ended, or been stopped, while the answer was on its way.
    if (!this.isHeld(held) || held.controller.signal.aborted) return;
    const left = askedAt + this.patienceMs - performance.now();
    held.fence = setTimeout(() => this.fenceOff(held), left).unref();
  }

  private isHeld(held: HeldRun): boolean {
    return this.runs.get(keyOf(held.run)) === held;
  }

  private fenceOff(held: HeldRun): void {
    if (held.controller.signal.aborted) return;
    this.logger.warn(`The lease of run ${held.run.runId} was not confirmed in time: it is stopped here.`);
    abort(held);
  }
}

/** With its epoch: a process may take over a run that it lost itself, before it has let go of it. */
function keyOf({ runId, epoch }: ClaimedRun): string {
  return `${runId}@${epoch}`;
}

function isFenced({ controller }: HeldRun): boolean {
  return controller.signal.reason instanceof FencedError;
}

function abort({ run, controller, fence }: HeldRun, reason: Error = new FencedError(run)): void {
  clearTimeout(fence);
  controller.abort(reason);
}
