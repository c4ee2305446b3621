import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
import { rateLimited } from '../../../access/rate-limit/rate-limit-headers.js';
import { RateLimiter } from '../../../access/rate-limit/rate-limiter.js';
import { ApiError } from '../../../platform/http/api-error.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { networkOf } from '../../../platform/http/network.js';
import { readBody } from '../../../platform/http/read-body.js';
import { named } from '../../../platform/http/schema.js';
import { StripeClient } from './stripe-client.js';
import { StripeEvents } from './stripe-events.js';

const SENDER = 'stripe';

@Controller('hooks/billing')
export class StripeHookController {
  constructor(
    private readonly stripe: StripeClient,
    private readonly events: StripeEvents,
    private readonly limiter: RateLimiter,
  ) {}

  @Post('stripe')
  @HttpCode(200)
  @Endpoint({
    summary: 'Take an event of Stripe',
    description:
      'Signed by Stripe over the bytes of the body. It is kept when it is answered, and looked after soon after.',
    policy: null,
    scopes: 'public',
    body: 'raw',
    query: 'ignored',
    answer: named('PaymentEventTaken', z.strictObject({ received: z.literal(true) })),
  })
  async receive(@Req() req: Request) {
    const body = await readBody(req);
    const signature = req.headers['stripe-signature'];
    const event = typeof signature === 'string' ? this.stripe.eventOf(body, signature) : null;
    if (event === null) throw await this.refused(req);
    await this.events.take(event);
    return { received: true };
  }

  private async refused(req: Request): Promise<ApiError> {
    const charge = await this.limiter.chargeRefusedHook(SENDER, networkOf(req.ip ?? ''));
    if (!charge.allowed) return rateLimited('deliveries to this address', charge);
    const message = 'This event is not signed as it is expected; check the secret of the address and the clock.';
    return new ApiError('invalid_credential', message);
  }
}
