// Events for clients: the routes of a task and of a workspace, in JSON and as streams, and all that follow in this process.
import { Module } from '@nestjs/common';
import { TasksModule } from '../tasks/tasks.module.js';
import { EventAnswers } from './event-answers.js';
import { EventReads } from './event-reads.js';
import { OpenStreams } from './open-streams.js';
import { Streams } from './streams.js';
import { TaskEventsController } from './task-events.controller.js';
import { WorkspaceEventsController } from './workspace-events.controller.js';

@Module({
  imports: [TasksModule],
  controllers: [TaskEventsController, WorkspaceEventsController],
  providers: [EventAnswers, EventReads, OpenStreams, Streams],
})
export class EventStreamsModule {}
