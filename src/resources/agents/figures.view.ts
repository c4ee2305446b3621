import { z } from 'zod';
import { named } from '../../platform/http/schema.js';
import { usd } from '../../platform/money/usd.js';
import type { Figures } from './figures.sql.js';

const count = z.int().min(0);
const minutes = z.number().min(0);

export const figuresSchema = named(
  'AgentFigures',
  z.strictObject({
    version: z.int().min(1),
    tasks: count.describe('Those that the caller sees, as they are now.'),
    completed: count,
    cancelled: count,
    failed: z.record(z.string(), count).describe('By the code of the reason.'),
    checks: z.strictObject({ passed: count, failed: count }).describe('Tasks by how their last checks stand.'),
    questions: count.describe('How often a person was asked: questions and approvals.'),
    steps: count.describe('Calls of the model.'),
    inputTokens: count,
    outputTokens: count,
    cachedInputTokens: count,
    reasoningTokens: count,
    cost: z
      .strictObject({ amount: z.string(), currency: z.literal('USD') })
      .nullable()
      .describe('Null when no step was of a model with prices.'),
    minutes: z
      .strictObject({ p50: minutes, p90: minutes })
      .nullable()
      .describe('Of running time, of the tasks that have ended; null without one.'),
  }),
  { description: 'What the tasks of one version of an agent came to.' },
);

const MINUTE_MS = 60_000;
const minutesOf = (ms: number): number => Math.round((ms / MINUTE_MS) * 100) / 100;

/** Figures as clients see them (reference §27.5). */
export function figuresView(row: Figures): z.output<typeof figuresSchema> {
  const { costMicros, p50, p90, checksPassed: passed, checksFailed, ...shown } = row;
  return {
    ...shown,
    checks: { passed, failed: checksFailed },
    cost: costMicros === null ? null : { amount: usd(costMicros), currency: 'USD' },
    minutes: p50 === null || p90 === null ? null : { p50: minutesOf(p50), p90: minutesOf(p90) },
  };
}
