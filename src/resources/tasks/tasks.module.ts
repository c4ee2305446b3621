// Tasks: what a person or program asks for, their messages and questions. The work on them is in src/work.
import { Module } from '@nestjs/common';
import { BillingModule } from '../billing/billing.module.js';
import { FilesModule } from '../files/files.module.js';
import { McpModule } from '../../engine/agent/mcp/mcp.module.js';
import { ModelsModule } from '../../engine/models/models.module.js';
import { RepositoriesModule } from '../../engine/repositories/repositories.module.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { InteractionsService } from './interactions/interactions.service.js';
import { OffboardingModule } from './offboarding/offboarding.module.js';
import { TransparencyPolicy } from './messages/transparency-policy.js';
import { MessagesController } from './messages/messages.controller.js';
import { MessagesService } from './messages/messages.service.js';
import { ChecksAgain } from './checks/checks-again.js';
import { TaskCommandsController } from './commands/task-commands.controller.js';
import { TaskChecksController } from './checks/task-checks.controller.js';
import { TaskFilesController } from './task-files.controller.js';
import { TaskPause } from './task-pause.js';
import { TaskFork } from './task-fork.js';
import { TaskStarter } from './task-starter.js';
import { TasksController } from './tasks.controller.js';
import { TasksService } from './tasks.service.js';

@Module({
  imports: [BillingModule, FilesModule, OffboardingModule, McpModule, ModelsModule, ProjectsModule, RepositoriesModule],
  controllers: [TasksController, MessagesController, TaskFilesController, TaskChecksController, TaskCommandsController],
  providers: [
    TasksService,
    TaskStarter,
    TaskPause,
    TaskFork,
    ChecksAgain,
    MessagesService,
    InteractionsService,
    TransparencyPolicy,
  ],
  exports: [OffboardingModule, InteractionsService, TaskPause, TaskStarter, TasksService, TransparencyPolicy],
})
export class TasksModule {}
