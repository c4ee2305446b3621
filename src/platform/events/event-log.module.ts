// Where events are written: every process needs it, the operator command too.
import { Global, Module } from '@nestjs/common';
import { EventBell } from './event-bell.js';
import { EventLog } from './event-log.js';
import { RestoredLog } from './restored-log.js';

@Global()
@Module({ providers: [EventBell, EventLog, RestoredLog], exports: [EventBell, EventLog] })
export class EventLogModule {}
