// Environments: named descriptions of the box that tasks work in. They are kept and changed here; `work/environments` builds them.
import { Module } from '@nestjs/common';
import { McpModule } from '../../engine/agent/mcp/mcp.module.js';
import { RepositoriesModule } from '../../engine/repositories/repositories.module.js';
import { BuildAsks } from './build-asks.js';
import { BuildAsksController } from './build-asks.controller.js';
import { EnvironmentRules } from './environment-rules.js';
import { EnvironmentsController } from './environments.controller.js';
import { EnvironmentsService } from './environments.service.js';

@Module({
  imports: [McpModule, RepositoriesModule],
  controllers: [EnvironmentsController, BuildAsksController],
  providers: [BuildAsks, EnvironmentsService, EnvironmentRules],
})
export class EnvironmentsModule {}
