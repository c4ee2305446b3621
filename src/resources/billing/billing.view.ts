import { z } from 'zod';
import { SUBSCRIPTION_STATUSES } from '../../access/workspaces/workspace.entity.js';
import { usageWindowSchema } from '../../platform/config/plans.js';
import { PLANS } from '../../platform/config/rate-limits.js';
import { named, timestampSchema, timestampView } from '../../platform/http/schema.js';
import type { StorageUsed } from '../files/storage-quota.sql.js';
import { usd } from '../../platform/money/usd.js';
import type { BillingSummary } from './billing-provider.js';
import type { UsageRow } from './usage-report.sql.js';

const count = z.int().min(0);
const currency = z.literal('USD');

export const summarySchema = named(
  'BillingSummary',
  z.strictObject({
    plan: z.strictObject({ id: z.enum(PLANS), name: z.string() }),
    subscription: z.strictObject({ status: z.enum(SUBSCRIPTION_STATUSES), cancelAtPeriodEnd: z.boolean() }),
    renewal: z.strictObject({ renewsAt: timestampSchema.nullable(), endsAt: timestampSchema.nullable() }),
    usage: z
      .array(
        z.strictObject({
          window: usageWindowSchema.shape.window,
          remainingPercent: z.int().min(0).max(100).describe('Rounded down; the smallest share of several units.'),
          resetsAt: timestampSchema,
        }),
      )
      .describe('One entry for each window that has an allowance.'),
    topUp: z.strictObject({
      balance: z.string().describe('A decimal number: two places, or up to six where there are smaller amounts.'),
      currency,
    }),
    storage: z.strictObject({
      usedBytes: count.describe('Uploads, files and workdirs together.'),
      limitBytes: count.nullable().describe('Null for no limit.'),
    }),
    offers: z
      .strictObject({
        plans: z.array(z.enum(PLANS)),
        topUps: z.array(z.string()).describe('US dollars with two decimals.'),
      })
      .optional()
      .describe('What may be bought by `POST /v1/billing/checkout`. Absent without a payment provider.'),
  }),
);

/** A summary as clients see it (reference §14): the fields of the contract, whatever else a provider gave. */
export function summaryView(
  { plan, subscription, renewal, usage, topUp, offers }: BillingSummary,
  { usedBytes, limitBytes }: StorageUsed,
): z.output<typeof summarySchema> {
  return {
    plan: { id: plan.id, name: plan.name },
    subscription: { status: subscription.status, cancelAtPeriodEnd: subscription.cancelAtPeriodEnd },
    renewal: {
      renewsAt: renewal.renewsAt?.toISOString() ?? null,
      endsAt: renewal.endsAt?.toISOString() ?? null,
    },
    usage: usage.map(({ window, remainingPercent, resetsAt }) => ({
      window,
      remainingPercent,
      resetsAt: timestampView(resetsAt),
    })),
    topUp: { balance: topUp.balance, currency: topUp.currency },
    storage: { usedBytes, limitBytes },
    ...(offers && { offers: { plans: [...offers.plans], topUps: [...offers.topUps] } }),
  };
}

export const paymentPageSchema = named(
  'PaymentPage',
  z.strictObject({ url: z.url().describe('A page of the payment provider, for a browser. It is good for one use.') }),
);

export const usageRowSchema = named(
  'UsageRow',
  z.strictObject({
    key: z
      .string()
      .nullable()
      .describe('A day, the id of a model, project, automation or user; null for what has none, or is not shown.'),
    name: z
      .string()
      .nullable()
      .describe('What people call it now; null when it does not exist any more, or is not shown.'),
    tasks: count.describe('Turns in which a model was called.'),
    steps: count.describe('Calls of models.'),
    inputTokens: count,
    outputTokens: count,
    cachedInputTokens: count,
    reasoningTokens: count,
    cost: z
      .strictObject({ amount: z.string().describe('A decimal number.'), currency })
      .nullable()
      .describe('Null when no step was of a model with prices.'),
  }),
  { description: 'What was consumed, for one key.' },
);

/** What was used for one key, as clients see it (reference §14). */
export function usageRowView({ costMicros, ...row }: UsageRow): z.output<typeof usageRowSchema> {
  const { key, name, tasks, steps, inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = row;
  const figures = { tasks, steps, inputTokens, outputTokens, cachedInputTokens, reasoningTokens };
  return { key, name, ...figures, cost: costMicros === null ? null : { amount: usd(costMicros), currency: 'USD' } };
}
