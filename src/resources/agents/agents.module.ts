// Agents: named ways of working, with versions. They are kept and changed here; `find-agent.ts` and `with-agent.ts` bring one into a new task.
import { Module } from '@nestjs/common';
import { McpModule } from '../../engine/agent/mcp/mcp.module.js';
import { ModelsModule } from '../../engine/models/models.module.js';
import { RepositoriesModule } from '../../engine/repositories/repositories.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { AgentRules } from './agent-rules.js';
import { AgentsController } from './agents.controller.js';
import { EvaluationsController } from './evaluations/evaluations.controller.js';
import { EvaluationsService } from './evaluations/evaluations.service.js';
import { AgentsService } from './agents.service.js';

@Module({
  imports: [McpModule, ModelsModule, RepositoriesModule, TasksModule],
  controllers: [AgentsController, EvaluationsController],
  providers: [AgentsService, AgentRules, EvaluationsService],
})
export class AgentsModule {}
