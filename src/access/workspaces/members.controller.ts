import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { deletedSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import type { AuthContext } from '../auth/auth-context.js';
import { Auth } from '../auth/auth.decorator.js';
import { AddMemberDto, ChangeMemberDto, RemoveMemberQuery } from './member.dto.js';
import { memberAnswer, membersAnswer, memberView } from './member.view.js';
import { MembersService } from './members.service.js';
import { MembershipsService } from './memberships.service.js';

@Controller('v1/members')
export class MembersController {
  constructor(
    private readonly memberships: MembershipsService,
    private readonly members: MembersService,
  ) {}

  @Get()
  @Endpoint({
    summary: 'List the members of the workspace',
    description: 'People and service accounts, the oldest membership first.',
    policy: 'metadata_read',
    scopes: 'any',
    answer: membersAnswer,
  })
  async list(@Auth() auth: AuthContext) {
    return { members: (await this.memberships.everyone(auth.workspaceId)).map((row) => memberView(row, auth)) };
  }

  @Post()
  @Endpoint({
    summary: 'Add a member',
    description:
      'The person who has the address; an account is made when there is none. Only an owner makes an owner. A member already is 409 `member_exists`, and keeps its role.',
    policy: 'resource_write',
    stores: true,
    scopes: 'administration',
    transaction: true,
    idempotency: 'optional',
    action: 'member.add',
    answer: memberAnswer,
    location: '/v1/members/{member.id}',
  })
  async add(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: AddMemberDto) {
    return { member: memberView(await this.members.add(auth, tx, body), auth) };
  }

  @Patch(':memberId')
  @Endpoint({
    summary: 'Change the role of a member',
    description:
      'Of a person or service account. Only an owner changes owners and makes new ones. The last owner stays one: 409 `last_owner`.',
    policy: 'resource_write',
    scopes: 'administration',
    transaction: true,
    locksMembers: true,
    action: 'member.change',
    answer: memberAnswer,
  })
  async change(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('memberId') id: string,
    @Body() { role }: ChangeMemberDto,
  ) {
    return { member: memberView(await this.members.change(auth, tx, id, role), auth) };
  }

  @Delete(':memberId')
  @Endpoint({
    summary: 'Remove a member',
    description:
      'Ends all its keys in the workspace, for good. With `transferTo` that member gets its projects, tasks, files and automations; without it they stay, seen by owners and admins, its tasks under way are cancelled and its automations paused. Only an owner removes owners. The last owner stays: 409 `last_owner`.',
    policy: 'resource_write',
    scopes: 'administration',
    transaction: true,
    locksMembers: true,
    action: 'member.remove',
    answer: deletedSchema,
  })
  async remove(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('memberId') id: string,
    @Query() { transferTo }: RemoveMemberQuery,
  ) {
    await this.members.remove(auth, tx, id, transferTo ?? null);
    return { deleted: true as const, id: id.toLowerCase() };
  }
}
