import { Process, Processor } from '@nestjs/bull';
import type { Job } from 'bull';
import { BULL_QUEUES } from '../signals/bull-signal.js';
import type { Ring } from '../signals/work-signal.js';
import { JobRunner } from './job-runner.js';

/** Events for automations. Bull's job ends as soon as the row is claimed or passed on, so nothing depends on Bull. */
@Processor(BULL_QUEUES.automation)
export class AutomationProcessor {
  constructor(private readonly runner: JobRunner) {}

  @Process({ concurrency: 4 })
  ring({ data }: Job<Ring>): Promise<void> {
    return this.runner.wakeOrPassOn(data);
  }
}

/** Every other queue. */
@Processor(BULL_QUEUES.jobs)
export class JobsProcessor {
  constructor(private readonly runner: JobRunner) {}

  @Process({ concurrency: 4 })
  ring({ data }: Job<Ring>): Promise<void> {
    return this.runner.wakeOrPassOn(data);
  }
}
