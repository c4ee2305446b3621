import { z } from 'zod';
import { POLICIES, type RateLimitPolicy } from '../http/endpoint.js';

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

/** Rate-limit policies of extensions with their defaults, by name. */
export type FurtherPolicies = Readonly<Record<string, Readonly<Record<Plan, Rate>>>>;

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
const planOf = (names: readonly string[]) => {
  const policies = z.strictObject(Object.fromEntries(names.map((name) => [name, rate.optional()])));
  return z.strictObject({ global: rate.optional(), policies: policies.optional() });
};
type GivenPlan = z.output<ReturnType<typeof planOf>>;

/** `rateLimits` of CONFIG_FILE (reference §16). */
export function rateLimitsSchema(further: FurtherPolicies) {
  const plan = planOf([...POLICIES, ...Object.keys(further)]);
  return z.strictObject({ free: plan.optional(), paid: plan.optional() }).superRefine((given, context) => {
    for (const path of smallerWhenPaid(mergedRates(given, further))) {
      context.addIssue({
        code: 'custom',
        path: ['paid', ...path],
        message: 'at least what a free workspace has is expected',
      });
    }
  });
}

type GivenRates = { [P in Plan]?: GivenPlan | undefined };

/** The given rates over the defaults, key by key. */
export function mergedRates(given: GivenRates = {}, further: FurtherPolicies = {}): RateLimits {
  return { free: mergedPlan('free', given.free, further), paid: mergedPlan('paid', given.paid, further) };
}

function mergedPlan(plan: Plan, given: GivenPlan = {}, further: FurtherPolicies): PlanRates {
  const defaults = Object.entries(further).map(([name, rates]) => [name, rates[plan]] as const);
  const policies: Record<string, Rate> = { ...DEFAULTS[plan].policies, ...Object.fromEntries(defaults) };
  for (const [name, rate] of Object.entries(policies)) policies[name] = mergedRate(rate, given.policies?.[name]);
  return { global: mergedRate(DEFAULTS[plan].global, given.global), policies };
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
  const policies = Object.entries(paid.policies).filter(([name, rate]) => smaller(rate, free.policies[name] ?? rate));
  return [...(smaller(paid.global, free.global) ? [['global']] : []), ...policies.map(([name]) => ['policies', name])];
}
