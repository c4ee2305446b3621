import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import type { PageRequest } from '../../platform/http/pages.js';
import { pageSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { ListDeliveriesQuery, RecoverWebhookDto } from './webhook.dto.js';
import {
  deliveryAnswer,
  deliverySchema,
  deliveryView,
  recoveredAnswer,
  wholeDeliveryAnswer,
  wholeDeliveryView,
} from './webhook.view.js';

@Controller('v1/webhooks/:webhookId')
export class WebhookDeliveriesController {
  constructor(private readonly deliveries: WebhookDeliveriesService) {}

  @Post('test')
  @HttpCode(202)
  @Endpoint({
    summary: 'Test a webhook',
    description: 'Sends `webhook.test` with one attempt, to a disabled webhook too.',
    policy: 'resource_write',
    stores: true,
    scopes: ['automations:write'],
    administrators: true,
    transaction: true,
    answer: deliveryAnswer,
  })
  async test(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('webhookId') webhookId: string) {
    return { delivery: deliveryView(await this.deliveries.test(auth, tx, webhookId)) };
  }

  @Post('recover')
  @HttpCode(202)
  @Endpoint({
    summary: 'Recover the events that a webhook has missed',
    description:
      'One delivery of each event since then, of the lifetime of the webhook and still in the log, that was neither delivered to it nor is pending. The oldest 10000 at once: ask again while `count` is that. A disabled webhook recovers none.',
    policy: 'resource_write',
    stores: true,
    scopes: ['automations:write'],
    administrators: true,
    transaction: true,
    answer: recoveredAnswer,
  })
  async recover(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('webhookId') webhookId: string,
    @Body() body: RecoverWebhookDto,
  ) {
    return { count: await this.deliveries.recover(auth, tx, webhookId, body) };
  }

  @Get('deliveries')
  @Endpoint({
    summary: 'List the deliveries of a webhook',
    description: 'Newest first. They are kept for 30 days.',
    policy: 'resource_read',
    scopes: ['automations:read'],
    administrators: true,
    answer: pageSchema('deliveries', deliverySchema),
  })
  async list(
    @Auth() auth: AuthContext,
    @Param('webhookId') webhookId: string,
    @Page(ListDeliveriesQuery) page: PageRequest<ListDeliveriesQuery>,
  ) {
    const { rows, nextCursor } = await this.deliveries.list(auth, webhookId, page);
    return { deliveries: rows.map(deliveryView), nextCursor };
  }

  @Get('deliveries/:deliveryId')
  @Endpoint({
    summary: 'Read a delivery',
    description: 'With what is signed, and every attempt.',
    policy: 'resource_read',
    scopes: ['automations:read'],
    administrators: true,
    answer: wholeDeliveryAnswer,
  })
  async get(@Auth() auth: AuthContext, @Param('webhookId') webhookId: string, @Param('deliveryId') id: string) {
    return { delivery: wholeDeliveryView(await this.deliveries.get(auth, webhookId, id)) };
  }

  @Post('deliveries/:deliveryId/redeliver')
  @HttpCode(202)
  @Endpoint({
    summary: 'Deliver an event again',
    description:
      'A new delivery of the same event, whatever became of this one. To a disabled webhook it is cancelled at once.',
    policy: 'resource_write',
    stores: true,
    scopes: ['automations:write'],
    administrators: true,
    transaction: true,
    answer: deliveryAnswer,
  })
  async redeliver(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('webhookId') webhookId: string,
    @Param('deliveryId') id: string,
  ) {
    return { delivery: deliveryView(await this.deliveries.redeliver(auth, tx, webhookId, id)) };
  }
}
