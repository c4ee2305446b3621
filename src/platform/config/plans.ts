import { z } from 'zod';
import { hasMicros } from '../money/usd.js';
import type { Plan } from './rate-limits.js';

/** USD; in micro-dollars, and many times added up, still exact as a number. */
const MOST_COST = 1e9;

/** One allowance of a plan or of a workspace. */
export const usageWindowSchema = z
  .strictObject({
    window: z.enum(['day', 'week', 'month']),
    /** Turns that were started, tokens, or USD. */
    unit: z.enum(['tasks', 'tokens', 'cost']),
    allowance: z.number().positive().max(1e15),
  })
  .refine(({ unit, allowance }) => unit === 'cost' || Number.isInteger(allowance), {
    path: ['allowance'],
    message: 'a whole number is expected, unless the unit is cost',
  })
  .refine(({ unit, allowance }) => unit !== 'cost' || (allowance <= MOST_COST && hasMicros(allowance)), {
    path: ['allowance'],
    message: `at most ${MOST_COST} USD with at most 6 decimals are expected`,
  });
export type UsageWindow = z.output<typeof usageWindowSchema>;

const plan = z.strictObject({
  name: z.string().trim().min(1).max(200).optional(),
  activeAutomations: z.int().min(0).max(1_000_000).optional(),
  runningTasks: z.int().min(1).max(1_000_000).optional(),
  storageBytes: z.int().min(0).nullable().optional(),
  windows: z
    .array(usageWindowSchema)
    .max(9)
    .refine(
      (all) => new Set(all.map(({ window, unit }) => `${window} ${unit}`)).size === all.length,
      'each window is expected once for each unit',
    )
    .optional(),
});

/** `plans` of CONFIG_FILE (reference §16). */
export const plansSchema = z.strictObject({ free: plan.optional(), paid: plan.optional() });

/** What a workspace of a plan may have (reference §14). */
export interface PlanConfig {
  name: string;
  activeAutomations: number;
  /** Runs at once, in all workers together. */
  runningTasks: number;
  /** Bytes of uploads, files and workdirs together; null for no limit. */
  storageBytes: number | null;
  windows: UsageWindow[];
}

const DEFAULTS: Record<Plan, PlanConfig> = {
  free: {
    name: 'Free',
    activeAutomations: 3,
    runningTasks: 2,
    storageBytes: 1024 ** 3,
    windows: [{ window: 'month', unit: 'tasks', allowance: 100 }],
  },
  paid: { name: 'Paid', activeAutomations: 100, runningTasks: 12, storageBytes: null, windows: [] },
};

/** The given plans over the defaults, key by key; a given list of windows is the whole list. */
export function mergedPlans(given: z.output<typeof plansSchema> = {}): Record<Plan, PlanConfig> {
  return { free: Object.assign({}, DEFAULTS.free, given.free), paid: Object.assign({}, DEFAULTS.paid, given.paid) };
}
