import { type Bucket, type Decision, decide } from './gcra.js';

const MAX_BUCKETS = 100_000;

/** Microseconds that only go forward: setting the clock of the machine refills nothing. */
const uptime = () => Math.round(performance.now() * 1000);

/**
 * The buckets of one process: all there is without Redis, and what counts on while Redis is away. At most `max` of them:
 * they stand in the order of their last use, those that are full again are forgotten, and in need the one unused for longest.
 */
export class MemoryBuckets {
  private readonly fullAt = new Map<string, number>();

  constructor(
    private readonly max = MAX_BUCKETS,
    private readonly clock: () => number = uptime,
  ) {}

  get size(): number {
    return this.fullAt.size;
  }

  /** What {@link take} would decide; nothing is taken. */
  look(owner: string, buckets: readonly Bucket[]): Decision {
    const fullAt = buckets.map(({ key }) => this.fullAt.get(`${owner} ${key}`) ?? 0);
    return decide(buckets, fullAt, this.clock());
  }

  /** Decides and takes in one step: nothing else runs meanwhile. */
  take(owner: string, buckets: readonly Bucket[]): Decision {
    const now = this.clock();
    const before = buckets.map(({ key }) => this.fullAt.get(`${owner} ${key}`) ?? 0);
    const decision = decide(buckets, before, now);
    // Also when it was refused: that takes nothing, and keeps the bucket among those in use.
    this.store(owner, buckets, decision, now);
    return decision;
  }

  /**
   * Takes over what Redis decided, so that the limits go on from there when it is lost. What was taken here while it was
   * away stays: a Redis that comes and goes must not give more each time.
   */
  adopt(owner: string, buckets: readonly Bucket[], { allowed, backlogs }: Decision): void {
    const now = this.clock();
    const own = buckets.map(({ key }) => (this.fullAt.get(`${owner} ${key}`) ?? 0) - now);
    const larger = backlogs.map((backlog, i) => Math.max(backlog, own[i] ?? 0));
    this.store(owner, buckets, { allowed, backlogs: larger }, now);
  }

  private store(owner: string, buckets: readonly Bucket[], { backlogs }: Decision, now: number): void {
    for (const [i, bucket] of buckets.entries()) {
      const key = `${owner} ${bucket.key}`;
      this.fullAt.delete(key);
      this.fullAt.set(key, now + (backlogs[i] ?? 0));
    }
    this.forget(now, buckets.length + 1);
  }

  /** Looks at one more than was added, so the map shrinks to what is in use, without ever being walked through. */
  private forget(now: number, count: number): void {
    for (const [key, fullAt] of this.fullAt) {
      if (this.fullAt.size <= this.max && (count-- <= 0 || fullAt > now)) return;
      this.fullAt.delete(key);
    }
  }
}
