import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { Heartbeat } from '../../engine/sandbox/heartbeat.js';
import { type Claim, Leases } from '../../platform/jobs/leases.js';
import { Notices } from '../../platform/notices/notices.js';
import { type ClaimedRun, FencedError, HandedBackError, type RunSignals } from './claimed-run.js';
import { RunClaims } from './run-claims.js';

interface HeldRun extends Claim {
  readonly run: ClaimedRun;
  readonly stopping: AbortController;
}

/** Milliseconds that the calls of a step have left when this process is told to stop, or a task is paused: half of the 10 s for its whole end. */
const GRACE_MS = 5_000;

/** The runs of this process and their leases, and what ends the work on them. */
@Injectable()
export class RunLeases implements OnModuleInit {
  private readonly runs: Leases<HeldRun>;

  constructor(
    claims: RunClaims,
    private readonly notices: Notices,
    heartbeat: Heartbeat,
    env: Env,
  ) {
    this.runs = new Leases<HeldRun>({
      kind: 'run',
      leaseMs: env.variables.LEASE_SECONDS * 1000,
      renew: async (held) => {
        const found = await claims.renew(held.map(({ run }) => run));
        // For whom the notice did not reach.
        for (const { id } of held) if (found.get(id)?.paused === true) this.pause(id);
        return found;
      },
      lost: ({ run }) => new FencedError(run),
      answered: () => heartbeat.beat(),
      confirmed: (askedAt) => heartbeat.confirmed(askedAt),
    });
  }

  get size(): number {
    return this.runs.size;
  }

  onModuleInit(): void {
    // A stop that was missed is told by the leases.
    this.notices.on(
      'stop',
      (runIds) => runIds.forEach((id) => this.lost(id)),
      () => void this.runs.beat(),
    );
    this.notices.on('pause', (runIds) => runIds.forEach((id) => this.pause(id)));
    this.runs.start();
  }

  /** @param askedAt when its claim was sent, by `performance.now()`: the claim may have waited before it set the lease. */
  add(run: ClaimedRun, askedAt: number): RunSignals {
    const stopping = new AbortController();
    const { controller } = this.runs.add({ id: run.runId, epoch: run.epoch, run, stopping }, askedAt);
    return { signal: controller.signal, stopping: stopping.signal };
  }

  remove({ runId, epoch }: ClaimedRun): void {
    this.runs.remove({ id: runId, epoch });
  }

  /**
   * Ends what this process still does for the task of a run that it has just claimed, and resolves when that is over: two
   * agents in one workdir would see each other's half-done work. What is left of an earlier run is fenced off already.
   */
  async clear({ taskId, runId, epoch }: ClaimedRun): Promise<void> {
    const earlier = this.runs.held.filter(
      ({ claim: { run } }) => run.taskId === taskId && !(run.runId === runId && run.epoch === epoch),
    );
    earlier.forEach((held) => this.runs.abort(held));
    await Promise.all(earlier.map(({ done }) => done));
  }

  /** Someone else has the run now: cancelled, deleted, or taken over. */
  lost(runId: string): void {
    for (const held of this.runs.held) if (held.claim.id === runId) this.runs.abort(held);
  }

  /** The task of the run is paused: it stops as when this process stops {@link stopAll} `soon`, and others go on. */
  private pause(runId: string): void {
    const reason = new HandedBackError('The task is paused.');
    for (const held of this.runs.held) {
      if (held.claim.id !== runId || held.claim.stopping.signal.aborted) continue;
      held.claim.stopping.abort(reason);
      const grace = setTimeout(() => this.runs.abort(held, reason), GRACE_MS);
      void held.done.then(() => clearTimeout(grace));
    }
  }

  /**
   * Stops everything with this reason and resolves when all of it has ended: `soon` lets the calls of a step that is under way
   * end within {@link GRACE_MS}, `after the step` whenever they do; their leases are renewed meanwhile. `now` aborts them.
   */
  async stopAll(reason: Error, when: 'after the step' | 'soon' | 'now'): Promise<void> {
    for (const { claim } of this.runs.held) claim.stopping.abort(reason);
    const abortAll = () => this.runs.held.forEach((held) => this.runs.abort(held, reason));
    const grace = when === 'soon' ? setTimeout(abortAll, GRACE_MS) : undefined;
    if (when === 'now') abortAll();
    await Promise.all(this.runs.held.map(({ done }) => done));
    clearTimeout(grace);
    this.runs.stop();
  }
}
