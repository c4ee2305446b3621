import type { Writable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';

/** The part of the lease that is kept for the end of a sandbox itself. */
const ENDING = 1 / 30;

/**
 * One timer for all sandboxes of the process: each small parent that does not hear it ends its sandbox. It falls silent when
 * the leases have not been confirmed for almost a third of their length. Else a worker that is frozen later, with no
 * database, would keep its sandboxes for two thirds from then on, when others may have its runs.
 */
@Injectable()
export class Heartbeat {
  private readonly leaseMs: number;
  private readonly listeners = new Set<Writable>();
  private timer: NodeJS.Timeout | undefined;
  /** Without a lease, as in the trial at boot, there is nothing to confirm. */
  private confirmedAt: number | null = null;

  constructor(env: Env) {
    this.leaseMs = env.variables.LEASE_SECONDS * 1000;
  }

  /** Silence after which a sandbox is ended, in seconds: two thirds of the lease, when the worker counts as gone. */
  get silenceSeconds(): number {
    return (this.leaseMs * 2) / 3 / 1000;
  }

  /** The same for one that starts now, until it hears the first heartbeat: no more than is left of the lease. */
  get firstSilenceSeconds(): number {
    return Math.min(this.silenceSeconds, Math.max(1, this.leaseMs * (1 - ENDING) - this.unconfirmedMs) / 1000);
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
    this.confirmedAt = Math.max(this.confirmedAt ?? 0, askedAt);
  }

  beat(): void {
    if (this.unconfirmedMs > this.leaseMs * (1 / 3 - ENDING)) return;
    for (const listener of this.listeners) {
      // A parent that does not read has ended; nothing is queued up for it.
      if (listener.writable && listener.writableLength === 0) listener.write('.');
    }
  }

  private get unconfirmedMs(): number {
    return this.confirmedAt === null ? 0 : performance.now() - this.confirmedAt;
  }
}
