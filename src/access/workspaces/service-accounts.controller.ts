import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { deletedSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import type { AuthContext } from '../auth/auth-context.js';
import { Auth } from '../auth/auth.decorator.js';
import { CreateServiceAccountDto } from './service-account.dto.js';
import { serviceAccountAnswer, serviceAccountsAnswer, serviceAccountView } from './service-account.view.js';
import { ServiceAccountsService } from './service-accounts.service.js';

@Controller('v1/service-accounts')
export class ServiceAccountsController {
  constructor(private readonly accounts: ServiceAccountsService) {}

  @Get()
  @Endpoint({
    summary: 'List the service accounts of the workspace',
    description: 'The oldest first.',
    policy: 'resource_read',
    scopes: 'administration',
    answer: serviceAccountsAnswer,
  })
  async list(@Auth() auth: AuthContext) {
    return { serviceAccounts: (await this.accounts.list(auth.workspaceId)).map(serviceAccountView) };
  }

  @Post()
  @Endpoint({
    summary: 'Make a service account',
    description: 'An account for a program in this workspace. It does nothing before it has a key.',
    policy: 'resource_write',
    stores: true,
    scopes: 'administration',
    transaction: true,
    idempotency: 'optional',
    answer: serviceAccountAnswer,
    location: '/v1/service-accounts/{serviceAccount.id}',
  })
  async create(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Body() { name, role = 'member' }: CreateServiceAccountDto,
  ) {
    const { workspaceId } = auth;
    return { serviceAccount: serviceAccountView(await this.accounts.make(tx, { workspaceId, name, role }, auth)) };
  }

  @Delete(':serviceAccountId')
  @Endpoint({
    summary: 'Delete a service account',
    description:
      'Ends its keys, for good, cancels its tasks under way and pauses its automations; the name is free. Removing it as a member with `transferTo` hands over what it owns.',
    policy: 'resource_write',
    scopes: 'administration',
    transaction: true,
    locksMembers: true,
    answer: deletedSchema,
  })
  async remove(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('serviceAccountId') id: string) {
    await this.accounts.remove(auth, tx, id);
    return { deleted: true as const, id: id.toLowerCase() };
  }
}
