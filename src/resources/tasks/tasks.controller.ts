import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import type { PageRequest } from '../../platform/http/pages.js';
import { notesOf } from '../../platform/http/request-notes.js';
import { deletedSchema, pageSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { InteractionsService } from './interactions/interactions.service.js';
import { TransparencyPolicy } from './messages/transparency-policy.js';
import { TaskEnding } from './task-ending.js';
import { AnswerDto, ChangeTaskDto, CreateTaskDto } from './task.dto.js';
import { ListTasksQuery } from './task-list.dto.js';
import { PauseTaskDto } from './task-pause.dto.js';
import { TaskPause } from './task-pause.js';
import { ForkTaskDto } from './task-fork.dto.js';
import { TaskFork } from './task-fork.js';
import { TaskStarter } from './task-starter.js';
import { taskAnswer, taskSchema } from './task.view.js';
import { TasksService } from './tasks.service.js';

@Controller('v1/tasks')
export class TasksController {
  constructor(
    private readonly tasks: TasksService,
    private readonly starter: TaskStarter,
    private readonly ending: TaskEnding,
    private readonly pauses: TaskPause,
    private readonly forks: TaskFork,
    private readonly interactions: InteractionsService,
    private readonly policy: TransparencyPolicy,
  ) {}

  @Post()
  @Endpoint({
    summary: 'Create a task',
    description: 'Starts work: read the task until its status is final, or until it waits for an answer.',
    policy: 'task_execution',
    stores: true,
    scopes: ['tasks:write'],
    transaction: true,
    conditionalScopes: { 'files:write': 'attachments are sent' },
    idempotency: 'required',
    location: '/v1/tasks/{task.id}',
    answer: taskAnswer,
  })
  async create(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: CreateTaskDto) {
    return this.policy.task(auth, await this.starter.create(auth, tx, body));
  }

  @Get()
  @Endpoint({
    summary: 'List tasks',
    description: 'Newest first. Without `archived` those that are not archived.',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: pageSchema('tasks', taskSchema),
  })
  async list(@Auth() auth: AuthContext, @Page(ListTasksQuery) page: PageRequest<ListTasksQuery>) {
    return this.policy.tasks(auth, await this.tasks.list(auth, page));
  }

  @Get(':taskId')
  @Endpoint({
    summary: 'Read a task',
    description: 'Takes `If-None-Match` with the `ETag`, for a client that asks again and again.',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    etag: true,
    answer: taskAnswer,
  })
  async get(@Auth() auth: AuthContext, @Param('taskId') taskId: string) {
    return this.policy.task(auth, await this.tasks.get(auth, taskId));
  }

  @Patch(':taskId')
  @Endpoint({
    summary: 'Change a task',
    description: 'What is given is replaced; `{}` changes nothing.',
    policy: 'resource_write',
    scopes: ['tasks:write'],
    transaction: true,
    answer: taskAnswer,
  })
  async change(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('taskId') taskId: string,
    @Body() body: ChangeTaskDto,
  ) {
    return this.policy.task(auth, await this.tasks.change(auth, tx, taskId, body));
  }

  @Delete(':taskId')
  @Endpoint({
    summary: 'Delete a task',
    description: 'For good, with its messages, files and running work.',
    policy: 'resource_write',
    scopes: ['tasks:write'],
    transaction: true,
    answer: deletedSchema,
  })
  async remove(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('taskId') taskId: string) {
    await this.ending.remove(auth, tx, taskId);
    return { deleted: true, id: taskId.toLowerCase() };
  }

  @Post(':taskId/cancel')
  @HttpCode(200)
  @Endpoint({
    summary: 'Cancel a task',
    description: 'At once: the answer shows it cancelled. Cancelling it again is 200, a completed or failed one 409.',
    policy: 'resource_write',
    scopes: ['tasks:write'],
    transaction: true,
    answer: taskAnswer,
  })
  async cancel(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('taskId') taskId: string, @Req() req: Request) {
    return this.policy.task(auth, await this.ending.cancel(auth, tx, taskId, notesOf(req).turn));
  }

  @Post(':taskId/fork')
  @Endpoint({
    summary: 'Fork a task',
    description:
      'A new task with the conversation, the files and the folder that this one had at the end of a turn. `content` is its next message; without it the fork waits as `completed`.',
    policy: 'task_execution',
    stores: true,
    scopes: ['tasks:write', 'files:read'],
    transaction: true,
    action: 'task.fork',
    idempotency: 'required',
    location: '/v1/tasks/{task.id}',
    answer: taskAnswer,
  })
  async fork(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('taskId') taskId: string,
    @Body() body: ForkTaskDto,
  ) {
    return this.policy.task(auth, await this.forks.fork(auth, tx, taskId, body));
  }

  @Post(':taskId/pause')
  @HttpCode(200)
  @Endpoint({
    summary: 'Pause a task',
    description:
      'No worker takes it up until it is resumed, or until `resumeAt`. A running one stops after its call, at the latest 10 s later. Pausing again is 200 and sets `resumeAt` anew, a final task is 409.',
    policy: 'resource_write',
    scopes: ['tasks:write'],
    transaction: true,
    answer: taskAnswer,
  })
  async pause(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('taskId') taskId: string,
    @Body() body: PauseTaskDto,
  ) {
    return this.policy.task(auth, await this.pauses.pause(auth, tx, taskId, body));
  }

  @Post(':taskId/resume')
  @HttpCode(200)
  @Endpoint({
    summary: 'Resume a task',
    description: 'It goes on where it stopped. One that is not paused is 200, a final one 409.',
    policy: 'resource_write',
    scopes: ['tasks:write'],
    transaction: true,
    answer: taskAnswer,
  })
  async resume(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('taskId') taskId: string) {
    return this.policy.task(auth, await this.pauses.resume(auth, tx, taskId));
  }

  @Post(':taskId/interaction')
  @HttpCode(202)
  @Endpoint({
    summary: 'Answer the question of a task',
    description: 'Or decide on the call that it wants to make. The same task goes on.',
    policy: 'task_execution',
    stores: true,
    scopes: ['tasks:write'],
    transaction: true,
    action: 'task.answer',
    conditionalScopes: { 'files:write': 'attachments are sent' },
    idempotency: 'required',
    answer: taskAnswer,
  })
  async answer(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('taskId') taskId: string,
    @Body() body: AnswerDto,
  ) {
    return this.policy.task(auth, await this.interactions.answer(auth, tx, taskId, body));
  }
}
