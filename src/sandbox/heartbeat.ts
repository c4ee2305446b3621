import type { Writable } from 'node:stream';

/** One timer for all sandboxes of the process: each small parent that does not hear it ends its sandbox. */
export class Heartbeat {
  private readonly listeners = new Set<Writable>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly leaseSeconds: number) {}

  /** Silence after which a sandbox is ended, in seconds: two thirds of the lease, when the worker counts as gone. */
  get silenceSeconds(): number {
    return (this.leaseSeconds * 2) / 3;
  }

  add(listener: Writable): void {
    this.listeners.add(listener);
    this.timer ??= setInterval(() => this.beat(), (this.leaseSeconds * 1000) / 4).unref();
  }

  remove(listener: Writable): void {
    this.listeners.delete(listener);
    if (this.listeners.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private beat(): void {
    for (const listener of this.listeners) {
      // A parent that does not read has ended; nothing is queued up for it.
      if (listener.writable && listener.writableLength === 0) listener.write('.');
    }
  }
}
