// Payment by Stripe: there with `billing` of CONFIG_FILE alone.
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { RateLimitModule } from '../../../access/rate-limit/rate-limit.module.js';
import type { Env } from '../../../platform/config/env.js';
import { PAYMENT_PROVIDER } from '../billing-provider.js';
import { StripeBilling } from './stripe-billing.js';
import { StripeClient } from './stripe-client.js';
import { StripeEvents, StripeEventWork } from './stripe-events.js';
import { StripeHookController } from './stripe-hook.controller.js';
import { StripeMeter } from './stripe-meter.js';
import { StripeSync } from './stripe-sync.js';
import { StripeUpkeep } from './stripe-upkeep.js';

/** Global: `Billing` finds the provider wherever it is. */
@Global()
@Module({})
export class StripeModule {
  static with(env: Env): DynamicModule[] {
    if (env.file.billing === undefined) return [];
    return [
      {
        module: StripeModule,
        imports: [RateLimitModule],
        controllers: [StripeHookController],
        providers: [
          StripeClient,
          StripeBilling,
          StripeSync,
          StripeEvents,
          StripeEventWork,
          StripeUpkeep,
          StripeMeter,
          { provide: PAYMENT_PROVIDER, useExisting: StripeBilling },
        ],
        exports: [PAYMENT_PROVIDER],
      },
    ];
  }
}
