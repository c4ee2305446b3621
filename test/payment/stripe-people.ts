// What people do at Stripe, and the events that Stripe sends of it.
import type { FakeStripe } from './fake-stripe.js';
import {
  type FakeEvent,
  type FakeIntent,
  type FakeSession,
  type FakeSubscription,
  numbered,
  unixNow,
} from './stripe-objects.js';

const MONTH = 30 * 86_400;

/** An event about an object. What it says of the object but its id is a lie: the service is to look by itself. */
function eventOf(type: FakeEvent['type'], { id, object }: { id: string; object: string }): FakeEvent {
  const lies = {
    status: 'canceled',
    amount: 99_999_900,
    amount_refunded: 1,
    customer: 'cus_other',
    payment_intent: 'pi_other',
  };
  return { id: numbered('evt'), object: 'event', type, created: unixNow(), data: { object: { ...lies, id, object } } };
}

/** Keeps the next answer to such a request back, as it stands when it is asked for, until it is released. `reached` resolves when it is asked for. */
export function hold(stripe: FakeStripe, request: string): { reached: Promise<void>; release: () => void } {
  let release = () => {};
  const until = new Promise<void>((resolve) => (release = resolve));
  const reached = new Promise<void>((resolve) => {
    stripe.held = { request, until, reached: resolve };
  });
  return { reached, release };
}

/** Pays at the page of a checkout: a top-up, or the first month of a subscription. */
export function pay(stripe: FakeStripe, sessionId: string): FakeEvent[] {
  const session = stripe.sessions.get(sessionId);
  if (session === undefined) throw new Error(`There is no session ${sessionId}.`);
  if (session.status !== 'open') throw new Error(`The session ${sessionId} is closed: ${session.status}.`);
  Object.assign(session, { status: 'complete', payment_status: 'paid' });
  const completed = eventOf('checkout.session.completed', session);
  if (session.mode === 'subscription') return [...subscribe(stripe, session), completed];
  const cents = Number(session.asked['line_items[0][price_data][unit_amount]']);
  const metadata = { millwright_workspace: session.asked['payment_intent_data[metadata][millwright_workspace]'] ?? '' };
  const intent = makeIntent(stripe, session.customer, cents, metadata);
  session.payment_intent = intent.id;
  return [eventOf('payment_intent.succeeded', intent), completed];
}

function makeIntent(stripe: FakeStripe, customer: string, cents: number, metadata: Record<string, string>): FakeIntent {
  const [id, charge] = [numbered('pi'), numbered('ch')];
  stripe.charges.set(charge, {
    id: charge,
    object: 'charge',
    amount: cents,
    amount_refunded: 0,
    disputed: false,
    payment_intent: id,
  });
  const paid = { amount: cents, amount_received: cents, currency: 'usd', status: 'succeeded' as const };
  const intent: FakeIntent = {
    id,
    object: 'payment_intent',
    created: unixNow(),
    ...paid,
    metadata,
    customer,
    latest_charge: charge,
  };
  stripe.intents.set(id, intent);
  return intent;
}

function makeInvoice(stripe: FakeStripe, customer: string, status: 'paid' | 'open', created = unixNow()) {
  const invoice = { id: numbered('in'), object: 'invoice' as const, created, status, customer };
  stripe.invoices.set(invoice.id, invoice);
  return invoice;
}

function subscribe(
  stripe: FakeStripe,
  { customer, asked }: FakeSession & { asked: Record<string, string | undefined> },
): FakeEvent[] {
  const invoice = makeInvoice(stripe, customer, 'paid');
  // A subscription is paid by an intent too, which is no top-up.
  makeIntent(stripe, customer, 2_000, {});
  const now = unixNow();
  const price = { id: asked['line_items[0][price]'] ?? '', object: 'price' as const };
  const item = {
    id: numbered('si'),
    object: 'subscription_item' as const,
    price,
    current_period_start: now,
    current_period_end: now + MONTH,
  };
  const one: FakeSubscription = {
    id: numbered('sub'),
    object: 'subscription',
    created: now,
    status: 'active',
    metadata: { millwright_plan: asked['subscription_data[metadata][millwright_plan]'] ?? '' },
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    ended_at: null,
    customer,
    latest_invoice: invoice.id,
    items: { object: 'list', data: [item] },
  };
  stripe.subscriptions.set(one.id, one);
  return [eventOf('customer.subscription.created', one), eventOf('invoice.paid', invoice)];
}

/** The next month is paid. */
export function renew(stripe: FakeStripe, one: FakeSubscription): FakeEvent[] {
  const invoice = makeInvoice(stripe, one.customer, 'paid');
  for (const item of one.items.data) {
    item.current_period_start = item.current_period_end;
    item.current_period_end += MONTH;
  }
  Object.assign(one, { status: 'active', latest_invoice: invoice.id });
  return [eventOf('customer.subscription.updated', one), eventOf('invoice.paid', invoice)];
}

/** The card is refused. @param since when its invoice was made, in seconds. */
export function failToPay(stripe: FakeStripe, one: FakeSubscription, since = unixNow()): FakeEvent[] {
  const invoice = makeInvoice(stripe, one.customer, 'open', since);
  Object.assign(one, { status: 'past_due', latest_invoice: invoice.id });
  return [eventOf('customer.subscription.updated', one), eventOf('invoice.payment_failed', invoice)];
}

export function cancelAtEnd(one: FakeSubscription, cancels = true): FakeEvent[] {
  one.cancel_at_period_end = cancels;
  return [eventOf('customer.subscription.updated', one)];
}

export function cancel(one: FakeSubscription): FakeEvent[] {
  Object.assign(one, { status: 'canceled', canceled_at: unixNow(), ended_at: unixNow(), cancel_at_period_end: false });
  return [eventOf('customer.subscription.deleted', one)];
}

export function refund(stripe: FakeStripe, intent: FakeIntent, cents: number): FakeEvent[] {
  const charge = chargeOf(stripe, intent);
  charge.amount_refunded = Math.min(charge.amount, charge.amount_refunded + cents);
  const refund = { id: numbered('re'), object: 'refund' as const, amount: cents, payment_intent: intent.id };
  stripe.refunds.set(refund.id, refund);
  return [eventOf('charge.refunded', charge), eventOf('refund.created', refund)];
}

/** The bank takes the rest back. */
export function dispute(stripe: FakeStripe, intent: FakeIntent): FakeEvent[] {
  const charge = chargeOf(stripe, intent);
  charge.disputed = true;
  const amount = charge.amount - charge.amount_refunded;
  const made = {
    id: numbered('du'),
    object: 'dispute' as const,
    amount,
    status: 'needs_response' as const,
    payment_intent: intent.id,
  };
  stripe.disputes.set(made.id, made);
  return [eventOf('charge.dispute.created', made)];
}

export function decide(stripe: FakeStripe, intent: FakeIntent, status: 'won' | 'lost'): FakeEvent[] {
  const found = [...stripe.disputes.values()].find((one) => one.payment_intent === intent.id);
  if (found === undefined) throw new Error(`${intent.id} is not disputed.`);
  found.status = status;
  return [eventOf('charge.dispute.closed', found)];
}

function chargeOf(stripe: FakeStripe, { latest_charge: id }: FakeIntent) {
  const charge = stripe.charges.get(id);
  if (charge === undefined) throw new Error(`There is no charge ${id}.`);
  return charge;
}
