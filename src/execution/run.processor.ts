import { Process, Processor } from '@nestjs/bull';
import type { Job } from 'bull';
import { RUNS_QUEUE } from '../signals/bull-signal.js';
import { RunExecutor } from './run-executor.js';

/** The bell: a job ends as soon as its run is claimed, so nothing about the run depends on Bull. */
@Processor(RUNS_QUEUE)
export class RunProcessor {
  constructor(private readonly executor: RunExecutor) {}

  @Process({ concurrency: 4 })
  ring({ data }: Job<{ runId: string }>): Promise<void> {
    return this.executor.execute(data.runId);
  }
}
