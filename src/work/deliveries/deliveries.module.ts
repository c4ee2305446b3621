// What sends the deliveries of webhooks. Only in processes that work.
import { Module } from '@nestjs/common';
import { DeliveryClaims } from './delivery-claims.js';
import { DeliveryFigures } from './delivery-figures.js';
import { DeliverySender } from './delivery-sender.js';
import { WebhookEgress } from './webhook-egress.js';

@Module({ providers: [DeliveryClaims, DeliverySender, DeliveryFigures, WebhookEgress] })
export class DeliveriesModule {}
