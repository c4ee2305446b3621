// Background work: a row of the table `jobs` is the truth, a notice only says that it is there; ours and those of extensions.
import { Process, Processor } from '@nestjs/bull';
import { type DynamicModule, Global, Injectable, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { Job } from 'bull';
import type { Env } from '../config/env.js';
import { BULL_QUEUES } from '../notices/bull-queues.js';
import type { Work } from '../notices/notices.js';
import { JobClaims } from './job-claims.js';
import { JobFigures } from './job-figures.js';
import { JobHandlers } from './job-handlers.js';
import { JobQueue } from './job-queue.js';
import { JobRunner } from './job-runner.js';

/** Bull's job ends as soon as the row is claimed or passed on, so nothing depends on Bull. */
@Injectable()
class BullJobs {
  constructor(private readonly runner: JobRunner) {}

  @Process({ concurrency: 4 })
  bring({ data }: Job<Work>): Promise<void> {
    return this.runner.wakeOrPassOn(data);
  }
}

/** Events for automations. */
@Processor(BULL_QUEUES.automation)
class AutomationProcessor extends BullJobs {}

/** Every other queue. */
@Processor(BULL_QUEUES.jobs)
class JobsProcessor extends BullJobs {}

/** Global, as the chores are: handlers of all modules are there until the last. */
@Global()
@Module({})
export class JobsModule {
  static with(env: Env): DynamicModule {
    const processors = env.variables.REDIS_URL === undefined ? [] : [AutomationProcessor, JobsProcessor];
    const work = env.runsWork ? [JobClaims, JobRunner, ...processors] : [];
    return {
      module: JobsModule,
      imports: [DiscoveryModule],
      providers: [JobHandlers, JobQueue, JobFigures, ...work],
      exports: [JobQueue],
    };
  }
}
