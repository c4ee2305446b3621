// What a workspace has by its subscriptions at Stripe. Pure.
import type { Stripe } from 'stripe';
import type { SubscriptionStatus } from '../../../access/workspaces/workspace.entity.js';
import type { Plan } from '../../../platform/config/rate-limits.js';

/** What customers, subscriptions and top-ups of ours say of themselves at Stripe. */
export const WORKSPACE_OF = 'millwright_workspace';
/** What subscriptions of ours say besides. */
export const PLAN_OF = 'millwright_plan';

export interface SubscriptionState {
  status: SubscriptionStatus;
  /** While it is late, as long as the grace lasts. */
  plan: Plan;
  /** Since when a payment is late; null when none is. */
  lateSince: Date | null;
  renewsAt: Date | null;
  endsAt: Date | null;
  cancelAtPeriodEnd: boolean;
}

/** `incomplete` was never paid: there is nothing yet. The best of several counts. */
const STATUS: Record<string, { status: SubscriptionStatus; rank: number } | undefined> = {
  active: { status: 'active', rank: 5 },
  trialing: { status: 'trialing', rank: 5 },
  past_due: { status: 'past_due', rank: 4 },
  unpaid: { status: 'past_due', rank: 3 },
  paused: { status: 'paused', rank: 2 },
  canceled: { status: 'canceled', rank: 1 },
};
/** Of these the plan is that of the subscription. */
const HAVE_PLAN: readonly SubscriptionStatus[] = ['active', 'trialing', 'past_due'];

/**
 * Of all subscriptions of a customer, with `latest_invoice` in full. Null: none is ours, or none was ever paid.
 * @param prices the price of each plan.
 */
export function stateOf(
  subscriptions: readonly Stripe.Subscription[],
  prices: { readonly [plan in Plan]?: string | undefined },
): SubscriptionState | null {
  const known = subscriptions.flatMap((one) => {
    const found = STATUS[one.status];
    const plan = planOf(one, prices);
    return found === undefined || plan === null ? [] : [{ ...found, one, plan }];
  });
  const [best] = known.sort((a, b) => b.rank - a.rank || b.one.created - a.one.created);
  if (best === undefined) return null;
  const { status, one, plan } = best;
  const ends = endOf(one);
  return {
    status,
    plan: HAVE_PLAN.includes(status) ? plan : 'free',
    lateSince: status === 'past_due' ? lateSinceOf(one) : null,
    renewsAt: ends === null && HAVE_PLAN.includes(status) ? dateOf(periodEndOf(one)) : null,
    endsAt: dateOf(ends),
    cancelAtPeriodEnd: one.cancel_at_period_end && status !== 'canceled',
  };
}

function planOf(
  { metadata, items }: Stripe.Subscription,
  prices: { readonly [plan in Plan]?: string | undefined },
): Plan | null {
  // Prices change, and old subscriptions keep theirs.
  if (metadata[PLAN_OF] === 'paid') return 'paid';
  return items.data.some(({ price }) => price.id === prices.paid) ? 'paid' : null;
}

function periodEndOf({ items }: Stripe.Subscription): number | null {
  const ends = items.data.map(({ current_period_end: end }) => end);
  return ends.length === 0 ? null : Math.min(...ends);
}

function endOf(one: Stripe.Subscription): number | null {
  if (one.status === 'canceled') return one.ended_at ?? one.canceled_at;
  return one.cancel_at ?? (one.cancel_at_period_end ? periodEndOf(one) : null);
}

function lateSinceOf({ latest_invoice: invoice, items, created }: Stripe.Subscription): Date {
  const began = items.data[0]?.current_period_start ?? created;
  return new Date((invoice !== null && typeof invoice === 'object' ? invoice.created : began) * 1000);
}

const dateOf = (seconds: number | null): Date | null => (seconds === null ? null : new Date(seconds * 1000));
