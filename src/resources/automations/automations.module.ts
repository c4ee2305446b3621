// Automations: tasks that are made by a schedule, at one time, or when a provider tells of an event.
import { Module } from '@nestjs/common';
import { ModelsModule } from '../../engine/models/models.module.js';
import { IntegrationsModule } from '../integrations/integrations.module.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { AutomationRules } from './automation-rules.js';
import { AutomationStatesModule } from './automation-states.module.js';
import { AutomationsController } from './automations.controller.js';
import { AutomationsService } from './automations.service.js';
import { FiringModule } from './firing.module.js';

@Module({
  imports: [AutomationStatesModule, FiringModule, IntegrationsModule, ModelsModule, ProjectsModule],
  controllers: [AutomationsController],
  providers: [AutomationsService, AutomationRules],
})
export class AutomationsModule {}
