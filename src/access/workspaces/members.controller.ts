import { Controller, Get } from '@nestjs/common';
import { Endpoint } from '../../platform/http/endpoint.js';
import type { AuthContext } from '../auth/auth-context.js';
import { Auth } from '../auth/auth.decorator.js';
import { membersAnswer, memberView } from './member.view.js';
import { MembershipsService } from './memberships.service.js';

@Controller('v1/members')
export class MembersController {
  constructor(private readonly memberships: MembershipsService) {}

  @Get()
  @Endpoint({
    summary: 'List the members of the workspace',
    description: 'People and service accounts, the oldest membership first.',
    policy: 'metadata_read',
    scopes: 'any',
    answer: membersAnswer,
  })
  async list(@Auth() auth: AuthContext) {
    return { members: (await this.memberships.everyone(auth.workspaceId)).map(memberView) };
  }
}
