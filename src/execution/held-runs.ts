import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Env } from '../config/env.js';
import { PgChannel } from '../signals/pg-channel.js';
import { type ClaimedRun, FencedError } from './claimed-run.js';
import { RunClaims } from './run-claims.js';

interface HeldRun {
  run: ClaimedRun;
  controller: AbortController;
  /** When the database last confirmed the lease, by this process's own clock. */
  confirmedAt: number;
  done: Promise<void>;
  finish: () => void;
}

/**
 * The runs of this process and their leases. One heartbeat renews them all; when the database has not confirmed for two
 * thirds of the lease, the process fences itself off, before anyone else may claim.
 */
@Injectable()
export class HeldRuns implements OnModuleInit {
  private readonly logger = new Logger(HeldRuns.name);
  private readonly runs = new Map<string, HeldRun>();
  private readonly leaseMs: number;
  private timer: NodeJS.Timeout | null = null;
  private beating = false;

  constructor(
    private readonly claims: RunClaims,
    private readonly channel: PgChannel,
    env: Env,
  ) {
    this.leaseMs = env.variables.LEASE_SECONDS * 1000;
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

  add(run: ClaimedRun): AbortController {
    const controller = new AbortController();
    let finish = (): void => undefined;
    const done = new Promise<void>((resolve) => (finish = resolve));
    this.runs.set(keyOf(run), { run, controller, confirmedAt: performance.now(), done, finish });
    return controller;
  }

  remove(run: ClaimedRun): void {
    this.runs.get(keyOf(run))?.finish();
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
    earlier.forEach(abort);
    await Promise.all(earlier.map(({ done }) => done));
  }

  /** Someone else has the run now: cancelled, deleted, or taken over. */
  lost(runId: string): void {
    for (const held of this.runs.values()) if (held.run.runId === runId) abort(held);
  }

  /** Aborts everything with this reason and resolves when all of it has ended. */
  async stopAll(reason: Error): Promise<void> {
    for (const { controller } of this.runs.values()) controller.abort(reason);
    await Promise.all([...this.runs.values()].map(({ done }) => done));
    if (this.timer !== null) clearInterval(this.timer);
  }

  private async beat(): Promise<void> {
    if (this.runs.size === 0) return;
    this.fenceOffWhenSilent();
    if (this.beating) return;
    this.beating = true;
    const asked = performance.now();
    try {
      const before = [...this.runs.values()];
      const kept = await this.claims.renew(before.map(({ run }) => run));
      for (const held of before) {
        const found = kept.get(held.run.runId);
        if (found?.epoch !== held.run.epoch) abort(held);
        else if (found.renewed) held.confirmedAt = asked;
      }
    } catch (error) {
      this.logger.warn(`Leases were not renewed: ${String(error)}`);
    } finally {
      this.beating = false;
    }
  }

  private fenceOffWhenSilent(): void {
    const limit = performance.now() - (this.leaseMs * 2) / 3;
    for (const held of this.runs.values()) {
      if (held.confirmedAt > limit) continue;
      this.logger.warn(`The lease of run ${held.run.runId} was not confirmed in time: it is stopped here.`);
      abort(held);
    }
  }
}

/** With its epoch: a process may take over a run that it lost itself, before it has let go of it. */
function keyOf({ runId, epoch }: ClaimedRun): string {
  return `${runId}@${epoch}`;
}

function abort({ run, controller }: HeldRun): void {
  controller.abort(new FencedError(run));
}
