// Webhooks: addresses of a workspace's own that are told of events. What sends to them stands in src/work/deliveries.
import { Module } from '@nestjs/common';
import { ProjectsModule } from '../projects/projects.module.js';
import { WebhookDeliveriesController } from './webhook-deliveries.controller.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WebhookPurge } from './webhook-purge.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

@Module({
  imports: [ProjectsModule],
  controllers: [WebhooksController, WebhookDeliveriesController],
  providers: [WebhooksService, WebhookDeliveriesService, WebhookPurge],
})
export class WebhooksModule {}
