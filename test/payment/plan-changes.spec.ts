// Plans that a payment changes: what the audit log has of it, and two people who subscribe at once (reference §14).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StripeSync } from '../../src/resources/billing/stripe/stripe-sync.js';
import { StripeUpkeep } from '../../src/resources/billing/stripe/stripe-upkeep.js';
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { temporaryFolder } from '../harness/service.js';
import { FakeStripe } from './fake-stripe.js';
import { cancel, failToPay, hold, pay } from './stripe-people.js';
import { unixNow } from './stripe-objects.js';

describe('Plans that Stripe changes (reference §14)', () => {
  const folder = temporaryFolder();
  let stripe: FakeStripe;
  const service = useService(async () => {
    stripe = await FakeStripe.start();
    const file = join(folder.path, 'config.json');
    writeFileSync(file, JSON.stringify(stripe.config()));
    return bootApp({ env: { CONFIG_FILE: file, ...stripe.env } });
  });
  afterAll(async () => {
    await stripe.stop();
    folder.remove();
  });
  let member: Member;
  beforeEach(async () => {
    member = await makeMember(service, { plan: 'free', role: 'owner' });
  });

  const checkout = async () => {
    const { status, body } = await member.client.post<{ url: string }>('/v1/billing/checkout', { plan: 'paid' });
    expect(status).toBe(200);
    return new URL(body.url);
  };
  const subscribe = async () => {
    pay(stripe, (await checkout()).pathname.slice(1));
    const one = [...stripe.subscriptions.values()].at(-1);
    if (one === undefined) throw new Error('Nobody has subscribed.');
    return one;
  };
  /** As the job of an event does. */
  const read = (customer: string) => service.app.get(StripeSync, { strict: false }).subscriptions(customer);
  const summary = async () => {
    type Summary = { plan: { id: string }; subscription: { status: string } };
    const { body } = await member.client.get<Summary>('/v1/billing/summary');
    return [body.plan.id, body.subscription.status];
  };
  interface Entry {
    action: string;
    actor: object | null;
    keyId: string | null;
    target: { type: string; id: string };
  }
  const changes = async () => {
    const { body } = await member.client.get<{ entries: Entry[] }>('/v1/audit?action=subscription.update');
    return body.entries;
  };

  it('have an entry in the audit log each, by nobody; a reading that finds nothing new has none', async () => {
    const one = await subscribe();
    await read(one.customer);
    const entry = { actor: null, keyId: null, target: { type: 'workspace', id: member.workspace.id }, outcome: 'done' };
    expect(await changes()).toMatchObject([entry]);
    await read(one.customer);
    expect(await changes()).toHaveLength(1);
    cancel(one);
    await read(one.customer);
    expect(await summary()).toEqual(['free', 'canceled']);
    expect(await changes()).toMatchObject([entry, entry]);
  });

  it('so has a plan that ends because its payment is late', async () => {
    const one = await subscribe();
    await read(one.customer);
    failToPay(stripe, one);
    await read(one.customer);
    expect([await summary(), (await changes()).length]).toEqual([['paid', 'past_due'], 2]);
    await service.db.query('UPDATE payment_customers SET late_since = $1 WHERE customer_id = $2', [
      new Date((unixNow() - 30 * 86_400) * 1000),
      one.customer,
    ]);
    await service.app.get(StripeUpkeep, { strict: false }).endLate();
    expect([await summary(), (await changes()).length]).toEqual([['free', 'past_due'], 3]);
    await service.app.get(StripeUpkeep, { strict: false }).endLate();
    expect(await changes()).toHaveLength(3);
  });

  const customerOf = (sessionId: string) => stripe.sessions.get(sessionId)?.customer ?? '';

  it('of two people who ask at once, each for a page of one customer, one alone can pay', async () => {
    const pages = await Promise.all([checkout(), checkout()]);
    const sessions = pages.map(({ pathname }) => pathname.slice(1));
    expect(new Set(sessions).size).toBe(2);
    const [customer = '', ...others] = new Set(sessions.map(customerOf));
    expect(others).toEqual([]);
    const open = sessions.filter((id) => stripe.sessions.get(id)?.status === 'open');
    expect(open).toHaveLength(1);
    pay(stripe, open[0] ?? '');
    await read(customer);
    expect(await summary()).toEqual(['paid', 'active']);
  });

  it('a page that was asked for before closes when another is asked for; the page of a top-up stays', async () => {
    const topUp = await member.client.post<{ url: string }>('/v1/billing/checkout', { topUp: '10.00' });
    const before = (await checkout()).pathname.slice(1);
    const now = (await checkout()).pathname.slice(1);
    const statuses = [before, now, topUp.body.url.split('/').at(-1) ?? ''].map((id) => stripe.sessions.get(id)?.status);
    expect(statuses).toEqual(['expired', 'open', 'open']);
  });

  it('no other page is given while one of before is being paid, and cannot be closed', async () => {
    const before = (await checkout()).pathname.slice(1);
    stripe.beingPaid.add(before);
    const refused = await member.client.post<ErrorBody>('/v1/billing/checkout', { plan: 'paid' });
    expect([refused.status, refused.body.error.code]).toEqual([503, 'unavailable']);
    pay(stripe, before);
    expect((await checkout()).hostname).toMatch(/^billing/);
  });

  it('who has paid, and whose event has not come, is led to where the subscription is', async () => {
    pay(stripe, (await checkout()).pathname.slice(1));
    expect(await summary()).toEqual(['free', 'none']);
    expect((await checkout()).hostname).toMatch(/^billing/);
    expect(await summary()).toEqual(['paid', 'active']);
  });

  it('so is one whose subscription the page has read, while a later reading is to write it', async () => {
    const page = (await checkout()).pathname.slice(1);
    pay(stripe, page);
    const { reached, release } = hold(stripe, 'GET /v1/subscriptions');
    const led = checkout();
    await reached;
    await service.db.query('UPDATE payment_customers SET look = look + 1 WHERE customer_id = $1', [customerOf(page)]);
    release();
    expect((await led).hostname).toMatch(/^billing/);
    expect(await summary()).toEqual(['free', 'none']);
  });

  it('with two subscriptions, one of them made at Stripe itself, the plan stays until both have ended', async () => {
    const first = await subscribe();
    const second = { ...first, id: `${first.id}_second` };
    stripe.subscriptions.set(second.id, second);
    const plans: unknown[] = [];
    for (const one of [first, second]) {
      cancel(one);
      await read(first.customer);
      plans.push(await summary());
    }
    expect(plans).toEqual([
      ['paid', 'active'],
      ['free', 'canceled'],
    ]);
  });
});
