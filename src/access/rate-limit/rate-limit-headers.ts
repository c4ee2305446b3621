import { ApiError } from '../../platform/http/api-error.js';
import { type Bucket, type BucketState, type Decision, stateOf } from './gcra.js';

/** What became of a request. */
export interface Charge extends Decision {
  /** The operation's bucket and the global one; or the one of an address. */
  buckets: readonly Bucket[];
  /** Microseconds since 1970, by the clock that decided. */
  now: number;
}

interface Item extends BucketState {
  bucket: Bucket;
  backlog: number;
}

/**
 * The headers of reference §9 that say what is left. `RateLimit` and `RateLimit-Policy` are those of
 * draft-ietf-httpapi-ratelimit-headers: lists of quoted names with parameters.
 */
export function rateLimitHeaders(charge: Charge): Record<string, string> {
  const items = itemsOf(charge);
  const [first, global] = items;
  const headers = first && global ? keyHeaders(first, global, charge.now) : {};
  const { bucket, remaining, wait } = tightest(items);
  // A list without an order; it begins with what is the same on every route.
  headers['RateLimit-Policy'] = items
    .map((item) => item.bucket.quota)
    .reverse()
    .join(', ');
  headers['RateLimit'] = `"${bucket.name}";r=${remaining};t=${seconds(wait)}`;
  if (!charge.allowed) headers['Retry-After'] = String(retryAfter(items));
  return headers;
}

/** The bucket that a refusal is about, and the whole seconds, at least 1, until all accept a request again. */
export function refusedBy(charge: Charge): { bucket: Bucket; seconds: number } {
  const items = itemsOf(charge);
  return { bucket: tightest(items).bucket, seconds: retryAfter(items) };
}

function itemsOf({ buckets, backlogs }: Charge): Item[] {
  return buckets.map((bucket, i) => {
    const backlog = backlogs[i] ?? 0;
    const { remaining, wait } = stateOf(bucket, backlog);
    return { bucket, backlog, remaining, wait };
  });
}

/** The bucket with the smaller share left; on equal shares the longer wait, then the first, which is the operation's. */
function tightest(items: readonly Item[]): Item {
  return items.reduce((a, b) => (isTighter(b, a) ? b : a));
}

function isTighter(a: Item, b: Item): boolean {
  const difference = a.remaining * b.bucket.capacity - b.remaining * a.bucket.capacity;
  return difference < 0 || (difference === 0 && a.wait > b.wait);
}

function retryAfter(items: readonly BucketState[]): number {
  return Math.max(1, ...items.map(({ remaining, wait }) => (remaining === 0 ? seconds(wait) : 0)));
}

function keyHeaders(policy: Item, global: Item, now: number): Record<string, string> {
  return {
    'X-RateLimit-Policy': policy.bucket.name,
    'X-RateLimit-Limit': String(policy.bucket.capacity),
    'X-RateLimit-Remaining': String(policy.remaining),
    'X-RateLimit-Reset': String(seconds(now + policy.backlog)),
    'X-RateLimit-Global-Limit': String(global.bucket.capacity),
    'X-RateLimit-Global-Remaining': String(global.remaining),
    'X-RateLimit-Global-Reset': String(seconds(now + global.backlog)),
  };
}

function seconds(micros: number): number {
  return Math.ceil(micros / 1_000_000);
}

/** 429, with the headers of what was refused. */
export function rateLimited(what: string, charge: Charge): ApiError {
  const { bucket, seconds } = refusedBy(charge);
  const limit = `"${bucket.name}" takes ${bucket.capacity} in ${bucket.windowSeconds} seconds`;
  const message = `Too many ${what}: ${limit}; try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`;
  return new ApiError('rate_limit_exceeded', message, { headers: rateLimitHeaders(charge) });
}
