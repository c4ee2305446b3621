import { z } from 'zod';
import type { RateLimitPolicy } from '../http/endpoint.js';

export const PLANS = ['free', 'paid'] as const;
export type Plan = (typeof PLANS)[number];

/** So many requests within so many seconds. */
export interface Rate {
  capacity: number;
  windowSeconds: number;
}

/** One bucket for all requests of a key, and one for each kind of operation. */
export interface PlanRates {
  global: Rate;
  policies: Record<RateLimitPolicy, Rate>;
}

export type RateLimits = Record<Plan, PlanRates>;

const POLICIES = ['metadata_read', 'resource_read', 'resource_write', 'task_execution', 'file_upload'] as const;

const perMinute = (capacity: number): Rate => ({ capacity, windowSeconds: 60 });
const DEFAULTS: RateLimits = {
  free: {
    global: perMinute(120),
    policies: {
      metadata_read: perMinute(60),
      resource_read: perMinute(120),
      resource_write: perMinute(30),
      task_execution: perMinute(10),
      file_upload: perMinute(20),
    },
  },
  paid: {
    global: perMinute(1200),
    policies: {
      metadata_read: perMinute(300),
      resource_read: perMinute(1200),
      resource_write: perMinute(300),
      task_execution: perMinute(120),
      file_upload: perMinute(120),
    },
  },
};

// Within these the arithmetic in whole microseconds is exact.
const rate = z.strictObject({
  capacity: z.int().min(1).max(1_000_000).optional(),
  windowSeconds: z.int().min(1).max(86_400).optional(),
});
const policies = z.strictObject({
  metadata_read: rate.optional(),
  resource_read: rate.optional(),
  resource_write: rate.optional(),
  task_execution: rate.optional(),
  file_upload: rate.optional(),
});
const plan = z.strictObject({ global: rate.optional(), policies: policies.optional() });

/** `rateLimits` of CONFIG_FILE (reference §16). */
export const rateLimitsSchema = z
  .strictObject({ free: plan.optional(), paid: plan.optional() })
  .superRefine((given, context) => {
    for (const path of smallerWhenPaid(mergedRates(given))) {
      context.addIssue({
        code: 'custom',
        path: ['paid', ...path],
        message: 'at least what a free workspace has is expected',
      });
    }
  });

type GivenRates = { [P in Plan]?: z.output<typeof plan> | undefined };

/** The given rates over the defaults, key by key. */
export function mergedRates(given: GivenRates = {}): RateLimits {
  return { free: mergedPlan(DEFAULTS.free, given.free), paid: mergedPlan(DEFAULTS.paid, given.paid) };
}

function mergedPlan(defaults: PlanRates, given: z.output<typeof plan> = {}): PlanRates {
  const policies = { ...defaults.policies };
  for (const name of POLICIES) policies[name] = mergedRate(defaults.policies[name], given.policies?.[name]);
  return { global: mergedRate(defaults.global, given.global), policies };
}

function mergedRate(defaults: Rate, given: z.output<typeof rate> = {}): Rate {
  return {
    capacity: given.capacity ?? defaults.capacity,
    windowSeconds: given.windowSeconds ?? defaults.windowSeconds,
  };
}

/** Paths of the buckets in which a paid workspace could send fewer requests than a free one, at once or in the long run. */
function smallerWhenPaid({ free, paid }: RateLimits): string[][] {
  const smaller = (a: Rate, b: Rate) =>
    a.capacity < b.capacity || a.capacity * b.windowSeconds < b.capacity * a.windowSeconds;
  const paths = POLICIES.filter((name) => smaller(paid.policies[name], free.policies[name]));
  return [...(smaller(paid.global, free.global) ? [['global']] : []), ...paths.map((name) => ['policies', name])];
}
