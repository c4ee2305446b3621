import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StripeUpkeep } from '../../src/resources/billing/stripe/stripe-upkeep.js';
import { ChoreRunner } from '../../src/platform/chores/chore-runner.js';
import { bootWorker, useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';
import { FakeStripe } from './fake-stripe.js';
import { cancel, cancelAtEnd, decide, dispute, failToPay, hold, pay, refund, renew } from './stripe-people.js';
import { type FakeEvent, unixNow } from './stripe-objects.js';

interface Summary {
  plan: { id: string };
  subscription: { status: string; cancelAtPeriodEnd: boolean };
  renewal: { renewsAt: string | null; endsAt: string | null };
  topUp: { balance: string };
  offers?: object;
}
const DAY = 86_400;

describe('Payment by Stripe (reference §14)', () => {
  const folder = temporaryFolder();
  let stripe: FakeStripe;
  const service = useService(async () => {
    stripe = await FakeStripe.start();
    const file = join(folder.path, 'config.json');
    writeFileSync(file, JSON.stringify(stripe.config()));
    return bootWorker({ env: { CONFIG_FILE: file, ...stripe.env } });
  });
  afterAll(async () => {
    await stripe.stop();
    folder.remove();
  });
  let member: Member;
  beforeEach(async () => {
    member = await makeMember(service, { plan: 'free', role: 'owner' });
  });

  const summary = async () => (await member.client.get<Summary>('/v1/billing/summary')).body;
  const balance = async () => (await summary()).topUp.balance;
  const checkout = (json: object) => member.client.post<ErrorBody & { url: string }>('/v1/billing/checkout', json);
  const session = async (json: object) => (await checkout(json)).body.url.split('/').at(-1) ?? '';
  const send = (event: FakeEvent, signing = {}) =>
    new Client(service.url).request<ErrorBody>('POST', '/hooks/billing/stripe', stripe.delivery(event, signing));
  /** Sends events and waits until nothing of them is left to be done. */
  const deliver = async (...events: FakeEvent[]) => {
    for (const event of events) expect((await send(event)).status).toBe(200);
    await until('the jobs to be done', async () => (await jobs()).length === 0);
  };
  const jobs = () => service.db.query<{ key: string }>(`SELECT key FROM jobs WHERE queue = 'payments'`);
  const subscribed = async () => {
    await deliver(...pay(stripe, await session({ plan: 'paid' })));
    const one = [...stripe.subscriptions.values()].at(-1);
    if (one === undefined) throw new Error('Nobody has subscribed.');
    return one;
  };
  const toppedUp = async (topUp = '10.00') => {
    await deliver(...pay(stripe, await session({ topUp })));
    const intent = [...stripe.intents.values()].at(-1);
    if (intent === undefined) throw new Error('Nobody has paid.');
    return intent;
  };
  const chore = (name: 'compare' | 'endLate') =>
    service.app.get(ChoreRunner, { strict: false }).run(service.app.get(StripeUpkeep, { strict: false }), name);
  /** As after an hour in which Stripe did not answer. */
  const compareAfterGap = async () => {
    await service.db.query(`INSERT INTO payment_contact (answered_at) VALUES (now() - interval '2 hours')
      ON CONFLICT (one) DO UPDATE SET answered_at = excluded.answered_at`);
    return chore('compare');
  };

  describe('checkout and portal', () => {
    it('give the address of a page of Stripe, and the summary says what is sold', async () => {
      expect((await summary()).offers).toEqual({ plans: ['paid'], topUps: ['10.00', '50.00'] });
      for (const [path, json] of [
        ['checkout', { plan: 'paid', successUrl: 'https://a.example/thanks' }],
        ['checkout', { topUp: '10.00' }],
        ['portal', {}],
      ] as const) {
        const { status, body } = await member.client.post<{ url: string }>(`/v1/billing/${path}`, json);
        expect([status, body.url]).toEqual([200, expect.stringMatching(/^https:\/\/\w+\.stripe\.test\//)]);
      }
      const [plan, topUp] = [...stripe.sessions.values()].slice(-2);
      expect(plan?.asked).toMatchObject({ mode: 'subscription', 'line_items[0][price]': 'price_paid', success_url: 'https://a.example/thanks' });
      expect(topUp?.asked).toMatchObject({ mode: 'payment', 'line_items[0][price_data][unit_amount]': '1000', success_url: `${service.url}/console/usage` });
    }); // prettier-ignore

    it('make one customer of a workspace, also when two ask at once', async () => {
      const asked = await Promise.all([1, 2, 3, 4].map(() => checkout({ topUp: '10.00' })));
      expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const ours = [...stripe.customers.values()].filter((one) => one.metadata['millwright_workspace'] === member.workspace.id);
      expect(ours).toHaveLength(1);
    }); // prettier-ignore

    it('are for personal keys of owners and admins', async () => {
      const plain = await makeMember(service, { workspace: member.workspace, role: 'member' });
      const { status, body } = await plain.client.post<ErrorBody>('/v1/billing/checkout', { plan: 'paid' });
      expect([status, body.error.code]).toEqual([403, 'role_not_allowed']);
      const admin = await makeMember(service, { workspace: member.workspace, role: 'admin' });
      expect((await admin.client.post('/v1/billing/portal', {})).status).toBe(200);
    });

    it.each([
      [{}, 'plan'],
      [{ plan: 'paid', topUp: '10.00' }, 'topUp'],
      [{ plan: 'free' }, 'plan'],
      [{ topUp: '10' }, 'topUp'],
      [{ topUp: '10.00', successUrl: 'javascript:alert(1)' }, 'successUrl'],
    ])('%j is 400, and nothing is asked of Stripe', async (json, param) => {
      const before = stripe.log.length;
      const { status, body } = await checkout(json);
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_field', param]);
      expect(stripe.log.length).toBe(before);
    });

    it('are acts on record, without what was ordered', async () => {
      await checkout({ topUp: '10.00' });
      await member.client.post('/v1/billing/portal', {});
      const acts = `SELECT action, outcome FROM audit_log WHERE workspace_id = '${member.workspace.id}' AND action LIKE 'billing.%' ORDER BY id`;
      const expected = ['billing.checkout', 'billing.portal'].map((action) => ({ action, outcome: 'done' }));
      expect(await service.db.query(acts)).toEqual(expected);
    });

    it('lead who has a subscription to where it is changed', async () => {
      await subscribed();
      const { body } = await checkout({ plan: 'paid' });
      expect(body.url).toMatch(/^https:\/\/billing\.stripe\.test\//);
    });

    it('are 503 while Stripe does not answer', async () => {
      stripe.away = true;
      try {
        const { status, body } = await checkout({ plan: 'paid' });
        expect([status, body.error.code]).toEqual([503, 'unavailable']);
      } finally {
        stripe.away = false;
      }
    });
  });

  describe('an event', () => {
    it('that is not signed with the secret, or long ago, is 401 and leaves nothing', async () => {
      const [event] = pay(stripe, await session({ topUp: '10.00' }));
      if (event === undefined) throw new Error('There is no event.');
      for (const signing of [{ secret: 'whsec_another' }, { timestamp: unixNow() - 3_600 }]) {
        const { status, body } = await send(event, signing);
        expect([status, body.error.code]).toEqual([401, 'invalid_credential']);
      }
      const { headers, raw } = stripe.delivery(event);
      const changed = await new Client(service.url).request('POST', '/hooks/billing/stripe', {
        headers,
        raw: `${raw} `,
      });
      expect(changed.status).toBe(401);
      expect(await jobs()).toEqual([]);
      expect(await balance()).toBe('0.00');
    });

    it('of a payment adds to the balance once, however often and by whichever event it comes', async () => {
      const events = pay(stripe, await session({ topUp: '10.00' }));
      await deliver(...events, ...events.reverse(), ...events);
      expect(await balance()).toBe('10.00');
      await toppedUp('50.00');
      expect(await balance()).toBe('60.00');
    });

    it('of a subscription sets plan, status and renewal as Stripe has them, whatever the event says', async () => {
      const one = await subscribed();
      const renewsAt = () => new Date((one.items.data[0]?.current_period_end ?? 0) * 1000).toISOString();
      expect(await summary()).toMatchObject({ plan: { id: 'paid' }, subscription: { status: 'active' }, renewal: { renewsAt: renewsAt(), endsAt: null } });
      expect(await balance()).toBe('0.00');
      await deliver(...renew(stripe, one).slice(1));
      expect((await summary()).renewal).toEqual({ renewsAt: renewsAt(), endsAt: null });
      await deliver(...cancelAtEnd(one));
      expect(await summary()).toMatchObject({ plan: { id: 'paid' }, subscription: { status: 'active', cancelAtPeriodEnd: true }, renewal: { renewsAt: null, endsAt: renewsAt() } });
      await deliver(...cancel(one));
      expect(await summary()).toMatchObject({ plan: { id: 'free' }, subscription: { status: 'canceled', cancelAtPeriodEnd: false }, renewal: { renewsAt: null } });
    }); // prettier-ignore

    it('that comes late changes nothing back', async () => {
      const one = await subscribed();
      const late = renew(stripe, one);
      await deliver(...cancel(one));
      await deliver(...late);
      expect((await summary()).plan.id).toBe('free');
    });

    it.each([
      ['subscription', 'GET /v1/subscriptions'],
      ['payment', 'GET /v1/disputes'],
    ])('whose answer about a %s is older than that of another changes nothing any more', async (kind, request) => {
      const ofPayment = kind === 'payment';
      const one = await subscribed();
      const intent = await toppedUp('10.00');
      const first = ofPayment ? dispute(stripe, intent) : renew(stripe, one).slice(0, 1);
      const { reached, release } = hold(stripe, request);
      for (const event of first) await send(event);
      await reached;
      const second = ofPayment ? decide(stripe, intent, 'won') : cancel(one);
      for (const event of second) await send(event);
      const done = ofPayment
        ? async () => (await balance()) === '10.00'
        : async () => (await summary()).plan.id === 'free';
      await until('the newer answer to be written', async () => (await jobs()).length === 1 && done());
      release();
      await until('the older one to be done', async () => (await jobs()).length === 0);
      expect(await done()).toBe(true);
    });

    it('is tried again when Stripe does not answer', async () => {
      const events = pay(stripe, await session({ topUp: '10.00' }));
      stripe.away = true;
      for (const event of events) await send(event);
      const tried = () => service.db.query(`SELECT 1 FROM jobs WHERE queue = 'payments' AND last_error IS NOT NULL`);
      await until('a try to have failed', async () => (await tried()).length > 0);
      expect(await balance()).toBe('0.00');
      stripe.away = false;
      await until('the payment', async () => (await balance()) === '10.00');
    });
  });

  describe('what goes back', () => {
    it('is taken from the balance: refunds, and what is disputed until the dispute is won', async () => {
      const intent = await toppedUp('50.00');
      await deliver(...refund(stripe, intent, 1_000));
      expect(await balance()).toBe('40.00');
      await deliver(...dispute(stripe, intent));
      expect(await balance()).toBe('0.00');
      await deliver(...decide(stripe, intent, 'won'));
      expect(await balance()).toBe('40.00');
    });

    it('is taken down to 0 where it is spent, and a dispute that is won gives no more than was taken', async () => {
      const intent = await toppedUp('10.00');
      await service.db.query('UPDATE workspaces SET top_up_micros = 3000000 WHERE id = $1', [member.workspace.id]);
      await deliver(...dispute(stripe, intent));
      expect(await balance()).toBe('0.00');
      await toppedUp('50.00');
      expect(await balance()).toBe('50.00');
      await deliver(...decide(stripe, intent, 'won'));
      expect(await balance()).toBe('53.00');
    });
  });

  describe('a payment that is late', () => {
    it('leaves the plan for the days of grace, then it is free, and paid again when it is paid', async () => {
      const one = await subscribed();
      await deliver(...failToPay(stripe, one, unixNow() - 6 * DAY));
      expect(await summary()).toMatchObject({ plan: { id: 'paid' }, subscription: { status: 'past_due' } });
      expect(await chore('endLate')).toBe(0);
      await service.db.query(`UPDATE payment_customers SET late_since = late_since - interval '2 days' WHERE workspace_id = $1`, [member.workspace.id]);
      expect(await chore('endLate')).toBe(1);
      expect(await summary()).toMatchObject({ plan: { id: 'free' }, subscription: { status: 'past_due' } });
      // A further invoice that is not paid begins no new grace.
      await deliver(...failToPay(stripe, one));
      expect((await summary()).plan.id).toBe('free');
      await deliver(...renew(stripe, one));
      expect(await summary()).toMatchObject({ plan: { id: 'paid' }, subscription: { status: 'active' } });
    }); // prettier-ignore
  });

  describe('the comparison', () => {
    it('finds what no event has told: payments, refunds and subscriptions', async () => {
      pay(stripe, await session({ topUp: '10.00' }));
      pay(stripe, await session({ plan: 'paid' }));
      expect(await balance()).toBe('0.00');
      await compareAfterGap();
      expect(await summary()).toMatchObject({ plan: { id: 'paid' }, topUp: { balance: '10.00' } });
      const intent = [...stripe.intents.values()].findLast((one) => 'millwright_workspace' in one.metadata);
      if (intent !== undefined) refund(stripe, intent, 250);
      // Each was compared just now.
      expect(await chore('compare')).toBe(0);
      await service.db.query(`UPDATE payment_customers SET compared_at = now() - interval '25 hours' WHERE workspace_id = $1`, [member.workspace.id]);
      expect(await chore('compare')).toBe(1);
      expect(await balance()).toBe('7.50');
    }); // prettier-ignore

    it('ends the subscription of a workspace that is deleted', async () => {
      const one = await subscribed();
      await service.db.query('DELETE FROM workspaces WHERE id = $1', [member.workspace.id]);
      await compareAfterGap();
      expect(one.status).toBe('canceled');
      const left = await service.db.query('SELECT 1 FROM payment_customers WHERE workspace_id = $1', [
        member.workspace.id,
      ]);
      expect(left).toEqual([]);
    });

    it('leaves the plan of a workspace that only topped up as the operator has set it', async () => {
      await toppedUp();
      await service.db.query(`UPDATE workspaces SET plan = 'paid' WHERE id = $1`, [member.workspace.id]);
      await compareAfterGap();
      expect(await summary()).toMatchObject({ plan: { id: 'paid' }, subscription: { status: 'none' } });
    });
  });
});
