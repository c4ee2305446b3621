import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { deletedSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import type { AuthContext } from './auth-context.js';
import { Auth } from './auth.decorator.js';
import { CreateKeyDto, RotateKeyDto } from './key.dto.js';
import { keysAnswer, keyView, madeKeyAnswer, madeKeyView } from './key.view.js';
import { OwnKeysService } from './own-keys.service.js';

@Controller('v1/keys')
export class KeysController {
  constructor(private readonly keys: OwnKeysService) {}

  @Get()
  @Endpoint({
    summary: 'List your keys',
    description: 'Your own in this workspace that have not ended, newest first.',
    policy: 'resource_read',
    scopes: 'personal',
    answer: keysAnswer,
  })
  async list(@Auth() auth: AuthContext) {
    return { keys: (await this.keys.list(auth)).map((row) => keyView(row, auth)) };
  }

  // No Idempotency-Key here: a stored answer would hold the secret.
  @Post()
  @Endpoint({
    summary: 'Make a key',
    description:
      'Its scopes are among those of the calling key, and it does not end later. The secret is in this answer alone: an answer that is lost cannot be asked for again.',
    policy: 'resource_write',
    stores: true,
    scopes: 'personal',
    transaction: true,
    answer: madeKeyAnswer,
    location: '/v1/keys/{key.id}',
  })
  async create(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: CreateKeyDto) {
    return madeKeyView(await this.keys.create(auth, tx, body), auth);
  }

  @Delete(':keyId')
  @Endpoint({
    summary: 'Delete a key',
    description:
      'It ends with the next request; tasks and automations go on. The calling key, or one whose scopes and end are within those of the calling key.',
    policy: 'resource_write',
    scopes: 'personal',
    transaction: true,
    answer: deletedSchema,
  })
  async remove(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('keyId') id: string) {
    await this.keys.remove(auth, tx, id);
    return { deleted: true, id: id.toLowerCase() };
  }

  // Not refused when the disk is full: what has leaked must end.
  @Post(':keyId/rotate')
  @Endpoint({
    summary: 'Rotate a key',
    description:
      'Makes a key with the same name, scopes and end in its place. The old one ends at once, or after `overlapSeconds`. The calling key, or one whose scopes and end are within those of the calling key.',
    policy: 'resource_write',
    scopes: 'personal',
    transaction: true,
    answer: madeKeyAnswer,
    location: '/v1/keys/{key.id}',
  })
  async rotate(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('keyId') id: string,
    @Body() { overlapSeconds = 0 }: RotateKeyDto,
  ) {
    return madeKeyView(await this.keys.rotate(auth, tx, id, overlapSeconds), auth);
  }
}
