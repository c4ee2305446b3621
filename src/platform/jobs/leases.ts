import { Logger } from '@nestjs/common';

/** What a process has claimed: every write about it carries the epoch, and a write that touches no row stops it. */
export interface Claim {
  readonly id: string;
  readonly epoch: number;
}

/** Another process has the claim now, or may have it: abort, write nothing more. */
export class LeaseLostError extends Error {
  override readonly name: string = 'LeaseLostError';
}

/** What one kind of work does about its leases. */
export interface LeaseRules<C extends Claim> {
  /** What a claim is of, for the log: `run`, `job`. */
  readonly kind: string;
  /** Milliseconds. */
  readonly leaseMs: number;
  /**
   * Renews the leases in one statement. Resolves with the claims that are still held, by id; `renewed: false` is one whose row is
   * locked at this moment.
   */
  renew(claims: C[]): Promise<Map<string, { epoch: number; renewed: boolean }>>;
  /** What the work on a lost claim is aborted with. */
  lost(claim: C): LeaseLostError;
  /** A renewal was answered. */
  answered?(): void;
  /** A lease was confirmed by what was asked at this time of `performance.now()`. */
  confirmed?(askedAt: number): void;
}

/** A claim and its lease, in the process that has it. */
export interface Lease<C extends Claim> {
  readonly claim: C;
  readonly controller: AbortController;
  /** When the confirmation that came last had been asked for, by this process's own clock: the lease began no earlier. */
  confirmedAt: number;
  fence?: NodeJS.Timeout;
  /** Resolves when the work has ended. */
  readonly done: Promise<void>;
  readonly finish: () => void;
}

/** Milliseconds until what was locked is renewed again. */
const RETRY_MS = 50;

/**
 * The claims of one kind that this process holds, and their leases (reference §5). One heartbeat renews them all; what the
 * database has not confirmed for two thirds of a lease is stopped at that moment, before another process may claim it.
 */
export class Leases<C extends Claim> {
  private readonly logger = new Logger('Leases');
  private readonly claims = new Map<string, Lease<C>>();
  /** How long work goes on without a confirmation. */
  private readonly patienceMs: number;
  private timer: NodeJS.Timeout | null = null;
  private beating = false;
  private missedBeat = false;

  constructor(private readonly rules: LeaseRules<C>) {
    this.patienceMs = (rules.leaseMs * 2) / 3;
  }

  get size(): number {
    return this.claims.size;
  }

  get held(): readonly Lease<C>[] {
    return [...this.claims.values()];
  }

  /** Begins the heartbeat. */
  start(): void {
    this.timer = setInterval(() => void this.beat(), this.rules.leaseMs / 4);
  }

  /** Ends the heartbeat. */
  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  /** @param askedAt when the claim was sent, by `performance.now()`: it may have waited before it set the lease. */
  add(claim: C, askedAt: number): Lease<C> {
    let finish = (): void => undefined;
    const done = new Promise<void>((resolve) => (finish = resolve));
    const held: Lease<C> = { claim, controller: new AbortController(), confirmedAt: askedAt, done, finish };
    this.claims.set(keyOf(claim), held);
    this.confirm(held, askedAt);
    return held;
  }

  /** The work has ended. */
  remove(claim: Claim): void {
    const held = this.claims.get(keyOf(claim));
    clearTimeout(held?.fence);
    held?.finish();
    this.claims.delete(keyOf(claim));
  }

  /** Stops the work on a claim; without a reason because it is lost. A second reason does not replace the first. */
  abort({ claim, controller, fence }: Lease<C>, reason: Error = this.rules.lost(claim)): void {
    clearTimeout(fence);
    controller.abort(reason);
  }

  /** Renews all leases now. One renewal at a time; never rejects. */
  async beat(): Promise<void> {
    if (this.claims.size === 0) return;
    if (this.beating) {
      this.missedBeat = true;
      return;
    }
    this.beating = true;
    const until = performance.now() + this.rules.leaseMs / 12;
    try {
      let locked = await this.renew([...this.claims.values()]);
      this.rules.answered?.();
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
   * Resolves with what is locked now. The recorder locks a run as well, until its write is committed: beside a busy run, up to
   * 40 % of the renewals met such a lock.
   */
  private async renew(claims: Lease<C>[]): Promise<Lease<C>[]> {
    const asked = performance.now();
    // A process that was frozen may come here before its timers: what it has to give up it must not renew.
    for (const held of claims) if (asked - held.confirmedAt >= this.patienceMs) this.fenceOff(held);
    // Nor what has ended while it was locked: it may have been let go.
    const due = claims.filter((held) => this.isHeld(held) && !isLost(held));
    const kept = await this.rules.renew(due.map(({ claim }) => claim));
    return due.filter((held) => {
      const found = kept.get(held.claim.id);
      if (found?.epoch !== held.claim.epoch) this.abort(held);
      else if (found.renewed) this.confirm(held, asked);
      return found?.renewed === false;
    });
  }

  private confirm(held: Lease<C>, askedAt: number): void {
    held.confirmedAt = askedAt;
    this.rules.confirmed?.(askedAt);
    clearTimeout(held.fence);
    // It may have ended, or been stopped, while the answer was on its way.
    if (!this.isHeld(held) || held.controller.signal.aborted) return;
    const left = askedAt + this.patienceMs - performance.now();
    held.fence = setTimeout(() => this.fenceOff(held), left).unref();
  }

  private isHeld(held: Lease<C>): boolean {
    return this.claims.get(keyOf(held.claim)) === held;
  }

  private fenceOff(held: Lease<C>): void {
    if (held.controller.signal.aborted) return;
    const { kind } = this.rules;
    this.logger.warn(`The lease of ${kind} ${held.claim.id} was not confirmed in time: it is stopped here.`);
    this.abort(held);
  }
}

/** With its epoch: a process may take over what it lost itself, before it has let go of it. */
function keyOf({ id, epoch }: Claim): string {
  return `${id}@${epoch}`;
}

function isLost<C extends Claim>({ controller }: Lease<C>): boolean {
  return controller.signal.reason instanceof LeaseLostError;
}
