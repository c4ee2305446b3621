// Who reads the log of events: the handlers, in processes that work, and the purge.
import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { Env } from '../config/env.js';
import { EventHandlers } from './event-handlers.js';
import { EventPurge } from './event-purge.js';

@Module({})
export class EventsModule {
  static with(env: Env): DynamicModule {
    const providers = env.runsWork ? [EventHandlers, EventPurge] : [EventPurge];
    return { module: EventsModule, imports: [DiscoveryModule], providers };
  }
}
