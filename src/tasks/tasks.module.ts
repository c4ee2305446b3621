// Tasks: what a person or program asks for, their messages and questions. The work on them is in execution/.
import { Module } from '@nestjs/common';
import { FilesModule } from '../files/files.module.js';
import { ModelsModule } from '../models/models.module.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { InteractionExpiry } from './interaction-expiry.js';
import { InteractionsService } from './interactions.service.js';
import { LeavingModule } from './leaving.module.js';
import { MessageExposure } from './message-exposure.js';
import { MessageReader } from './message-reader.js';
import { MessageSender } from './message-sender.js';
import { MessagesController } from './messages.controller.js';
import { TaskChanger } from './task-changer.js';
import { TaskFilesController } from './task-files.controller.js';
import { TaskStarter } from './task-starter.js';
import { TasksController } from './tasks.controller.js';
import { TasksService } from './tasks.service.js';

const READS = [TasksService, MessageReader, MessageExposure];
const WRITES = [TaskStarter, TaskChanger, MessageSender, InteractionsService, InteractionExpiry];

@Module({
  imports: [FilesModule, LeavingModule, ModelsModule, ProjectsModule],
  controllers: [TasksController, MessagesController, TaskFilesController],
  providers: [...READS, ...WRITES],
  exports: [InteractionExpiry],
})
export class TasksModule {}
