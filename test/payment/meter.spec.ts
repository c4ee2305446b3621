import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { paymentCheck } from '../../src/operator/doctor/payment.check.js';
import { StripeMeter } from '../../src/resources/billing/stripe/stripe-meter.js';
import { ChoreRunner } from '../../src/platform/chores/chore-runner.js';
import { bootApp, useService } from '../harness/app.js';
import { recordStep } from '../harness/billing.js';
import { makeMember, type Member } from '../harness/client.js';
import { findings } from '../harness/doctor.js';
import { temporaryFolder } from '../harness/service.js';
import { FakeStripe } from './fake-stripe.js';

const DAY_MS = 86_400_000;

describe('The meter of Stripe (reference §14)', () => {
  const folder = temporaryFolder();
  let stripe: FakeStripe;
  const service = useService(async () => {
    stripe = await FakeStripe.start();
    const file = join(folder.path, 'config.json');
    writeFileSync(file, JSON.stringify(stripe.config({ meter: 'millwright_cost', meterPrice: 'price_cost' })));
    return bootApp({ env: { CONFIG_FILE: file, ...stripe.env } });
  });
  afterAll(async () => {
    await stripe.stop();
    folder.remove();
  });
  let member: Member;
  let customer: string;
  beforeEach(async () => {
    member = await makeMember(service, { plan: 'free', role: 'owner' });
    await member.client.post('/v1/billing/portal', {});
    const [row] = await service.db.query<{ customer_id: string }>(
      `UPDATE payment_customers SET created_at = now() - interval '60 days' WHERE workspace_id = $1 RETURNING customer_id`,
      [member.workspace.id],
    );
    customer = row?.customer_id ?? '';
  });

  const report = () =>
    service.app.get(ChoreRunner, { strict: false }).run(service.app.get(StripeMeter, { strict: false }), 'report');
  const ofMember = () =>
    [...stripe.meterEvents.values()].filter((one) => one.payload['stripe_customer_id'] === customer);
  const values = () => ofMember().map(({ payload }) => Number(payload['value']));
  const spend = (costMicros: number | null, at = new Date(Date.now() - 60_000)) =>
    recordStep(service, member, { costMicros, at });

  it('is told the cost of each entry once, by the id of its message, at its time', async () => {
    const at = new Date('2026-11-30T12:00:00.250Z');
    const recent = new Date(Math.max(at.getTime(), Date.now() - DAY_MS));
    await spend(2_500, recent);
    await spend(1);
    await report();
    expect(values()).toEqual([2_500, 1]);
    const rows = await service.db.query<{ id: string }>(
      `SELECT message_id AS id FROM usage_ledger WHERE workspace_id = $1 ORDER BY at`,
      [member.workspace.id],
    );
    expect(ofMember().map(({ identifier }) => identifier)).toEqual(rows.map(({ id }) => id));
    expect(ofMember()[0]).toMatchObject({
      event_name: 'millwright_cost',
      timestamp: Math.floor(recent.getTime() / 1000),
    });
    expect(await report()).toBe(0);
    expect(values()).toEqual([2_500, 1]);
  });

  it('is told of entries that come late, whatever was reported before', async () => {
    await spend(10);
    await report();
    await spend(20, new Date(Date.now() - DAY_MS));
    await report();
    expect(values()).toEqual([10, 20]);
    // As after the restart of a process, and once a day: the oldest are looked for too, and have the oldest time that Stripe takes.
    await spend(30, new Date(Date.now() - 40 * DAY_MS));
    Object.assign(service.app.get(StripeMeter, { strict: false }), { lookedAtAll: 0 });
    await report();
    expect(values()).toEqual([10, 20, 30]);
    expect(ofMember()[2]?.timestamp).toBeGreaterThan(Date.now() / 1000 - 35 * 86_400);
  });

  it('is told nothing of what costs nothing, has no prices, or was used before the workspace was a customer', async () => {
    await spend(0);
    await spend(null);
    await spend(10, new Date(Date.now() - 61 * DAY_MS));
    const other = await makeMember(service, { role: 'owner' });
    await recordStep(service, other, { costMicros: 10 });
    await report();
    expect(values()).toEqual([]);
  });

  it('counts once what a process reported that was killed before it kept that', async () => {
    await spend(10);
    await report();
    await service.db.query('DELETE FROM meter_reports WHERE workspace_id = $1', [member.workspace.id]);
    expect(await report()).toBe(1);
    await service.db.query('DELETE FROM meter_reports WHERE workspace_id = $1', [member.workspace.id]);
    // A day later Stripe has forgotten the key of the request, and still has the event.
    stripe.forgetKeys();
    expect(await report()).toBe(1);
    expect(values()).toEqual([10]);
    expect(stripe.repeatedMeterEvents).toHaveLength(1);
    expect(await report()).toBe(0);
  });

  it('is asked once about what it refuses for good, which holds up nothing else and is told in the log and by doctor', async () => {
    const refused = customer;
    stripe.unmetered.add(refused);
    await spend(5, new Date(Date.now() - 120_000));
    const other = await makeMember(service, { plan: 'free', role: 'owner' });
    await other.client.post('/v1/billing/portal', {});
    await service.db.query(`UPDATE payment_customers SET created_at = now() - interval '1 day' WHERE workspace_id = $1`, [other.workspace.id]);
    await recordStep(service, other, { costMicros: 7 });
    const asked = () => stripe.log.filter((one) => one === 'POST /v1/billing/meter_events').length;
    const [before, errors] = [asked(), jest.spyOn(Logger.prototype, 'error')];
    const line = () => findings([paymentCheck], { env: { DATABASE_URL: service.db.url }, config: stripe.config({ meter: 'millwright_cost' }) });
    expect(await line()).toMatchObject([{ name: 'payment', status: 'ok' }]);
    expect(await report()).toBe(2);
    expect(await report()).toBe(0);
    expect(asked()).toBe(before + 2);
    expect([...stripe.meterEvents.values()].at(-1)?.payload['value']).toBe('7');
    expect(errors.mock.calls.map(([said]) => String(said)).filter((said) => said.startsWith('Stripe'))).toEqual([
      'Stripe refuses the cost of 1 entries of the ledger, and is not asked again: The customer has no meter.',
    ]);
    errors.mockRestore();
    expect(await line()).toMatchObject([{ status: 'warn', detail: expect.stringContaining('The customer has no meter.') }]);
    // As docs/operating.md has it.
    stripe.unmetered.clear();
    await service.db.query('DELETE FROM meter_reports WHERE refusal IS NOT NULL');
    expect(await report()).toBe(1);
    expect(values()).toEqual([5]);
  }); // prettier-ignore

  it('is asked again about what fails otherwise', async () => {
    await spend(5);
    stripe.away = true;
    await report().catch(() => undefined);
    stripe.away = false;
    expect(await service.db.query('SELECT 1 FROM meter_reports WHERE workspace_id = $1', [member.workspace.id])).toEqual([]);
    expect(await report()).toBe(1);
    expect(values()).toEqual([5]);
  }); // prettier-ignore

  it('has its price in a new subscription', async () => {
    await member.client.post('/v1/billing/checkout', { plan: 'paid' });
    expect([...stripe.sessions.values()].at(-1)?.asked).toMatchObject({
      'line_items[0][price]': 'price_paid',
      'line_items[0][quantity]': '1',
      'line_items[1][price]': 'price_cost',
    });
  });
});
