// Background work: a row of the table `jobs` is the truth, a signal only the bell; ours and those of extensions.
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { JobHandlers } from './job-handlers.js';
import { JobQueue } from './job-queue.js';

@Global()
@Module({})
export class JobsModule {
  static with(): DynamicModule {
    return {
      module: JobsModule,
      imports: [DiscoveryModule],
      providers: [JobHandlers, JobQueue],
      exports: [JobQueue],
    };
  }
}
