import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { z } from 'zod';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { deletedSchema } from '../../platform/http/schema.js';
import { Tx } from '../../platform/http/tx.js';
import { ConnectDto, RotateConnectionDto } from './connection.dto.js';
import { connectedAnswer, connectionsAnswer, connectionView } from './connection.view.js';
import { deliverySchema } from './integration.view.js';
import { MemberConnections } from './member-connections.js';

const WRITES = { policy: 'resource_write', scopes: 'personal', notForViewers: true, transaction: true } as const;
const WHO = "The workspace's for owners and admins, your own for any member but viewers.";

@Controller('v1/integrations/:integrationSlug/connections')
export class ConnectionsController {
  constructor(private readonly connections: MemberConnections) {}

  @Get()
  @Endpoint({
    summary: 'List the connections of an integration',
    description:
      "Your own, and for owners and admins the workspace's. Whether the workspace has one, everybody reads at the integration.",
    policy: 'resource_read',
    scopes: ['integrations:read'],
    answer: connectionsAnswer,
  })
  async list(@Auth() auth: AuthContext, @Param('integrationSlug') slug: string) {
    return { connections: (await this.connections.list(auth, slug)).map(connectionView) };
  }

  // No Idempotency-Key here, nor where the secret is rotated: a stored answer would hold it.
  @Post()
  @Endpoint({
    ...WRITES,
    summary: 'Connect an integration',
    description: `${WHO} One of each: a second one is 409 \`connection_exists\`. The secret is in this answer alone.`,
    stores: true,
    action: 'integration.connect',
    answer: connectedAnswer,
    location: '/v1/integrations/:integrationSlug/connections/{connection.id}',
  })
  async connect(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('integrationSlug') slug: string,
    @Body() body: ConnectDto,
  ) {
    const { connection, secret } = await this.connections.connect(auth, tx, slug, body);
    return { connection: connectionView(connection), secret };
  }

  // Not refused when the disk is full: what has leaked must end.
  @Post(':connectionId/rotate')
  @HttpCode(200)
  @Endpoint({
    ...WRITES,
    summary: 'Give a connection a new secret',
    description: `${WHO} The secret of before is taken too for \`overlapSeconds\`; 0: not at all. The new one is in this answer alone.`,
    action: 'integration.rotate',
    answer: connectedAnswer,
  })
  async rotate(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('integrationSlug') slug: string,
    @Param('connectionId') id: string,
    @Body() body: RotateConnectionDto,
  ) {
    const { connection, secret } = await this.connections.rotate(auth, tx, slug, id, body);
    return { connection: connectionView(connection), secret };
  }

  @Post(':connectionId/test')
  @HttpCode(200)
  @Endpoint({
    ...WRITES,
    summary: 'Test a connection',
    description: `${WHO} Takes the handshake of the provider, signed with the secret of the connection, as one that arrives: it is in the last deliveries, and starts nothing. A provider that has none is 409 \`test_not_available\`.`,
    action: 'integration.test',
    answer: z.strictObject({ delivery: deliverySchema }),
  })
  async test(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('integrationSlug') slug: string,
    @Param('connectionId') id: string,
  ) {
    return { delivery: await this.connections.test(auth, tx, slug, id) };
  }

  @Delete(':connectionId')
  @Endpoint({
    ...WRITES,
    summary: 'Disconnect an integration',
    description: `${WHO} Ends the connection with its log, and pauses the automations that are bound to it.`,
    action: 'integration.disconnect',
    answer: deletedSchema,
  })
  async disconnect(
    @Auth() auth: AuthContext,
    @Tx() tx: UnitOfWork,
    @Param('integrationSlug') slug: string,
    @Param('connectionId') id: string,
  ) {
    await this.connections.disconnect(auth, tx, slug, id);
    return { deleted: true as const, id: id.toLowerCase() };
  }
}
