import type { Plan, PlanRates, Rate } from '../../platform/config/rate-limits.js';
import type { RateLimitPolicy } from '../../platform/http/endpoint.js';
import { type Bucket, bucketOf } from './gcra.js';

/** The buckets that each key of a workspace with this plan has. */
export interface PlanBuckets {
  global: Bucket;
  policies: Record<RateLimitPolicy, Bucket>;
}

export function planBuckets({ global, policies }: PlanRates): PlanBuckets {
  return {
    global: bucketOf('global', global),
    policies: mapped(policies, (rate, name) => bucketOf(name, rate)),
  };
}

/** `GET /developer-api/rate-limits` (reference §9). */
export function rateLimitsView({ free, paid }: Record<Plan, PlanBuckets>) {
  return { free: planView(free), paid: planView(paid) };
}

function planView({ global, policies }: PlanBuckets): PlanRates {
  return { global: rateView(global), policies: mapped(policies, rateView) };
}

function rateView({ capacity, windowSeconds }: Bucket): Rate {
  return { capacity, windowSeconds };
}

function mapped<A, B>(record: Record<RateLimitPolicy, A>, change: (value: A, name: string) => B) {
  const entries = Object.entries<A>(record).map(([name, value]) => [name, change(value, name)]);
  return Object.fromEntries(entries) as Record<RateLimitPolicy, B>;
}
