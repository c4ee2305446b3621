// The servers of the Model Context Protocol that there are, as clients see them. What workers see of them is kept here.
import { Module } from '@nestjs/common';
import { McpModule } from '../../engine/agent/mcp/mcp.module.js';
import { McpServersController } from './mcp-servers.controller.js';

@Module({ imports: [McpModule], controllers: [McpServersController] })
export class McpServersModule {}
