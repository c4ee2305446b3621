// Where events are written: every process needs it, the operator command too.
import { Global, Module } from '@nestjs/common';
import { EventSubscriptions } from './event-subscriptions.js';
import { EventLog } from './event-log.js';
import { RestoredLog } from './restored-log.js';

@Global()
@Module({ providers: [EventLog, EventSubscriptions, RestoredLog], exports: [EventLog, EventSubscriptions] })
export class EventLogModule {}
