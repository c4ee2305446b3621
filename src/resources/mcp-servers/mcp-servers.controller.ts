import { Controller, Get } from '@nestjs/common';
import { z } from 'zod';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Auth } from '../../access/auth/auth.decorator.js';
import { fingerprintOf, McpServers } from '../../engine/agent/mcp/mcp-servers.js';
import { Database } from '../../platform/database/database.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { SEEN_SERVERS } from './mcp-servers.sql.js';
import { mcpServerSchema, mcpServerView } from './mcp-server.view.js';

@Controller('v1/mcp-servers')
export class McpServersController {
  constructor(
    private readonly servers: McpServers,
    private readonly database: Database,
  ) {}

  @Get()
  @Endpoint({
    summary: 'List the servers whose tools a task may have',
    description: 'Those that are open to the workspace, by name, as a worker last saw them.',
    policy: 'metadata_read',
    scopes: 'any',
    answer: z.strictObject({ mcpServers: z.array(mcpServerSchema) }),
  })
  async list(@Auth() auth: AuthContext) {
    const open = this.servers.openTo(auth.workspace.slug);
    const names = open.map(({ name }) => name);
    const seen =
      names.length === 0 ? [] : await this.database.read.run(SEEN_SERVERS({ names, workspaceId: auth.workspace.id }));
    const of = (name: string, fingerprint: string) =>
      seen.find((one) => one.name === name && one.fingerprint === fingerprint) ?? null;
    return { mcpServers: open.map((one) => mcpServerView(one, of(one.name, fingerprintOf(one)))) };
  }
}
