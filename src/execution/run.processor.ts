import { Process, Processor } from '@nestjs/bull';
import type { Job } from 'bull';
import { type Ring, RUNS_QUEUE } from '../signals/bull-signal.js';
import { RunExecutor } from './run-executor.js';

/** The bell: a job ends as soon as its runs are claimed or refused, so nothing about the run depends on Bull. */
@Processor(RUNS_QUEUE)
export class RunProcessor {
  constructor(private readonly executor: RunExecutor) {}

  @Process({ concurrency: 4 })
  async ring({ data }: Job<Ring>): Promise<void> {
    await Promise.all(data.runIds.map((runId) => this.executor.execute(runId)));
  }
}
