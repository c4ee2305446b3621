import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { deletedSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import type { AuthContext } from './auth-context.js';
import { Auth } from './auth.decorator.js';
import { CreateServiceKeyDto } from './key.dto.js';
import { keysAnswer, keyView, madeKeyAnswer, madeKeyView } from './key.view.js';
import { ServiceKeysService } from './service-keys.service.js';

@Controller('v1/service-accounts/:serviceAccountId/keys')
export class ServiceKeysController {
  constructor(private readonly keys: ServiceKeysService) {}

  @Get()
  @Endpoint({
    summary: 'List the keys of a service account',
    description: 'Those that have not ended, newest first.',
    policy: 'resource_read',
    scopes: 'administration',
    answer: keysAnswer,
  })
  async list(@Auth() auth: AuthContext, @Param('serviceAccountId') account: string) {
    return { keys: (await this.keys.list(auth, account)).map((row) => keyView(row, auth)) };
  }

  // No Idempotency-Key here: a stored answer would hold the secret.
  @Post()
  @Endpoint({
    summary: 'Make a key of a service account',
    description:
      'With any scopes that there are. The secret is in this answer alone: an answer that is lost cannot be asked for again. Only an owner makes keys of an account whose role is owner.',
    policy: 'resource_write',
    stores: true,
    scopes: 'administration',
    transaction: true,
    locksMembers: true,
    answer: madeKeyAnswer,
    location: '/v1/service-accounts/:serviceAccountId/keys/{key.id}',
  })
  async create(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('serviceAccountId') account: string,
    @Body() body: CreateServiceKeyDto,
  ) {
    return madeKeyView(await this.keys.create(auth, tx, account, body), auth);
  }

  @Delete(':keyId')
  @Endpoint({
    summary: 'Delete a key of a service account',
    description: 'It ends with the next request; what it has under way goes on.',
    policy: 'resource_write',
    scopes: 'administration',
    transaction: true,
    locksMembers: true,
    answer: deletedSchema,
  })
  async remove(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('serviceAccountId') account: string,
    @Param('keyId') id: string,
  ) {
    await this.keys.remove(auth, tx, account, id);
    return { deleted: true as const, id: id.toLowerCase() };
  }
}
