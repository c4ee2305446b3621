// Automations: tasks that are made by a schedule, at one time, or when a provider tells of an event.
import { Module } from '@nestjs/common';
import { McpModule } from '../../engine/agent/mcp/mcp.module.js';
import { ModelsModule } from '../../engine/models/models.module.js';
import { FilesModule } from '../files/files.module.js';
import { IntegrationsModule } from '../integrations/integrations.module.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { AutomationFirer } from './automation-firer.js';
import { AutomationRules } from './automation-rules.js';
import { AutomationStates } from './automation-states.js';
import { AutomationsController } from './automations.controller.js';
import { AutomationsService } from './automations.service.js';
import { RunRecords } from './run-records.js';

@Module({
  imports: [FilesModule, IntegrationsModule, McpModule, ModelsModule, ProjectsModule, TasksModule],
  controllers: [AutomationsController],
  providers: [AutomationsService, AutomationRules, AutomationStates, AutomationFirer, RunRecords],
  exports: [AutomationFirer, RunRecords],
})
export class AutomationsModule {}
