import { z } from 'zod';
import type { Budget } from '../../engine/agent/agent-engine.js';
import { named } from '../../platform/http/schema.js';

const count = z.int().min(0);
export const budgetSchema = named(
  'TaskBudget',
  z.strictObject({
    maxSteps: count.nullable().describe('Calls of the model.'),
    maxTokens: count.nullable().describe('Tokens that go in and come out, together.'),
    maxDurationSeconds: count.nullable().describe('Running time; waiting for people does not count.'),
    maxCost: z.string().nullable().describe('USD, a decimal number.'),
  }),
  { description: 'What one turn may use.' },
);

export function budgetView(budget: Budget): z.output<typeof budgetSchema> {
  const { maxSteps = null, maxTokens = null, maxDurationSeconds = null, maxCost = null } = budget;
  return { maxSteps, maxTokens, maxDurationSeconds, maxCost };
}
