import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { PageQuery, type PageRequest } from '../../platform/http/pages.js';
import { deletedSchema, pageSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import { ChangeAutomationDto, CreateAutomationDto, ListAutomationsQuery } from './automation.dto.js';
import {
  automationAnswer,
  automationSchema,
  automationView,
  rehearsalAnswer,
  rehearsalView,
  runAnswer,
  runSchema,
  runView,
} from './automation.view.js';
import { AutomationsService } from './automations.service.js';

const CREATE = `Exactly one of \`cron\`, \`runAt\` and \`triggerEvent\` says when it makes a task. With \`dryRun\` nothing is made: the answer is
200, and an \`Idempotency-Key\` is ignored.`;
const CHANGE = `What is given is replaced, null clears it, and a trigger of another kind clears the old one. A new \`runAt\` makes a completed
automation active again. \`{}\` changes nothing.`;

@Controller('v1/automations')
export class AutomationsController {
  constructor(private readonly automations: AutomationsService) {}

  @Get()
  @Endpoint({
    summary: 'List automations',
    description: 'Newest first; without `limit` all of them.',
    policy: 'resource_read',
    scopes: ['automations:read'],
    answer: pageSchema('automations', automationSchema),
  })
  async list(@Auth() auth: AuthContext, @Page(ListAutomationsQuery) page: PageRequest<ListAutomationsQuery>) {
    const { automations, nextCursor } = await this.automations.list(auth, page);
    return { automations: automations.map(automationView), nextCursor };
  }

  @Post()
  @Endpoint({
    summary: 'Create an automation',
    description: CREATE,
    policy: 'resource_write',
    stores: true,
    scopes: ['automations:write'],
    transaction: true,
    idempotency: 'optional',
    rehearsal: 'dryRun',
    location: '/v1/automations/{automation.id}',
    answer: {
      201: { description: 'Success.', content: { 'application/json': automationAnswer } },
      200: { description: 'A dry run: nothing was made.', content: { 'application/json': rehearsalAnswer } },
    },
  })
  async create(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork | null, @Body() body: CreateAutomationDto) {
    if (tx !== null) return { automation: automationView(await this.automations.create(auth, tx, body)) };
    const { row, wouldRun } = await this.automations.rehearse(auth, body);
    return rehearsalView(row, wouldRun);
  }

  @Get(':automationId')
  @Endpoint({
    summary: 'Read an automation',
    policy: 'resource_read',
    scopes: ['automations:read'],
    answer: automationAnswer,
  })
  async get(@Auth() auth: AuthContext, @Param('automationId') id: string) {
    return { automation: automationView(await this.automations.get(auth, id)) };
  }

  @Patch(':automationId')
  @Endpoint({
    summary: 'Change an automation',
    description: CHANGE,
    policy: 'resource_write',
    scopes: ['automations:write'],
    transaction: true,
    answer: automationAnswer,
  })
  async change(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('automationId') id: string,
    @Body() body: ChangeAutomationDto,
  ) {
    return { automation: automationView(await this.automations.change(auth, tx, id, body)) };
  }

  @Delete(':automationId')
  @Endpoint({
    summary: 'Delete an automation',
    description: 'Its runs go with it, its tasks stay.',
    policy: 'resource_write',
    scopes: ['automations:write'],
    transaction: true,
    answer: deletedSchema,
  })
  async remove(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('automationId') id: string) {
    await this.automations.remove(auth, tx, id);
    return { deleted: true, id: id.toLowerCase() };
  }

  @Post(':automationId/pause')
  @HttpCode(200)
  @Endpoint({
    summary: 'Pause an automation',
    description: 'Nothing accumulates meanwhile. Pausing it again is 200, a completed one 409.',
    policy: 'resource_write',
    scopes: ['automations:write'],
    transaction: true,
    answer: automationAnswer,
  })
  async pause(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('automationId') id: string) {
    return { automation: automationView(await this.automations.pause(auth, tx, id)) };
  }

  @Post(':automationId/resume')
  @HttpCode(200)
  @Endpoint({
    summary: 'Resume an automation',
    description: 'It goes on from now. Resuming an active one is 200, a completed one 409.',
    policy: 'resource_write',
    scopes: ['automations:write'],
    transaction: true,
    answer: automationAnswer,
  })
  async resume(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('automationId') id: string) {
    return { automation: automationView(await this.automations.resume(auth, tx, id)) };
  }

  @Get(':automationId/runs')
  @Endpoint({
    summary: 'List the runs of an automation',
    description: 'Newest first: each occurrence, with its task, or with the reason why there is none.',
    policy: 'resource_read',
    scopes: ['automations:read'],
    answer: pageSchema('runs', runSchema),
  })
  async runs(@Auth() auth: AuthContext, @Param('automationId') id: string, @Page(PageQuery) page: PageRequest) {
    const { rows, nextCursor } = await this.automations.runs(auth, id, page);
    return { runs: rows.map(runView), nextCursor };
  }

  @Post(':automationId/run')
  @HttpCode(202)
  @Endpoint({
    summary: 'Run an automation once',
    description: 'Now, whatever its status.',
    policy: 'task_execution',
    stores: true,
    scopes: ['automations:write'],
    transaction: true,
    idempotency: 'optional',
    answer: runAnswer,
  })
  async run(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('automationId') id: string) {
    return { run: runView(await this.automations.run(auth, tx, id)) };
  }
}
