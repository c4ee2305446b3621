import { Injectable } from '@nestjs/common';
import type { Stripe } from 'stripe';
import { Transactions } from '../../../platform/database/transactions.js';
import { JobHandler, JobWork, type Job } from '../../../platform/jobs/job-handler.js';
import { JobQueue } from '../../../platform/jobs/job-queue.js';
import { StripeClient } from './stripe-client.js';
import { idOf, StripeSync } from './stripe-sync.js';

const QUEUE = 'payments';

/** What an event is about: nothing else of it is kept. */
interface Subject {
  object: Kind;
  id: string;
}

type Reader = (sync: StripeSync, api: Stripe, id: string) => Promise<void>;

/** How each kind of object is read again, by its id. */
const READERS = {
  subscription: async (sync, api, id) => ofCustomer(sync, (await api.subscriptions.retrieve(id)).customer),
  invoice: async (sync, api, id) => ofCustomer(sync, (await api.invoices.retrieve(id)).customer),
  'checkout.session': async (sync, api, id) => {
    const { customer, payment_intent: payment, mode } = await api.checkout.sessions.retrieve(id);
    if (mode === 'subscription') await ofCustomer(sync, customer);
    else await ofPayment(sync, payment);
  },
  payment_intent: (sync, _api, id) => sync.payment(id),
  charge: async (sync, api, id) => ofPayment(sync, (await api.charges.retrieve(id)).payment_intent),
  refund: async (sync, api, id) => ofPayment(sync, (await api.refunds.retrieve(id)).payment_intent),
  dispute: async (sync, api, id) => ofPayment(sync, (await api.disputes.retrieve(id)).payment_intent),
} satisfies Record<string, Reader>;
type Kind = keyof typeof READERS;

type Named = Parameters<typeof idOf>[0];

async function ofCustomer(sync: StripeSync, customer: Named): Promise<void> {
  const id = idOf(customer);
  if (id !== null) await sync.subscriptions(id);
}

async function ofPayment(sync: StripeSync, payment: Named): Promise<void> {
  const id = idOf(payment);
  if (id !== null) await sync.payment(id);
}

/** Takes the events of Stripe (reference §14): each is a job that looks again, in any order, also twice and late. */
@Injectable()
export class StripeEvents {
  constructor(
    private readonly transactions: Transactions,
    private readonly jobs: JobQueue,
  ) {}

  /** One insert: when it is committed the event may be acknowledged. One about what is not looked at leaves nothing. */
  async take({ id: key, data }: Stripe.Event): Promise<void> {
    const { object, id } = data.object as { object: string; id?: string };
    if (!isKind(object) || id === undefined) return;
    await this.transactions.open((tx) => this.jobs.add(tx, QUEUE, { object, id } satisfies Subject, { key }));
  }
}

// What a killed process had begun is begun again soon.
@JobHandler(QUEUE, { leaseSeconds: 15 })
export class StripeEventWork extends JobWork<Subject> {
  constructor(
    private readonly stripe: StripeClient,
    private readonly sync: StripeSync,
  ) {
    super();
  }

  async handle({ data: { object, id } }: Job<Subject>): Promise<void> {
    try {
      await READERS[object](this.sync, this.stripe.api, id);
    } catch (error) {
      // It was deleted meanwhile, or is of another account of Stripe: looking again finds no more.
      if (!this.stripe.isMissing(error)) throw error;
    }
  }
}

const isKind = (object: string): object is Kind => Object.hasOwn(READERS, object);
