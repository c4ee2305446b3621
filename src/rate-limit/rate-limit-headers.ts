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
export function rateLimitHeaders({ allowed, buckets, backlogs, now }: Charge): Record<string, string> {
  const items = buckets.map((bucket, i): Item => {
    const backlog = backlogs[i] ?? 0;
    return { ...bucket, ...stateOf(bucket, backlog), backlog };
  });
  const [first, global] = items;
  if (first === undefined) return {};
  const tight = global !== undefined && isTighter(global, first) ? global : first;
  const policies = global === undefined ? [first] : [global, first];
  return {
    ...(global === undefined ? {} : keyHeaders(first, global, now)),
    'RateLimit-Policy': policies
      .map(({ name, capacity, windowSeconds }) => `"${name}";q=${capacity};w=${windowSeconds}`)
      .join(', '),
    RateLimit: `"${tight.name}";r=${tight.remaining};t=${seconds(tight.wait)}`,
    ...(allowed ? {} : { 'Retry-After': String(retryAfter(items)) }),
  };
}

/** Whole seconds, at least 1, until all buckets accept a request. */
export function retryAfter(items: readonly BucketState[]): number {
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

/** The smaller share that is left; on equal shares the longer wait. */
function isTighter(a: Item, b: Item): boolean {
  const difference = a.remaining * b.capacity - b.remaining * a.capacity;
  return difference < 0 || (difference === 0 && a.wait > b.wait);
}

function seconds(micros: number): number {
  return Math.ceil(micros / 1_000_000);
}
