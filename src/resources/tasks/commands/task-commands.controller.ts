import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { z } from 'zod';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import { Auth } from '../../../access/auth/auth.decorator.js';
import { Page } from '../../../access/auth/page.decorator.js';
import { Database } from '../../../platform/database/database.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../../platform/http/api-error.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { byCreation, PageQuery, type PageRequest } from '../../../platform/http/pages.js';
import { pageSchema } from '../../../platform/http/schema.js';
import { Tx } from '../../../platform/http/tx.js';
import { Notices } from '../../../platform/notices/notices.js';
import { TransparencyPolicy } from '../messages/transparency-policy.js';
import { TaskAccess } from '../task-access.js';
import { ASK_TO_STOP, FIND, PAGE } from './task-commands.sql.js';
import { commandSchema, commandView } from './task-command.view.js';

/** The commands of an agent that go on beyond their calls (reference §27.2). */
@Controller('v1/tasks/:taskId/commands')
export class TaskCommandsController {
  constructor(
    private readonly database: Database,
    private readonly access: TaskAccess,
    private readonly policy: TransparencyPolicy,
    private readonly notices: Notices,
  ) {}

  @Get()
  @Endpoint({
    summary: 'List the commands of a task',
    description: 'Those that go on, or went on, beyond the call that began them, newest first.',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: pageSchema('commands', commandSchema),
  })
  async list(@Auth() auth: AuthContext, @Param('taskId') taskId: string, @Page(PageQuery) page: PageRequest) {
    await this.access.check(auth, taskId);
    const found = await this.database.read.run(PAGE({ taskId, ...page.place }));
    const { rows, nextCursor } = page.cut(found, byCreation);
    const shows = this.policy.of(auth).tool_activity;
    return { commands: rows.map((row) => commandView(row, shows)), nextCursor };
  }

  @Post(':commandId/stop')
  @HttpCode(202)
  @Endpoint({
    summary: 'Stop a command of a task',
    description: 'The worker that has it ends it soon; the agent is told of it when it next reads it. One that does not run is 409.',
    policy: 'resource_write',
    scopes: ['tasks:write'],
    transaction: true,
    action: 'task.stop_command',
    answer: z.strictObject({ command: commandSchema }),
  })
  async stop(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('taskId') taskId: string,
    @Param('commandId') commandId: string,
  ) {
    await this.access.hold(auth, tx, taskId);
    const number = Number(/^b([1-9]\d{0,8})$/.exec(commandId)?.[1] ?? 0);
    const [asked] = await tx.run(ASK_TO_STOP({ taskId, number }));
    if (asked === undefined) {
      const [found] = await tx.run(FIND({ taskId, number }));
      if (found === undefined) throw notFound('command');
      throw new ApiError('command_not_running', `The command ${commandId} does not run any more: ${found.status}.`);
    }
    tx.afterCommit(() => this.notices.send({ commands: taskId }));
    return { command: commandView(asked, this.policy.of(auth).tool_activity) };
  }
} // prettier-ignore
