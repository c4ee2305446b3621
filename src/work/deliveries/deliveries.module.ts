// What sends the deliveries of webhooks. Only in processes that work.
import { type DynamicModule, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import type { Env } from '../../platform/config/env.js';
import { LocalSignal } from '../../platform/signals/local-signal.js';
import { DeliveryClaims } from './delivery-claims.js';
import { DeliveryFigures } from './delivery-figures.js';
import { DeliverySender } from './delivery-sender.js';
import { WebhookEgress } from './webhook-egress.js';

/** Without Redis a request of this process that makes work calls the sender itself: it has written events too. */
@Injectable()
class LocalDeliveries implements OnModuleInit {
  constructor(
    private readonly sender: DeliverySender,
    private readonly signal: LocalSignal,
  ) {}

  onModuleInit(): void {
    this.signal.onRing(() => this.sender.wake());
  }
}

@Module({})
export class DeliveriesModule {
  static with(env: Env): DynamicModule {
    const bells = env.variables.REDIS_URL === undefined ? [LocalDeliveries] : [];
    return {
      module: DeliveriesModule,
      providers: [DeliveryClaims, DeliverySender, DeliveryFigures, WebhookEgress, ...bells],
    };
  }
}
