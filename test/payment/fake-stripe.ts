// The routes of Stripe's API that the service uses, over HTTP. What they answer is held against the types of Stripe's own package.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Stripe } from 'stripe';
import {
  type Fields,
  type FakeCharge,
  type FakeCustomer,
  type FakeDispute,
  type FakeEvent,
  type FakeIntent,
  type FakeInvoice,
  type FakeMeterEvent,
  type FakeRefund,
  type FakeSession,
  type FakeSubscription,
  fieldsOf,
  numbered,
  page,
  unixNow,
} from './stripe-objects.js';

/** With which a request is refused: as Stripe words it. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly error: { type: string; code?: string; message: string },
  ) {
    super(error.message);
  }
}

const missing = (id: string) =>
  new Refusal(404, { type: 'invalid_request_error', code: 'resource_missing', message: `No such object: '${id}'` });

interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  body: Fields;
  key: string | null;
}

export class FakeStripe {
  readonly secretKey = 'sk_test_of_the_tests';
  readonly webhookSecret = 'whsec_of_the_tests';
  readonly customers = new Map<string, FakeCustomer>();
  readonly sessions = new Map<string, FakeSession & { asked: Fields }>();
  readonly subscriptions = new Map<string, FakeSubscription>();
  readonly invoices = new Map<string, FakeInvoice>();
  readonly intents = new Map<string, FakeIntent>();
  readonly charges = new Map<string, FakeCharge>();
  readonly refunds = new Map<string, FakeRefund>();
  readonly disputes = new Map<string, FakeDispute>();
  readonly meterEvents = new Map<string, FakeMeterEvent>();
  /** Meter events that came again: Stripe refuses them. */
  readonly repeatedMeterEvents: string[] = [];
  /** Customers of whom it takes no meter events. */
  readonly unmetered = new Set<string>();
  /** Of each request: `GET /v1/customers`. */
  readonly log: string[] = [];
  /** Answers no more. */
  away = false;
  /** Holds back the answer of the next request that it fits, which was made out before. */
  held: { request: string; until: Promise<void>; reached: () => void } | null = null;
  /** Sessions that are open and cannot be closed, because a payment is under way. */
  readonly beingPaid = new Set<string>();
  /** Decides whether a request is answered with 500. */
  fails: () => boolean = () => false;
  private readonly replies = new Map<string, { body: string; answer: object }>();
  private readonly server: Server = createServer((req, res) => void this.take(req, res));
  private readonly signer = new Stripe('sk_test_unused');

  static async start(): Promise<FakeStripe> {
    const fake = new FakeStripe();
    await new Promise<void>((resolve) => fake.server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** What CONFIG_FILE has, and the variables beside it. */
  config(more: object = {}) {
    const secrets = { secretKeyEnv: 'STRIPE_KEY', webhookSecretEnv: 'STRIPE_HOOK' };
    const billing = {
      provider: 'stripe' as const,
      ...secrets,
      prices: { paid: 'price_paid' },
      topUps: ['10.00', '50.00'],
    };
    return { billing: { ...billing, baseUrl: this.url, ...more } };
  }

  get env() {
    return { STRIPE_KEY: this.secretKey, STRIPE_HOOK: this.webhookSecret };
  }

  /** A request as Stripe delivers an event: signed by Stripe's own package. */
  delivery(event: FakeEvent, { secret = this.webhookSecret, timestamp = unixNow() } = {}) {
    const payload = JSON.stringify(event);
    const signature = this.signer.webhooks.generateTestHeaderString({ payload, secret, timestamp });
    return { headers: { 'Content-Type': 'application/json', 'Stripe-Signature': signature }, raw: payload };
  }

  /** As Stripe does with keys of requests after a day. */
  forgetKeys(): void {
    this.replies.clear();
  }

  subscriptionOf(customer: string): FakeSubscription | undefined {
    return [...this.subscriptions.values()].filter((one) => one.customer === customer).at(-1);
  }

  private async take(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const { pathname: path, searchParams: query } = new URL(req.url ?? '', this.url);
    const method = req.method ?? '';
    this.log.push(`${method} ${path}`);
    if (this.away) return void req.socket.destroy();
    const raw = Buffer.concat(chunks).toString();
    const key = req.headers['idempotency-key'];
    try {
      if (req.headers.authorization !== `Bearer ${this.secretKey}`) {
        throw new Refusal(401, { type: 'invalid_request_error', message: 'Invalid API Key provided' });
      }
      if (this.fails()) throw new Refusal(500, { type: 'api_error', message: 'Something went wrong' });
      const asked = { method, path, query, body: fieldsOf(raw), key: typeof key === 'string' ? key : null };
      const answer = JSON.stringify(this.once(asked, raw));
      const { held } = this;
      if (held?.request === `${method} ${path}`) {
        this.held = null;
        held.reached();
        await held.until;
      }
      send(res, 200, answer);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      send(res, error.status, JSON.stringify({ error: error.error }));
    }
  }

  /** A POST with the key of an earlier one gets its answer, and is refused with another body. */
  private once(asked: Asked, raw: string): object {
    const { method, key } = asked;
    if (method !== 'POST' || key === null) return this.answer(asked);
    const before = this.replies.get(key);
    if (before !== undefined && before.body !== raw) {
      throw new Refusal(400, { type: 'idempotency_error', message: 'Keys can only be used with the same parameters' });
    }
    const answer = before?.answer ?? this.answer(asked);
    this.replies.set(key, { body: raw, answer });
    return answer;
  }

  private answer(asked: Asked): object {
    const { method, path, query } = asked;
    const [, , family = '', ...rest] = path.split('/');
    const name = ['checkout', 'billing', 'billing_portal'].includes(family)
      ? `${family}/${rest.shift() ?? ''}`
      : family;
    const [id] = rest;
    const customer = query.get('customer');
    const ofCustomer = <T extends { customer: unknown }>(all: Map<string, T>) =>
      [...all.values()].filter((one) => one.customer === customer);
    switch (`${method} ${name}`) {
      case 'POST customers':
        return this.makeCustomer(asked.body);
      case 'GET customers':
        return id === undefined ? page(path, [...this.customers.values()], query) : found(this.customers, id);
      case 'POST checkout/sessions':
        return rest.length === 2 ? this.expire(id) : this.makeSession(asked.body);
      case 'GET checkout/sessions':
        if (id !== undefined) return found(this.sessions, id);
        return page(
          path,
          ofCustomer(this.sessions).filter(({ status }) => status === query.get('status')),
          query,
        );
      case 'POST billing_portal/sessions': {
        found(this.customers, asked.body['customer'] ?? '');
        return {
          id: numbered('bps'),
          object: 'billing_portal.session',
          url: `https://billing.stripe.test/${numbered('p')}`,
        };
      }
      case 'GET subscriptions':
        if (id !== undefined) return this.shown(found(this.subscriptions, id));
        return page(
          path,
          ofCustomer(this.subscriptions).map((one) => this.shown(one)),
          query,
        );
      case 'DELETE subscriptions':
        return Object.assign(found(this.subscriptions, id), { status: 'canceled', ended_at: unixNow() });
      case 'GET invoices':
        return found(this.invoices, id);
      case 'GET payment_intents':
        if (id !== undefined) return this.whole(found(this.intents, id));
        return page(
          path,
          ofCustomer(this.intents).map((one) => this.whole(one)),
          query,
        );
      case 'GET charges':
        return found(this.charges, id);
      case 'GET refunds':
        return found(this.refunds, id);
      case 'GET disputes':
        if (id !== undefined) return found(this.disputes, id);
        return page(
          path,
          [...this.disputes.values()].filter((one) => one.payment_intent === query.get('payment_intent')),
          query,
        );
      case 'POST billing/meter_events':
        return this.meter(asked.body);
      default:
        throw new Refusal(404, {
          type: 'invalid_request_error',
          message: `Unrecognized request URL (${method}: ${path})`,
        });
    }
  }

  private makeCustomer(body: Fields): FakeCustomer {
    const metadata = { millwright_workspace: body['metadata[millwright_workspace]'] ?? '' };
    const made: FakeCustomer = { id: numbered('cus'), object: 'customer', created: unixNow(), metadata };
    this.customers.set(made.id, made);
    return made;
  }

  private makeSession(body: Fields): FakeSession {
    const mode = body['mode'] === 'subscription' ? 'subscription' : 'payment';
    const { customer = '' } = body;
    found(this.customers, customer);
    const id = numbered('cs');
    const unpaid = { status: 'open', payment_status: 'unpaid', payment_intent: null } as const;
    const made = {
      ...{ id, object: 'checkout.session' as const, mode, customer, ...unpaid },
      url: `https://checkout.stripe.test/${id}`,
    };
    this.sessions.set(id, { ...made, asked: body });
    return made;
  }

  private expire(id: string | undefined): FakeSession {
    const session = found(this.sessions, id);
    if (session.status !== 'open' || this.beingPaid.has(session.id))
      throw new Refusal(400, { type: 'invalid_request_error', message: 'This Checkout Session cannot be expired.' });
    return Object.assign(session, { status: 'expired' as const, url: null });
  }

  private meter(body: Fields): FakeMeterEvent {
    const { identifier = '', event_name = '', timestamp = '' } = body;
    if (this.meterEvents.has(identifier)) {
      this.repeatedMeterEvents.push(identifier);
      const message = `An event already exists with identifier ${identifier}.`;
      throw new Refusal(400, { type: 'invalid_request_error', code: 'resource_already_exists', message });
    }
    const payload = {
      stripe_customer_id: body['payload[stripe_customer_id]'] ?? '',
      value: body['payload[value]'] ?? '',
    };
    if (this.unmetered.has(payload.stripe_customer_id)) {
      throw new Refusal(400, { type: 'invalid_request_error', message: 'The customer has no meter.' });
    }
    const made: FakeMeterEvent = { object: 'billing.meter_event', identifier, event_name, payload, timestamp: Number(timestamp), created: unixNow() }; // prettier-ignore
    this.meterEvents.set(identifier, made);
    return made;
  }

  /** With its invoice in full, as it is asked for. */
  private shown(one: FakeSubscription) {
    return { ...one, latest_invoice: this.invoices.get(one.latest_invoice) ?? null };
  }

  private whole(one: FakeIntent) {
    return { ...one, latest_charge: this.charges.get(one.latest_charge) ?? null };
  }
}

function found<T>(all: Map<string, T>, id: string | undefined): T {
  const one = all.get(id ?? '');
  if (one === undefined) throw missing(id ?? '');
  return one;
}

function send(res: ServerResponse, status: number, json: string): void {
  res.writeHead(status, { 'Content-Type': 'application/json', 'Request-Id': numbered('req') }).end(json);
}
