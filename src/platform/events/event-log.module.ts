// Where events are written: every process needs it, the operator command too.
import { Global, Module } from '@nestjs/common';
import { EventNews } from './event-news.js';
import { EventLog } from './event-log.js';
import { RestoredLog } from './restored-log.js';

@Global()
@Module({ providers: [EventLog, EventNews, RestoredLog], exports: [EventLog, EventNews] })
export class EventLogModule {}
