// Servers of the Model Context Protocol that tasks may have: which there are. Runs speak with them.
import { Module } from '@nestjs/common';
import { McpServers } from './mcp-servers.js';

@Module({ providers: [McpServers], exports: [McpServers] })
export class McpModule {}
