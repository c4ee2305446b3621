import type { Writable } from 'node:stream';

/** The part of the lease that is kept for the end of a sandbox itself. */
const ENDING = 1 / 30;
/** The small parent takes 0 for "do not wait at all, and go on". */
const LEAST_MS = 1;

/**
 * One timer for all sandboxes of the process that live by leases of one kind: runs, builds, trials. Each small parent that does not hear it
 * ends its sandbox. It falls silent when the leases have not been confirmed for almost a third of their length. Else a worker that is frozen
 * later, with no database, would keep its sandboxes for two thirds from then on, when others may have its work. Nothing is heard before the
 * first confirmation.
 */
export class Heartbeat {
  private readonly leaseMs: number;
  private readonly listeners = new Set<Writable>();
  private timer: NodeJS.Timeout | undefined;
  private confirmedAt = -Infinity;

  constructor(leaseSeconds: number) {
    this.leaseMs = leaseSeconds * 1000;
  }

  /** For sandboxes that live by no lease, as the trial at boot: there is nothing to confirm. */
  static withoutLease(leaseSeconds: number): Heartbeat {
    const heartbeat = new Heartbeat(leaseSeconds);
    heartbeat.confirmedAt = Infinity;
    return heartbeat;
  }

  /** Silence after which a sandbox is ended, in seconds: two thirds of the lease, when the worker counts as gone. */
  get silenceSeconds(): number {
    return (this.leaseMs * 2) / 3 / 1000;
  }

  /** The same for one that starts now, until it hears the first heartbeat: no more than is left of the lease. With nothing left it ends at once. */
  get firstSilenceSeconds(): number {
    const leftMs = this.leaseMs * (1 - ENDING) - this.unconfirmedMs;
    return Math.min(this.silenceSeconds, Math.max(LEAST_MS, leftMs) / 1000);
  }

  add(listener: Writable): void {
    this.listeners.add(listener);
    this.timer ??= setInterval(() => this.beat(), this.leaseMs / 4).unref();
  }

  remove(listener: Writable): void {
    this.listeners.delete(listener);
    if (this.listeners.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** The database has confirmed leases when it was asked at that moment, by `performance.now()`. */
  confirmed(askedAt: number): void {
    this.confirmedAt = Math.max(this.confirmedAt, askedAt);
  }

  beat(): void {
    if (this.unconfirmedMs > this.leaseMs * (1 / 3 - ENDING)) return;
    for (const listener of this.listeners) {
      // A parent that does not read has ended; nothing is queued up for it.
      if (listener.writable && listener.writableLength === 0) listener.write('.');
    }
  }

  private get unconfirmedMs(): number {
    return performance.now() - this.confirmedAt;
  }
}
