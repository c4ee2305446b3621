import { setTimeout as later } from 'node:timers/promises';

/** What taking output costs is multiplied by this: the thread, which also serves others, spends a fifth of its time on it. */
const SHARE = 5;
/** Bytes in a millisecond of what is not measured: reading a chunk, and handing it to the disk. */
const UNSEEN = 1024 ** 2;
/** A timer is no finer. What is not waited for now is waited for with the next chunk. */
const LEAST_MS = 1;

/** The clock, for tests. */
export interface Clock {
  now: () => number;
  sleep: (ms: number) => Promise<void>;
}

const clock: Clock = { now: () => performance.now(), sleep: (ms) => later(ms, undefined, { ref: false }) };

/**
 * How fast output beyond the limit is read. What a chunk costs depends on what is in it, by a factor of hundreds, so the time counts and
 * not the bytes. It is one for all commands of the process, and who was quiet has saved nothing for later.
 */
export class Pace {
  /** When there may be more, by the clock. */
  private next = 0;

  constructor(private readonly clock: Clock) {}

  /** Called when a chunk has been taken, since `began`. A promise when the next one has to wait for it; it never rejects. */
  taken(began: number, bytes: number): Promise<void> | undefined {
    const now = this.clock.now();
    this.next = Math.max(began, this.next) + SHARE * (now - began + bytes / UNSEEN);
    const wait = this.next - now;
    return wait < LEAST_MS ? undefined : this.clock.sleep(wait);
  }
}

export const processPace = new Pace(clock);
