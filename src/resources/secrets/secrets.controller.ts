import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { PageQuery, type PageRequest } from '../../platform/http/pages.js';
import { deletedSchema, pageSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import { ChangeSecretDto, CreateSecretDto } from './secret.dto.js';
import { secretAnswer, secretSchema, secretView } from './secret.view.js';
import { SecretsService } from './secrets.service.js';

const READS = { policy: 'resource_read', scopes: ['automations:read'] } as const;
const WRITES = { policy: 'resource_write', scopes: ['automations:write'], transaction: true } as const;
const WHO =
  'With a personal key: an owner or admin, of one’s own any member but a viewer; else 403 `role_not_allowed`.';

@Controller('v1/secrets')
export class SecretsController {
  constructor(private readonly secrets: SecretsService) {}

  @Get()
  @Endpoint({
    ...READS,
    summary: 'List secrets',
    description:
      'Newest first: those of the workspace, of projects that the caller sees, and the caller’s own. Never with a value.',
    answer: pageSchema('secrets', secretSchema),
  })
  async list(@Auth() auth: AuthContext, @Page(PageQuery) page: PageRequest) {
    const { rows, nextCursor } = await this.secrets.list(auth, page);
    return { secrets: rows.map(secretView), nextCursor };
  }

  // No Idempotency-Key here: the value would be part of a stored request.
  @Post()
  @Endpoint({
    ...WRITES,
    summary: 'Create a secret',
    description: `${WHO} At most 200 in a workspace. A name that is taken in its scope is 409 \`secret_exists\`, a host that the operator does not allow 400 \`host_not_allowed\`.`,
    stores: true,
    location: '/v1/secrets/{secret.id}',
    answer: secretAnswer,
  })
  async create(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: CreateSecretDto) {
    return { secret: secretView(await this.secrets.create(auth, tx, body)) };
  }

  @Get(':secretId')
  @Endpoint({ ...READS, summary: 'Read a secret', description: 'Never with its value.', answer: secretAnswer })
  async get(@Auth() auth: AuthContext, @Param('secretId') id: string) {
    return { secret: secretView(await this.secrets.get(auth, id)) };
  }

  @Patch(':secretId')
  @Endpoint({
    ...WRITES,
    summary: 'Change a secret',
    description: `${WHO} What is given is replaced, bindings as a whole. A task that runs has it from its next request on. \`{}\` changes nothing.`,
    answer: secretAnswer,
  })
  async change(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('secretId') id: string,
    @Body() body: ChangeSecretDto,
  ) {
    return { secret: secretView(await this.secrets.change(auth, tx, id, body)) };
  }

  @Delete(':secretId')
  @Endpoint({
    ...WRITES,
    summary: 'Delete a secret',
    description: `${WHO} A task that runs loses it with its next request.`,
    answer: deletedSchema,
  })
  async remove(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('secretId') id: string) {
    await this.secrets.remove(auth, tx, id);
    return { deleted: true, id: id.toLowerCase() };
  }
}
