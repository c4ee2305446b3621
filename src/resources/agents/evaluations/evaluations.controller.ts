import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import { Auth } from '../../../access/auth/auth.decorator.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Tx } from '../../../platform/http/tx.js';
import { EvaluateDto } from './evaluation.dto.js';
import { evaluationAnswer, evaluationView } from './evaluation.view.js';
import { EvaluationsService } from './evaluations.service.js';

@Controller('v1')
export class EvaluationsController {
  constructor(private readonly evaluations: EvaluationsService) {}

  @Post('agents/:slug/evaluate')
  @HttpCode(202)
  @Endpoint({
    summary: 'Compare versions of an agent on the same work',
    description:
      'Makes a task for each case in each version, with the `metadata` `evaluation` and `case`; they push nothing, and are ordinary use. A version that there is not is 404.',
    policy: 'task_execution',
    stores: true,
    scopes: ['projects:read', 'tasks:write'],
    transaction: true,
    idempotency: 'required',
    answer: evaluationAnswer,
  })
  async evaluate(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('slug') slug: string,
    @Body() body: EvaluateDto,
  ) {
    const { evaluation, table } = await this.evaluations.evaluate(auth, tx, slug, body);
    return { evaluation: evaluationView(evaluation, table) };
  }

  @Get('evaluations/:evaluationId')
  @Endpoint({
    summary: 'Read an evaluation',
    description: 'By who made it, owners and admins.',
    policy: 'resource_read',
    scopes: ['tasks:read'],
    answer: evaluationAnswer,
  })
  async get(@Auth() auth: AuthContext, @Param('evaluationId') id: string) {
    const { evaluation, table } = await this.evaluations.get(auth, id);
    return { evaluation: evaluationView(evaluation, table) };
  }
}
