import { type Bucket, type BucketState, type Decision, stateOf } from './gcra.js';

/** What became of a request. */
export interface Charge extends Decision {
  /** The operation's bucket and the global one; or the one of an address. */
  buckets: readonly Bucket[];
  /** Microseconds since 1970, by the clock that decided. */
  now: number;
}

type Item = Bucket & BucketState & { backlog: number };

/**
 * The headers of reference §9 that say what is left. `RateLimit` and `RateLimit-Policy` are those of
 * draft-ietf-httpapi-ratelimit-headers: lists of quoted names with parameters.
 */
export function rateLimitHeaders(charge: Charge): Record<string, string> {
  const items = itemsOf(charge);
  const [policy, global] = items;
  const tight = tightest(items);
  // The draft's lists have no order; ours begins with what is the same on every route.
  const quotas = items.map(({ name, capacity, windowSeconds }) => `"${name}";q=${capacity};w=${windowSeconds}`);
  return {
    ...(policy && global ? keyHeaders(policy, global, charge.now) : {}),
    'RateLimit-Policy': quotas.reverse().join(', '),
    RateLimit: `"${tight.name}";r=${tight.remaining};t=${seconds(tight.wait)}`,
    ...(charge.allowed ? {} : { 'Retry-After': String(retryAfter(items)) }),
  };
}

/** The bucket that a refusal is about, and the whole seconds, at least 1, until all accept a request again. */
export function refusedBy(charge: Charge): { bucket: Bucket; seconds: number } {
  const items = itemsOf(charge);
  return { bucket: tightest(items), seconds: retryAfter(items) };
}

function itemsOf({ buckets, backlogs }: Charge): Item[] {
  return buckets.map((bucket, i) => {
    const backlog = backlogs[i] ?? 0;
    return { ...bucket, ...stateOf(bucket, backlog), backlog };
  });
}

/** The bucket with the smaller share left; on equal shares the longer wait, then the first, which is the operation's. */
function tightest(items: readonly Item[]): Item {
  return items.reduce((a, b) => (isTighter(b, a) ? b : a));
}

function retryAfter(items: readonly BucketState[]): number {
  return Math.max(1, ...items.map(({ remaining, wait }) => (remaining === 0 ? seconds(wait) : 0)));
}

function keyHeaders(policy: Item, global: Item, now: number): Record<string, string> {
  return {
    'X-RateLimit-Policy': policy.name,
    'X-RateLimit-Limit': String(policy.capacity),
    'X-RateLimit-Remaining': String(policy.remaining),
    'X-RateLimit-Reset': String(seconds(now + policy.backlog)),
    'X-RateLimit-Global-Limit': String(global.capacity),
    'X-RateLimit-Global-Remaining': String(global.remaining),
    'X-RateLimit-Global-Reset': String(seconds(now + global.backlog)),
  };
}

function isTighter(a: Item, b: Item): boolean {
  const difference = a.remaining * b.capacity - b.remaining * a.capacity;
  return difference < 0 || (difference === 0 && a.wait > b.wait);
}

function seconds(micros: number): number {
  return Math.ceil(micros / 1_000_000);
}
