import { Injectable, Logger } from '@nestjs/common';
import type { Stripe } from 'stripe';
import { isUuid } from '../../../platform/database/ids.js';
import { Transactions } from '../../../platform/database/transactions.js';
import { type Paid, settle } from './balance.js';
import { recordProvider } from './record-provider.js';
import { StripeClient } from './stripe-client.js';
import {
  ADD_CUSTOMER,
  COMPARED,
  COUNTED,
  FORGET_CUSTOMER,
  HOLD_BALANCE,
  HOLD_PAYMENT,
  KNOWN_PAYMENT,
  LOOK_AT_CUSTOMER,
  LOOK_AT_PAYMENT,
  SET_PAYMENT,
  SET_SUBSCRIPTION,
} from './stripe.sql.js';
import { PLAN_OF, stateOf, type SubscriptionState, WORKSPACE_OF } from './subscription-state.js';

/** Micro-dollars of a cent. */
const CENT = 10_000;
/** Of these a dispute has taken no money, or has given it back. */
const NOT_TAKEN = /^(won|prevented|warning_)/;

/**
 * Brings what is known of a customer, or of a payment, to where it stands at Stripe (reference §14). Nothing is taken from an event but an id:
 * so it does not matter in which order events come, how often, or whether at all.
 */
@Injectable()
export class StripeSync {
  private readonly logger = new Logger('Payments');

  constructor(
    private readonly stripe: StripeClient,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Reads the subscriptions of a customer, all of them: the best one counts. Of a customer that is not ours nothing happens. Resolves with what was read,
   * also where a reading that has begun later is the one that writes; null: none was ever paid.
   */
  async subscriptions(customerId: string): Promise<SubscriptionState | null> {
    const look = await this.look(customerId);
    if (look === null) return null;
    const { prices, graceDays } = this.stripe.config;
    const all = await this.subscriptionsOf(customerId);
    if (!look.exists) {
      await this.endOfDeleted(customerId, all);
      return null;
    }
    const state = stateOf(all, prices);
    // Without one that was ever paid the plan is what the operator has set.
    if (state === null) return null;
    const set = { ...state, customerId, look: look.look, graceDays };
    const changed = await this.transactions.open(async (tx) => {
      const [row] = await tx.run(SET_SUBSCRIPTION(set));
      if (row !== undefined) await recordProvider(tx, row.id);
      return row;
    });
    if (changed) this.logger.log(`Workspace ${changed.id} has the plan ${changed.plan}: ${state.status}.`);
    return state;
  }

  /** Reads a payment, and brings the balance to where it stands. Of what is no top-up of ours nothing happens. */
  async payment(paymentId: string): Promise<void> {
    const customerId = await this.payerOf(paymentId);
    if (customerId === null) return;
    // Before the reading: what an older one brings is not written any more.
    const [begun] = await this.transactions.run(LOOK_AT_PAYMENT({ paymentId, customerId }));
    if (begun === undefined) return;
    const now = await this.standing(paymentId);
    await this.transactions.open(async (tx) => {
      const [held] = await tx.run(HOLD_PAYMENT({ paymentId, look: begun.look }));
      if (held === undefined) return;
      const { workspaceId, ...before } = held;
      if (before.paid === now.paid && before.back === now.back) return;
      const [account] = await tx.run(HOLD_BALANCE({ workspaceId }));
      if (account === undefined) return;
      await tx.run(SET_PAYMENT({ paymentId, workspaceId, ...now, ...settle(account.balance, before, now) }));
    });
  }

  /** Compares all of a customer, as if no event had ever come. */
  async compare(customerId: string, signal: AbortSignal): Promise<void> {
    await this.subscriptions(customerId);
    const counted = new Map((await this.transactions.run(COUNTED({ customerId }))).map((one) => [one.id, one]));
    const list = this.stripe.api.paymentIntents.list({
      customer: customerId,
      limit: 100,
      expand: ['data.latest_charge'],
    });
    for await (const intent of list) {
      signal.throwIfAborted();
      if (!isTopUp(intent)) continue;
      const known = counted.get(intent.id) ?? { paid: 0, back: 0 };
      const charge = chargeOf(intent);
      const same = known.paid === paidOf(intent) && known.back === (charge?.amount_refunded ?? 0) * CENT;
      // How much a dispute has taken stands elsewhere.
      if (!same || charge?.disputed === true) await this.payment(intent.id);
    }
    await this.transactions.run(COMPARED({ customerId }));
  }

  /** The customer is made known when only Stripe knows it: after a restore of the database, say. */
  private async look(customerId: string) {
    const [known] = await this.transactions.run(LOOK_AT_CUSTOMER({ customerId }));
    if (known !== undefined) return known;
    const customer = await this.stripe.api.customers.retrieve(customerId);
    const workspaceId = customer.deleted === true ? undefined : customer.metadata[WORKSPACE_OF];
    if (workspaceId === undefined || !isUuid(workspaceId)) return null;
    await this.transactions.run(ADD_CUSTOMER({ workspaceId, customerId }));
    const [added] = await this.transactions.run(LOOK_AT_CUSTOMER({ customerId }));
    return added ?? null;
  }

  private async subscriptionsOf(customer: string): Promise<Stripe.Subscription[]> {
    const all: Stripe.Subscription[] = [];
    const list = { customer, status: 'all' as const, limit: 100, expand: ['data.latest_invoice'] };
    for await (const one of this.stripe.api.subscriptions.list(list)) all.push(one);
    return all;
  }

  /** Nobody is to pay for a workspace that is deleted. */
  private async endOfDeleted(customerId: string, subscriptions: Stripe.Subscription[]): Promise<void> {
    const ended = /^(canceled|incomplete_expired)$/;
    for (const one of subscriptions.filter(({ status, metadata }) => !ended.test(status) && PLAN_OF in metadata)) {
      await this.stripe.api.subscriptions.cancel(one.id);
      this.logger.log(`The subscription ${one.id} has ended with its workspace.`);
    }
    await this.transactions.run(FORGET_CUSTOMER({ customerId }));
  }

  /** The customer of a top-up of ours; null for any other payment. */
  private async payerOf(paymentId: string): Promise<string | null> {
    const [known] = await this.transactions.run(KNOWN_PAYMENT({ paymentId }));
    if (known !== undefined) return known.customerId;
    const intent = await this.stripe.api.paymentIntents.retrieve(paymentId);
    const customerId = idOf(intent.customer);
    if (customerId === null || !isTopUp(intent)) return null;
    return (await this.look(customerId)) === null ? null : customerId;
  }

  private async standing(paymentId: string): Promise<Paid> {
    const intent = await this.stripe.api.paymentIntents.retrieve(paymentId, { expand: ['latest_charge'] });
    const charge = chargeOf(intent);
    let back = charge?.amount_refunded ?? 0;
    if (charge?.disputed === true) {
      for await (const dispute of this.stripe.api.disputes.list({ payment_intent: paymentId, limit: 100 })) {
        if (!NOT_TAKEN.test(dispute.status)) back += dispute.amount;
      }
    }
    const paid = paidOf(intent);
    return { paid, back: Math.min(back * CENT, paid) };
  }
}

/** Subscriptions pay by intents too. */
const isTopUp = ({ metadata, currency }: Stripe.PaymentIntent): boolean =>
  metadata[WORKSPACE_OF] !== undefined && currency === 'usd';

const paidOf = ({ status, amount_received: cents }: Stripe.PaymentIntent): number =>
  status === 'succeeded' ? cents * CENT : 0;

/** It is asked for in full. */
function chargeOf({ latest_charge: charge }: Stripe.PaymentIntent): Stripe.Charge | null {
  return typeof charge === 'object' ? charge : null;
}

/** The id of what an object of Stripe names, or has in full. */
export function idOf(named: string | { id: string } | null | undefined): string | null {
  return typeof named === 'string' ? named : (named?.id ?? null);
}
