import type { IncomingHttpHeaders } from 'node:http';
import { Module } from '@nestjs/common';
import {
  defineExtension,
  headerOf,
  hexDigest,
  type HookRequest,
  IntegrationProvider,
  isFresh,
  isSigned,
  type Parsed,
  Plugin,
} from 'millwright';

const DESCRIPTION = {
  slug: 'stripe',
  name: 'Stripe',
  description: 'Invoices and disputes of a Stripe account.',
  category: 'payments',
  triggerEvents: [
    { name: 'invoice.payment_failed', description: 'An invoice could not be paid.' },
    { name: 'charge.dispute.created', description: 'A payment was disputed.' },
  ],
  // A time, and the id stands in the body.
  signsId: true,
};

@Plugin(IntegrationProvider, 'stripe')
export class StripeProvider extends IntegrationProvider {
  describe() {
    return DESCRIPTION;
  }

  // t=1492774577,v1=5257a869…,v1=6ffbb59b… (docs.stripe.com/webhooks, "Verify manually")
  verify({ headers, body, receivedAt }: HookRequest, secrets: readonly string[]) {
    const fields = (headerOf(headers, 'stripe-signature') ?? '').split(',').map((field) => field.split('='));
    const [, time = ''] = fields.find(([name]) => name === 't') ?? [];
    if (!/^\d{1,12}$/.test(time) || !isFresh(Number(time) * 1000, receivedAt, 300_000)) return false;
    const digests = fields.map(([name, value]) => (name === 'v1' ? hexDigest(value) : null));
    return isSigned(secrets, [`${time}.`, body], digests);
  }

  parseEvent(_headers: IncomingHttpHeaders, payload: unknown): Parsed {
    const { id, type } = payload as { id?: unknown; type?: unknown };
    return {
      type: 'event',
      event: typeof type === 'string' ? type : 'unknown',
      deliveryId: typeof id === 'string' ? id : null,
    };
  }
}

@Module({ providers: [StripeProvider] })
class StripeModule {}

export const STRIPE = defineExtension({ name: 'stripe', module: StripeModule });
