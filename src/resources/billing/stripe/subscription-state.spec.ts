import type { Stripe } from 'stripe';
import { stateOf } from './subscription-state.js';

const PRICES = { paid: 'price_paid' };
const at = (seconds: number) => new Date(seconds * 1000);

function subscription(more: object = {}): Stripe.Subscription {
  const item = { price: { id: 'price_paid' }, current_period_start: 1_000, current_period_end: 2_000 };
  const plain = { status: 'active', created: 1, metadata: {}, cancel_at: null, cancel_at_period_end: false, canceled_at: null, ended_at: null };
  return { ...plain, latest_invoice: { created: 1_500 }, items: { data: [item] }, ...more } as unknown as Stripe.Subscription;
} // prettier-ignore

describe('What subscriptions at Stripe stand for (reference §14)', () => {
  it.each([
    ['active', 'active', 'paid'],
    ['trialing', 'trialing', 'paid'],
    ['past_due', 'past_due', 'paid'],
    ['unpaid', 'past_due', 'paid'],
    ['paused', 'paused', 'free'],
    ['canceled', 'canceled', 'free'],
  ])('%s is %s, with the plan %s', (theirs, status, plan) => {
    expect(stateOf([subscription({ status: theirs })], PRICES)).toMatchObject({ status, plan });
  });

  it.each(['incomplete', 'incomplete_expired'])('%s was never paid, and is nothing', (status) => {
    expect(stateOf([subscription({ status })], PRICES)).toBeNull();
  });

  it('renew at the end of the period, or end then', () => {
    expect(stateOf([subscription()], PRICES)).toMatchObject({ renewsAt: at(2_000), endsAt: null });
    const ends = subscription({ cancel_at_period_end: true });
    expect(stateOf([ends], PRICES)).toMatchObject({ renewsAt: null, endsAt: at(2_000), cancelAtPeriodEnd: true });
    const gone = subscription({ status: 'canceled', ended_at: 1_700 });
    expect(stateOf([gone], PRICES)).toMatchObject({ renewsAt: null, endsAt: at(1_700), cancelAtPeriodEnd: false });
  });

  it('are late since the invoice that is not paid', () => {
    expect(stateOf([subscription({ status: 'past_due' })], PRICES)?.lateSince).toEqual(at(1_500));
    expect(stateOf([subscription()], PRICES)?.lateSince).toBeNull();
  });

  it('count by the best of several, of two alike by the newest', () => {
    const old = subscription({ status: 'canceled', ended_at: 1_700 });
    expect(stateOf([old, subscription({ created: 2 })], PRICES)?.status).toBe('active');
    const newer = subscription({ status: 'canceled', created: 9, ended_at: 1_900 });
    expect(stateOf([newer, old], PRICES)?.endsAt).toEqual(at(1_900));
  });

  it('are ours by a price of CONFIG_FILE, or because we began them, and no others', () => {
    const other = { data: [{ price: { id: 'price_other' }, current_period_start: 1, current_period_end: 2 }] };
    expect(stateOf([subscription({ items: other })], PRICES)).toBeNull();
    const begun = subscription({ items: other, metadata: { millwright_plan: 'paid' } });
    expect(stateOf([begun], PRICES)?.plan).toBe('paid');
  });
});
