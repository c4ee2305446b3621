import { Process, Processor } from '@nestjs/bull';
import type { Job } from 'bull';
import { BULL_QUEUES } from '../../platform/signals/bull-signal.js';
import { PgChannel } from '../../platform/signals/pg-channel.js';
import type { Ring } from '../../platform/signals/work-signal.js';
import { RunExecutor } from './run-executor.js';

/** Claims the run that a job names. The job ends as soon as the run is claimed, so nothing about the run depends on Bull. */
@Processor(BULL_QUEUES.runs)
export class RunProcessor {
  constructor(
    private readonly executor: RunExecutor,
    private readonly channel: PgChannel,
  ) {}

  /**
   * Bull gives a job to any worker. A worker that has no open place, or stops, passes on what it does not take by a notice: without
   * it the others would find the run at their next look, up to a second later.
   */
  @Process({ concurrency: 4 })
  async ring({ data }: Job<Ring>): Promise<void> {
    const open = this.executor.open > 0;
    if (!(await this.executor.execute(data.id)) && !open) this.channel.send({ work: data });
  }
}
