// Objects of Stripe, and pages of them, as far as the service looks at them, typed by Stripe's own package: a field with another name or type does not compile.
import type { Stripe } from 'stripe';

/** Fields of a form: `metadata[x]`. */
export type Fields = Record<string, string | undefined>;

export const fieldsOf = (form: string): Fields => Object.fromEntries(new URLSearchParams(form));

export const unixNow = (): number => Math.floor(Date.now() / 1000);

let last = 0;
/** An id that no other has: `cus_test00001`. */
export const numbered = (kind: string): string => `${kind}_test${String((last += 1)).padStart(6, '0')}`;

export type FakeCustomer = Pick<Stripe.Customer, 'id' | 'object' | 'created' | 'metadata'>;

export type FakeSession = Pick<
  Stripe.Checkout.Session,
  'id' | 'object' | 'mode' | 'url' | 'status' | 'payment_status'
> & {
  customer: string;
  payment_intent: string | null;
};

type Item = Pick<Stripe.SubscriptionItem, 'id' | 'object' | 'current_period_start' | 'current_period_end'> & {
  price: Pick<Stripe.Price, 'id' | 'object'>;
};
export type FakeSubscription = Pick<
  Stripe.Subscription,
  | 'id'
  | 'object'
  | 'created'
  | 'status'
  | 'metadata'
  | 'cancel_at'
  | 'cancel_at_period_end'
  | 'canceled_at'
  | 'ended_at'
> & { customer: string; latest_invoice: string; items: { object: 'list'; data: Item[] } };

export type FakeInvoice = Pick<Stripe.Invoice, 'id' | 'object' | 'created' | 'status'> & { customer: string };

export type FakeIntent = Pick<
  Stripe.PaymentIntent,
  'id' | 'object' | 'created' | 'amount' | 'amount_received' | 'currency' | 'status' | 'metadata'
> & { customer: string; latest_charge: string };

export type FakeCharge = Pick<Stripe.Charge, 'id' | 'object' | 'amount' | 'amount_refunded' | 'disputed'> & {
  payment_intent: string;
};

export type FakeRefund = Pick<Stripe.Refund, 'id' | 'object' | 'amount'> & { payment_intent: string };

export type FakeDispute = Pick<Stripe.Dispute, 'id' | 'object' | 'amount' | 'status'> & { payment_intent: string };

export type FakeMeterEvent = Pick<
  Stripe.Billing.MeterEvent,
  'object' | 'identifier' | 'event_name' | 'payload' | 'timestamp' | 'created'
>;

export interface FakeEvent {
  id: string;
  object: 'event';
  type: Stripe.Event['type'];
  created: number;
  data: { object: object };
}

/** The newest first, as Stripe lists. */
export function page(url: string, all: { id: string }[], query: URLSearchParams): object {
  const sorted = [...all].reverse();
  const after = query.get('starting_after');
  const from = after === null ? 0 : sorted.findIndex(({ id }) => id === after) + 1;
  const limit = Number(query.get('limit') ?? 10);
  return { object: 'list', url, data: sorted.slice(from, from + limit), has_more: sorted.length > from + limit };
}
