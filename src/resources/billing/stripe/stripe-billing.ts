// Billing by Stripe (reference §14): it decides as the built-in provider does, for what was paid stands in the row of the workspace.
import { Injectable } from '@nestjs/common';
import type { Stripe } from 'stripe';
import { Env } from '../../../platform/config/env.js';
import { Database } from '../../../platform/database/database.js';
import { Transactions } from '../../../platform/database/transactions.js';
import { ApiError, notFound } from '../../../platform/http/api-error.js';
import { PLANS } from '../../../platform/config/rate-limits.js';
import type { BillingAccount, BillingSummary, Offers, Order, WaysBack } from '../billing-provider.js';
import { OperatorBilling } from '../operator-billing.js';
import { StripeClient } from './stripe-client.js';
import { StripeSync } from './stripe-sync.js';
import { ADD_CUSTOMER, CUSTOMER_OF } from './stripe.sql.js';
import { PLAN_OF, WORKSPACE_OF } from './subscription-state.js';

/** What a subscription is that goes on: a second one would be paid beside it. */
const GOES_ON: ReadonlySet<string> = new Set(['trialing', 'active', 'past_due', 'paused']);

@Injectable()
export class StripeBilling extends OperatorBilling {
  constructor(
    env: Env,
    private readonly stripe: StripeClient,
    private readonly sync: StripeSync,
    private readonly database: Database,
    private readonly transactions: Transactions,
  ) {
    super(env);
  }

  override async summary(account: BillingAccount): Promise<BillingSummary> {
    return { ...(await super.summary(account)), offers: this.offers };
  }

  override async checkout(workspaceId: string, order: Order, back: WaysBack): Promise<string> {
    const { prices, topUps, meterPrice } = this.stripe.config;
    const ways = { success_url: back.success, cancel_url: back.cancel };
    if ('topUp' in order) {
      if (!topUps.includes(order.topUp)) throw notSold('topUp', topUps);
      const customer = await this.customerOf(workspaceId);
      const { url } = await this.session((api) =>
        api.checkout.sessions.create({
          ...ways,
          mode: 'payment',
          // The balance is in US dollars, to the cent.
          adaptive_pricing: { enabled: false },
          customer,
          line_items: [{ quantity: 1, price_data: topUpOf(order.topUp) }],
          payment_intent_data: { metadata: { [WORKSPACE_OF]: workspaceId } },
        }),
      );
      return url;
    }
    const price = order.plan === 'paid' ? prices.paid : undefined;
    if (price === undefined) throw notSold('plan', this.offers.plans);
    if (await this.isSubscribed(workspaceId)) return this.portal(workspaceId, back.success);
    const customer = await this.customerOf(workspaceId);
    const metered = meterPrice === undefined ? [] : [{ price: meterPrice }];
    const { id, url } = await this.session((api) =>
      api.checkout.sessions.create({
        ...ways,
        mode: 'subscription',
        customer,
        line_items: [{ price, quantity: 1 }, ...metered],
        subscription_data: { metadata: { [PLAN_OF]: order.plan, [WORKSPACE_OF]: workspaceId } },
      }),
    );
    // Else two people who ask at once, or one who has paid and whose event is late, would pay twice each month.
    await this.stripe.ask((api) => this.expireBefore(api, customer, id));
    const read = await this.stripe.ask(() => this.sync.subscriptions(customer));
    // A reading that has begun later writes in its place, and may not have done so.
    const isSubscribed = (read !== null && GOES_ON.has(read.status)) || (await this.isSubscribed(workspaceId));
    return isSubscribed ? this.portal(workspaceId, back.success) : url;
  }

  override async portal(workspaceId: string, back: string): Promise<string> {
    const customer = await this.customerOf(workspaceId);
    const { url } = await this.stripe.ask((api) => api.billingPortal.sessions.create({ customer, return_url: back }));
    return url;
  }

  private get offers(): Offers {
    const { prices, topUps } = this.stripe.config;
    return { plans: PLANS.filter((plan) => plan === 'paid' && prices.paid !== undefined), topUps };
  }

  private async session(
    create: (api: Stripe) => Promise<Stripe.Checkout.Session>,
  ): Promise<{ id: string; url: string }> {
    const { id, url } = await this.stripe.ask(create);
    if (url === null) throw new Error('Stripe gave a checkout without an address.');
    return { id, url };
  }

  /** Closes the pages where this customer could subscribe, older than that one. Of two made at once the newer stays: Stripe lists it first. */
  private async expireBefore(api: Stripe, customer: string, sessionId: string): Promise<void> {
    let isOlder = false;
    for await (const one of api.checkout.sessions.list({ customer, status: 'open', limit: 100 })) {
      if (isOlder && one.mode === 'subscription') await this.expire(api, one.id);
      isOlder ||= one.id === sessionId;
    }
  }

  private async expire(api: Stripe, sessionId: string): Promise<void> {
    try {
      await api.checkout.sessions.expire(sessionId);
    } catch (error) {
      if (!(error instanceof this.stripe.errors.StripeInvalidRequestError)) throw error;
      // As a rule it is not open any more: paid meanwhile, or closed by another request.
      const { status } = await api.checkout.sessions.retrieve(sessionId);
      if (status !== 'open') return;
      throw new ApiError('unavailable', 'A page that was asked for before is being paid. Try again.', { cause: error });
    }
  }

  private async isSubscribed(workspaceId: string): Promise<boolean> {
    const { customerId, status } = await this.known(workspaceId);
    return customerId !== null && GOES_ON.has(status);
  }

  /** Makes the customer at the first time. Of two requests at once each gets the same one, by the idempotency key. */
  private async customerOf(workspaceId: string): Promise<string> {
    const { customerId } = await this.known(workspaceId);
    if (customerId !== null) return customerId;
    // Nothing that may change stands in it: the same key with another body is refused.
    const made = await this.stripe.ask((api) =>
      api.customers.create(
        { metadata: { [WORKSPACE_OF]: workspaceId } },
        { idempotencyKey: `millwright-customer-${workspaceId}` },
      ),
    );
    await this.transactions.run(ADD_CUSTOMER({ workspaceId, customerId: made.id }));
    return (await this.known(workspaceId)).customerId ?? made.id;
  }

  private async known(workspaceId: string) {
    const [row] = await this.database.read.run(CUSTOMER_OF({ workspaceId }));
    if (row === undefined) throw notFound('workspace');
    return row;
  }
}

function topUpOf(amount: string) {
  return {
    currency: 'usd',
    unit_amount: Number(amount.replace('.', '')),
    product_data: { name: `Top-up of ${amount} USD` },
  };
}

function notSold(param: 'plan' | 'topUp', sold: readonly string[]): ApiError {
  const what = sold.length === 0 ? 'nothing of it is sold here' : `one of ${sold.join(', ')} is expected`;
  return new ApiError('invalid_field', `${param}: ${what}.`, { param });
}
