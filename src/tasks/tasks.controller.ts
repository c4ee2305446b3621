import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import type { AuthContext } from '../auth/auth-context.js';
import { Auth } from '../auth/auth.decorator.js';
import { Endpoint } from '../http/endpoint.js';
import { Tx } from '../http/tx.js';
import type { UnitOfWork } from '../http/unit-of-work.js';
import { InteractionsService } from './interactions.service.js';
import { TaskCanceller } from './task-canceller.js';
import { AnswerDto, CreateTaskDto, ListTasksQuery } from './task.dto.js';
import { TaskStarter } from './task-starter.js';
import { taskPageView, taskView } from './task.view.js';
import { TasksService } from './tasks.service.js';

@Controller('v1/tasks')
export class TasksController {
  constructor(
    private readonly tasks: TasksService,
    private readonly starter: TaskStarter,
    private readonly canceller: TaskCanceller,
    private readonly interactions: InteractionsService,
  ) {}

  @Post()
  @Endpoint({
    policy: 'task_execution',
    scopes: ['tasks:write'],
    idempotency: 'required',
    location: '/v1/tasks/{task.id}',
  })
  async create(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: CreateTaskDto) {
    return { task: taskView(await this.starter.create(auth, tx, body)) };
  }

  @Get()
  @Endpoint({ policy: 'resource_read', scopes: ['tasks:read'] })
  async list(@Auth() auth: AuthContext, @Query() query: ListTasksQuery) {
    return taskPageView(await this.tasks.list(auth, query));
  }

  @Get(':taskId')
  @Endpoint({ policy: 'resource_read', scopes: ['tasks:read'] })
  async get(@Auth() auth: AuthContext, @Param('taskId') taskId: string) {
    return { task: taskView(await this.tasks.get(auth, taskId)) };
  }

  @Post(':taskId/cancel')
  @HttpCode(200)
  @Endpoint({ policy: 'resource_write', scopes: ['tasks:write'] })
  async cancel(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('taskId') taskId: string) {
    return { task: taskView(await this.canceller.cancel(auth, tx, taskId)) };
  }

  @Post(':taskId/interaction')
  @HttpCode(202)
  @Endpoint({ policy: 'task_execution', scopes: ['tasks:write'], idempotency: 'required' })
  async answer(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('taskId') taskId: string,
    @Body() body: AnswerDto,
  ) {
    return { task: taskView(await this.interactions.answer(auth, tx, taskId, body)) };
  }
}
