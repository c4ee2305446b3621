// Rate limits (reference §9): buckets that refill continuously, by the generic cell rate algorithm. Of a bucket one number
// is kept, the moment at which it will be full again. Whole microseconds throughout: fractions would refuse the last request
// of a full bucket by a rounding error.
import type { Rate } from '../../platform/config/rate-limits.js';

export interface Bucket extends Rate {
  name: string;
  /** Which of an owner's buckets it is. Under another rate, after a change of plan for instance, it is another one. */
  key: string;
  /** The bucket as an item of the header `RateLimit-Policy`. */
  quota: string;
  /** Microseconds in which one request is given back. */
  interval: number;
  /** Microseconds in which all of them are: the capacity in time. */
  burst: number;
}

export interface Decision {
  allowed: boolean;
  /** For each bucket the microseconds until it is full again, this request included when it was allowed. */
  backlogs: number[];
}

/** The interval is rounded up, so that never more than the promised rate gets in. */
export function bucketOf(name: string, { capacity, windowSeconds }: Rate): Bucket {
  const interval = Math.ceil((windowSeconds * 1_000_000) / capacity);
  const key = `${name}:${capacity}/${windowSeconds}`;
  const quota = `"${name}";q=${capacity};w=${windowSeconds}`;
  return { name, key, quota, capacity, windowSeconds, interval, burst: capacity * interval };
}

/**
 * Whether a request may go on: when every bucket accepts it. Only then it is taken from all of them. The script for Redis
 * says the same in Lua, and one table of cases tests both.
 * @param fullAt for each bucket when it will be full, 0 for one that was never used; microseconds of the same clock as `now`.
 */
export function decide(buckets: readonly Bucket[], fullAt: readonly number[], now: number): Decision {
  // More than the whole burst can only come from a clock that was set back.
  const backlogs = buckets.map(({ burst }, i) => Math.min(Math.max((fullAt[i] ?? 0) - now, 0), burst));
  const allowed = buckets.every(({ interval, burst }, i) => (backlogs[i] ?? 0) + interval <= burst);
  if (!allowed) return { allowed, backlogs };
  return { allowed, backlogs: buckets.map(({ interval }, i) => (backlogs[i] ?? 0) + interval) };
}

export interface BucketState {
  /** Whole requests that would be accepted now. */
  remaining: number;
  /** Microseconds until there is one more of them; 0 when the bucket is full. */
  wait: number;
}

/** What is left of a bucket. */
export function stateOf({ interval, burst }: Bucket, backlog: number): BucketState {
  const remaining = Math.floor((burst - backlog) / interval);
  return { remaining, wait: backlog === 0 ? 0 : backlog - (burst - (remaining + 1) * interval) };
}
