// Millwright as a server of the Model Context Protocol (reference §29): tools that are operations of the API, by their own routes.
import { Module } from '@nestjs/common';
import { RateLimitModule } from '../../access/rate-limit/rate-limit.module.js';
import { McpController } from './mcp.controller.js';
import { Methods } from './methods.js';
import { ToolCalls } from './tool-calls.js';
import { ToolDefinitions } from './tool-definitions.js';

@Module({ imports: [RateLimitModule], controllers: [McpController], providers: [Methods, ToolCalls, ToolDefinitions] })
export class McpModule {}
