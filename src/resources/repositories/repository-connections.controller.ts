import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { senderOf } from '../../access/audit/sender.js';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { Page } from '../../access/auth/page.decorator.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { PageQuery, type PageRequest } from '../../platform/http/pages.js';
import { deletedSchema, pageSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import { ChangeRepositoryConnectionDto, CreateRepositoryConnectionDto } from './repository-connection.dto.js';
import { connectionAnswer, connectionSchema, connectionView } from './repository-connection.view.js';
import { RepositoryConnectionsService } from './repository-connections.service.js';

const READS = { policy: 'resource_read', scopes: ['projects:read'] } as const;
const WRITES = { policy: 'resource_write', scopes: 'personal', administrators: true } as const;
const TEST = 'repository-connection.test';

@Controller('v1/repository-connections')
export class RepositoryConnectionsController {
  constructor(private readonly connections: RepositoryConnectionsService) {}

  @Get()
  @Endpoint({
    ...READS,
    summary: 'List repository connections',
    description: 'Newest first.',
    answer: pageSchema('connections', connectionSchema),
  })
  async list(@Auth() auth: AuthContext, @Page(PageQuery) page: PageRequest) {
    const { rows, nextCursor } = await this.connections.list(auth, page);
    return { connections: rows.map(connectionView), nextCursor };
  }

  // No Idempotency-Key here: the credential would be part of a stored request.
  @Post()
  @Endpoint({
    ...WRITES,
    summary: 'Create a repository connection',
    description:
      'With `token`, or with `appId`, `privateKey` and `installationId` of a GitHub App. The host is not asked; `test` does that. At most 50 in a workspace.',
    stores: true,
    transaction: true,
    location: '/v1/repository-connections/{connection.id}',
    answer: connectionAnswer,
  })
  async create(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Body() body: CreateRepositoryConnectionDto) {
    return { connection: connectionView(await this.connections.create(auth, tx, body)) };
  }

  @Get(':repositoryConnectionId')
  @Endpoint({ ...READS, summary: 'Read a repository connection', answer: connectionAnswer })
  async get(@Auth() auth: AuthContext, @Param('repositoryConnectionId') id: string) {
    return { connection: connectionView(await this.connections.get(auth, id)) };
  }

  @Patch(':repositoryConnectionId')
  @Endpoint({
    ...WRITES,
    summary: 'Change a repository connection',
    description: 'What is given is replaced; a credential by one of the same kind. `{}` changes nothing.',
    transaction: true,
    answer: connectionAnswer,
  })
  async change(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('repositoryConnectionId') id: string,
    @Body() body: ChangeRepositoryConnectionDto,
  ) {
    return { connection: connectionView(await this.connections.change(auth, tx, id, body)) };
  }

  @Delete(':repositoryConnectionId')
  @Endpoint({
    ...WRITES,
    summary: 'Delete a repository connection',
    description: 'A task that runs keeps its clone; the next clone or push goes without the connection.',
    transaction: true,
    answer: deletedSchema,
  })
  async remove(@Auth() auth: AuthContext, @Tx() tx: UnitOfWork, @Param('repositoryConnectionId') id: string) {
    await this.connections.remove(auth, tx, id);
    return { deleted: true, id: id.toLowerCase() };
  }

  // No transaction around it: the host may take its time.
  @Post(':repositoryConnectionId/test')
  @HttpCode(200)
  @Endpoint({
    ...WRITES,
    summary: 'Test a repository connection',
    description: 'Asks the host who the credential is. A refusal is no error: `status` and `lastError` say it.',
    action: TEST,
    asksOutside: true,
    answer: connectionAnswer,
  })
  async test(@Auth() auth: AuthContext, @Req() request: Request, @Param('repositoryConnectionId') id: string) {
    return { connection: connectionView(await this.connections.test(auth, senderOf(request), id, TEST)) };
  }
}
