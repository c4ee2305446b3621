import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { PageQuery, type PageRequest } from '../../platform/http/pages.js';
import { deletedSchema, pageSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import { ChangeWebhookDto, CreateWebhookDto, RotateWebhookSecretDto } from './webhook.dto.js';
import { madeWebhookAnswer, webhookAnswer, webhookSchema, webhookView } from './webhook.view.js';
import { type MadeWebhook, WebhooksService } from './webhooks.service.js';

const DAY_SECONDS = 86_400;
const made = ({ webhook, secret }: MadeWebhook) => ({ webhook: webhookView(webhook), secret });

@Controller('v1/webhooks')
export class WebhooksController {
  constructor(private readonly webhooks: WebhooksService) {}

  @Get()
  @Endpoint({
    summary: 'List webhooks',
    description: 'Newest first.',
    policy: 'resource_read',
    scopes: ['automations:read'],
    administrators: true,
    answer: pageSchema('webhooks', webhookSchema),
  })
  async list(@Auth() auth: AuthContext, @Page(PageQuery) page: PageRequest) {
    const { rows, nextCursor } = await this.webhooks.list(auth, page);
    return { webhooks: rows.map(webhookView), nextCursor };
  }

  // No Idempotency-Key here and in `secret`: a stored answer would hold the secret.
  @Post()
  @Endpoint({
    summary: 'Create a webhook',
    description:
      'It is told of what happens from now on. The secret is in this answer alone; an answer that is lost is made good by a new secret. At most 20 in a workspace, one for each `url`.',
    policy: 'resource_write',
    stores: true,
    scopes: ['automations:write'],
    administrators: true,
    transaction: true,
    location: '/v1/webhooks/{webhook.id}',
    answer: madeWebhookAnswer,
  })
  async create(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: CreateWebhookDto) {
    return made(await this.webhooks.create(auth, tx, body));
  }

  @Get(':webhookId')
  @Endpoint({
    summary: 'Read a webhook',
    policy: 'resource_read',
    scopes: ['automations:read'],
    administrators: true,
    answer: webhookAnswer,
  })
  async get(@Auth() auth: AuthContext, @Param('webhookId') id: string) {
    return { webhook: webhookView(await this.webhooks.get(auth, id)) };
  }

  @Patch(':webhookId')
  @Endpoint({
    summary: 'Change a webhook',
    description:
      'What is given is replaced, null clears it. What waits is sent to a new `url`. Disabling cancels what waits; enabling makes up for nothing, `recover` does. `{}` changes nothing.',
    policy: 'resource_write',
    scopes: ['automations:write'],
    administrators: true,
    transaction: true,
    answer: webhookAnswer,
  })
  async change(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('webhookId') id: string,
    @Body() body: ChangeWebhookDto,
  ) {
    return { webhook: webhookView(await this.webhooks.change(auth, tx, id, body)) };
  }

  @Delete(':webhookId')
  @Endpoint({
    summary: 'Delete a webhook',
    description: 'Its deliveries go with it; nothing more is sent.',
    policy: 'resource_write',
    scopes: ['automations:write'],
    administrators: true,
    transaction: true,
    answer: deletedSchema,
  })
  async remove(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('webhookId') id: string) {
    await this.webhooks.remove(auth, tx, id);
    return { deleted: true, id: id.toLowerCase() };
  }

  // Not refused when the disk is full: what has leaked must end.
  @Post(':webhookId/secret')
  @HttpCode(200)
  @Endpoint({
    summary: 'Make a new secret',
    description:
      'It is in this answer alone. The former one signs too for `overlapSeconds`, and the one before it no more.',
    policy: 'resource_write',
    scopes: ['automations:write'],
    administrators: true,
    transaction: true,
    answer: madeWebhookAnswer,
  })
  async rotate(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('webhookId') id: string,
    @Body() { overlapSeconds = DAY_SECONDS }: RotateWebhookSecretDto,
  ) {
    return made(await this.webhooks.rotate(auth, tx, id, overlapSeconds));
  }
}
