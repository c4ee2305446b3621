import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import { Auth } from '../../../access/auth/auth.decorator.js';
import { Page } from '../../../access/auth/page.decorator.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import type { PageRequest } from '../../../platform/http/pages.js';
import { deletedSchema, pageSchema } from '../../../platform/http/schema.js';
import { Tx } from '../../../platform/http/tx.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { TransparencyPolicy } from './transparency-policy.js';
import { MessagesService } from './messages.service.js';
import { messageSchema } from './message.view.js';
import { SendMessageDto } from '../task.dto.js';
import { ListMessagesQuery } from './message-list.dto.js';
import { taskSchema } from '../task.view.js';

@Controller('v1/tasks/:taskId/messages')
export class MessagesController {
  constructor(
    private readonly messages: MessagesService,
    private readonly policy: TransparencyPolicy,
  ) {}

  @Get()
  @Endpoint({
    summary: 'Read the messages of a task',
    description:
      'Oldest first. A page may hold fewer than `limit`: messages without a part that is shown are left out, and a page ' +
      'ends early, with a `nextCursor`, once its messages are about 1 MiB long.',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: pageSchema('messages', messageSchema),
  })
  async list(
    @Auth() auth: AuthContext,
    @Param('taskId') taskId: string,
    @Page(ListMessagesQuery) page: PageRequest<ListMessagesQuery>,
    @Req() req: Request,
  ) {
    return this.policy.page(auth, await this.messages.list(auth, taskId, page), req);
  }

  @Post()
  @HttpCode(202)
  @Endpoint({
    summary: 'Send a message to a task',
    description: 'Accepted in every status; a final task goes on with it.',
    policy: 'task_execution',
    stores: true,
    scopes: ['tasks:write'],
    transaction: true,
    conditionalScopes: { 'files:write': 'attachments are sent' },
    idempotency: 'required',
    answer: z.strictObject({ message: messageSchema, task: taskSchema }),
  })
  async send(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('taskId') taskId: string,
    @Body() body: SendMessageDto,
    @Req() req: Request,
  ) {
    return this.policy.sent(auth, await this.messages.send(auth, tx, taskId, body), req);
  }

  @Delete(':messageId')
  @Endpoint({
    summary: 'Withdraw a message',
    description:
      'As long as no run has read it, for its author and for the owner of the task. Its attachments go with it. A queued task that is ' +
      'left without a message to read is cancelled.',
    policy: 'resource_write',
    scopes: ['tasks:write'],
    transaction: true,
    answer: deletedSchema,
  })
  async withdraw(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('taskId') taskId: string,
    @Param('messageId') messageId: string,
  ) {
    await this.messages.withdraw(auth, tx, taskId, messageId);
    return { deleted: true, id: messageId.toLowerCase() };
  }
}
