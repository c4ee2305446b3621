import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StripeUpkeep } from '../../src/resources/billing/stripe/stripe-upkeep.js';
import { ChoreRunner } from '../../src/platform/chores/chore-runner.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { FAR_LIMITS } from '../harness/limits.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';
import { FakeStripe } from './fake-stripe.js';
import { cancel, cancelAtEnd, decide, dispute, failToPay, pay, refund, renew } from './stripe-people.js';
import type { FakeEvent, FakeIntent, FakeSubscription } from './stripe-objects.js';

const [EVENTS, WORKSPACES, KILLS] = LONG ? [2_000, 24, 12] : [200, 8, 2];
const LOST = 0.15;
const DOUBLED = 0.3;
/** Of what Stripe is asked: answered with 500. */
const FAILS = 0.02;
const AT_ONCE = 8;
const WITHIN = { within: 240_000 };

describe('Events that are lost, doubled, late and in any order, while processes are killed (reference §14)', () => {
  const folder = temporaryFolder();
  const random = numbers(SEED);
  const pick = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  let stripe: FakeStripe;
  let db: TestDatabase;
  let file: string;
  let members: Member[];
  const processes = new Map<'api' | 'first' | 'second', ServiceProcess>();

  const service = useService(async () => {
    stripe = await FakeStripe.start();
    db = await createDatabase();
    file = join(folder.path, 'config.json');
    writeFileSync(file, JSON.stringify({ ...FAR_LIMITS, ...stripe.config() }));
    return bootApp({ db, env: { CONFIG_FILE: file, ...stripe.env } });
  });
  const start = async (name: 'api' | 'first' | 'second') => {
    const started = await ServiceProcess.spawn({
      DATABASE_URL: db.url,
      DATA_DIR: folder.path,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      ROLE: name === 'api' ? 'api' : 'worker',
      CONFIG_FILE: file,
      ...stripe.env,
    });
    processes.set(name, started);
    await started.ready(WITHIN.within);
  };
  beforeAll(async () => {
    const made = Array.from({ length: WORKSPACES }, () => makeMember(service, { plan: 'free', role: 'owner' }));
    members = await Promise.all(made);
    for (const name of ['api', 'first', 'second'] as const) await start(name);
  }, 900_000);
  afterAll(async () => {
    await Promise.all([...processes.values()].map((one) => one.end('SIGKILL')));
    await db.drop();
    await stripe.stop();
    folder.remove();
  }, 120_000);

  /** Sends it until it is answered, as people and Stripe do. */
  const send = async (path: string, headers: Record<string, string>, body: string): Promise<{ url?: string }> => {
    const answer = await until(
      `an answer of ${path}`,
      async () => {
        const url = processes.get('api')?.url ?? '';
        const response = await fetch(`${url}${path}`, { method: 'POST', headers, body }).catch(() => null);
        if (response === null || response.status >= 500) return null;
        expect([path, response.status, await response.clone().text()]).toEqual([path, 200, expect.anything()]);
        return response;
      },
      { ...WITHIN, every: 200 },
    );
    return (await answer.json()) as { url?: string };
  };
  const deliver = async (event: FakeEvent) => {
    const { headers, raw } = stripe.delivery(event);
    await send('/hooks/billing/stripe', headers, raw);
  };
  const checkout = async ({ key }: Member, order: object): Promise<FakeEvent[]> => {
    const headers = { Authorization: `Bearer ${key.secret}`, 'Content-Type': 'application/json' };
    const { url = '' } = await send('/v1/billing/checkout', headers, JSON.stringify(order));
    const id = url.split('/').at(-1) ?? '';
    // To the portal is led who has a subscription as far as the service knows.
    return stripe.sessions.has(id) ? pay(stripe, id) : [];
  };

  const customerOf = ({ workspace }: Member) =>
    [...stripe.customers.values()].find((one) => one.metadata['millwright_workspace'] === workspace.id)?.id ?? '';
  const topUpsOf = (member: Member) => {
    const customer = customerOf(member);
    return [...stripe.intents.values()].filter(
      (one) => one.customer === customer && 'millwright_workspace' in one.metadata,
    );
  };
  const isDisputed = ({ id }: FakeIntent) => [...stripe.disputes.values()].find((one) => one.payment_intent === id);

  /** One thing that somebody does at Stripe, and what Stripe tells of it. */
  const act = async (member: Member): Promise<FakeEvent[]> => {
    const chance = random();
    const intent = pick(topUpsOf(member));
    if (chance < 0.35 || intent === undefined) return checkout(member, { topUp: random() < 0.5 ? '10.00' : '50.00' });
    const disputed = isDisputed(intent);
    if (chance < 0.5 && disputed === undefined) return refund(stripe, intent, 1 + Math.floor(random() * 700));
    if (chance < 0.6 && disputed?.status === 'needs_response') return decide(stripe, intent, random() < 0.5 ? 'won' : 'lost');
    if (chance < 0.6 && disputed === undefined) return dispute(stripe, intent);
    const one = stripe.subscriptionOf(customerOf(member));
    if (one === undefined || one.status === 'canceled') return checkout(member, { plan: 'paid' });
    const acts = [() => renew(stripe, one), () => failToPay(stripe, one), () => cancelAtEnd(one, random() < 0.5), () => cancel(one)];
    return pick(acts)?.() ?? [];
  }; // prettier-ignore

  const killOne = async () => {
    const name = pick(['api', 'first', 'second'] as const) ?? 'first';
    await processes.get(name)?.end('SIGKILL');
    await start(name);
  };

  /** By what stands at the fake alone. */
  const expectedOf = (member: Member) => {
    const cents = topUpsOf(member).map((intent) => {
      const { amount_refunded: refunded = 0 } = stripe.charges.get(intent.latest_charge) ?? {};
      const taken = isDisputed(intent);
      return intent.amount - refunded - (taken === undefined || taken.status === 'won' ? 0 : taken.amount);
    });
    return { micros: cents.reduce((sum, one) => sum + one, 0) * 10_000, ...subscriptionIn(stripe.subscriptionOf(customerOf(member))) };
  }; // prettier-ignore
  const found = () =>
    db.query<{ id: string; micros: number; plan: string; status: string; renews: number | null; ends: number | null }>(
      `SELECT id, top_up_micros::float8 AS micros, plan, subscription_status AS status, extract(epoch FROM renews_at)::float8 AS renews,
         extract(epoch FROM ends_at)::float8 AS ends FROM workspaces`,
    );
  const wrong = async () => {
    const rows = new Map((await found()).map(({ id, ...row }) => [id, row]));
    return members
      .map((member) => ({ found: rows.get(member.workspace.id), expected: expectedOf(member) }))
      .filter((one) => JSON.stringify(one.found) !== JSON.stringify(one.expected));
  };

  it(`leave each workspace as it stands at Stripe, to the cent, after one comparison: ${EVENTS} events`, async () => {
    process.stderr.write(`\nPayments, MILLWRIGHT_SEED=${SEED}\n`);
    stripe.fails = () => Math.random() < FAILS;
    const waiting: FakeEvent[] = [];
    let [made, lost, kills] = [0, 0, 0];
    let killing = Promise.resolve();
    const takeSome = (count: number) =>
      Array.from({ length: Math.min(count, waiting.length) }, () => waiting.splice(Math.floor(random() * waiting.length), 1))
        .flat();
    while (made < EVENTS) {
      const member = pick(members);
      const events = member === undefined ? [] : await act(member);
      made += events.length;
      // All that tells of an act: another event about the same thing would tell of it too.
      if (random() < LOST) lost += events.length;
      else for (const event of events) waiting.push(event, ...(random() < DOUBLED ? [event] : []));
      if (waiting.length > 40) await Promise.all(takeSome(AT_ONCE).map(deliver));
      if (kills < KILLS && made > ((kills + 1) * EVENTS) / (KILLS + 1)) {
        kills += 1;
        killing = killing.then(killOne);
      }
    }
    while (waiting.length > 0) await Promise.all(takeSome(AT_ONCE).map(deliver));
    await killing;
    expect([kills, lost > 0]).toEqual([KILLS, true]);
    stripe.fails = () => false;
    const left = () => db.query(`SELECT 1 FROM jobs WHERE queue = 'payments'`);
    await until('the jobs to be done', async () => (await left()).length === 0, WITHIN);
    const before = await wrong();
    process.stderr.write(`${made} events, ${lost} lost, ${kills} kills: ${before.length} of ${WORKSPACES} workspaces differ before the comparison.\n`);

    // Else the comparison would have nothing to find.
    expect(before.length).toBeGreaterThan(0);

    await db.query(`INSERT INTO payment_contact (answered_at) VALUES (now() - interval '2 hours')
      ON CONFLICT (one) DO UPDATE SET answered_at = excluded.answered_at`);
    const upkeep = service.app.get(StripeUpkeep, { strict: false });
    const compared = await until('the comparison', () => service.app.get(ChoreRunner, { strict: false }).run(upkeep, 'compare'), WITHIN);
    expect(compared).toBeGreaterThan(0);
    expect(await wrong()).toEqual([]);
    // Each payment is one row: none was credited twice.
    const [sum] = await db.query<{ rows: number; micros: number }>(
      'SELECT count(*)::int AS rows, sum(paid_micros)::float8 AS micros FROM payments',
    );
    const intents = members.flatMap(topUpsOf);
    expect(sum).toEqual({ rows: intents.length, micros: intents.reduce((all, one) => all + one.amount * 10_000, 0) });
  }, 1_800_000); // prettier-ignore
});

function subscriptionIn(one: FakeSubscription | undefined) {
  if (one === undefined) return { plan: 'free', status: 'none', renews: null, ends: null };
  const end = one.items.data[0]?.current_period_end ?? 0;
  if (one.status === 'canceled') return { plan: 'free', status: 'canceled', renews: null, ends: one.ended_at };
  const ends = one.cancel_at_period_end ? end : null;
  return { plan: 'paid', status: one.status, renews: ends === null ? end : null, ends };
}
