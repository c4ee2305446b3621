import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Chore } from '../chores/chore.js';
import { inBatches } from '../chores/in-batches.js';
import { Database } from '../database/database.js';
import { LOCKS } from '../database/locks.js';
import { Metrics, oncePerScrape } from '../metrics/metrics.js';
import { FIGURES, FORGET, type QueueFigures } from './jobs.sql.js';

const KEEP_FAILED_DAYS = 30;
const BATCH = 500;

/** What waits and what has failed, for Prometheus; and what has failed long ago is forgotten. */
@Injectable()
export class JobFigures implements OnModuleInit {
  /** Without a database they are missing. */
  private readonly read = oncePerScrape(() => this.database.read.run(FIGURES()).catch(() => []));

  constructor(
    private readonly database: Database,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    const gauge = (name: string, help: string, read: (one: QueueFigures) => number) =>
      this.metrics.gauge(name, help, 'queue', async () => (await this.read()).map((one) => [one.queue, read(one)]));
    gauge('jobs_waiting', 'Jobs that are due and have not begun.', ({ waiting }) => waiting);
    gauge('jobs_age_seconds', 'How long the first of them has been due.', ({ age }) => age);
    gauge('jobs_failed', 'Jobs that are tried no more, of the last 30 days.', ({ failed }) => failed);
  }

  @Chore({ every: 3_600_000, lock: LOCKS.failedJobs })
  async forgetFailed(signal?: AbortSignal): Promise<void> {
    const forget = FORGET({ days: KEEP_FAILED_DAYS, batch: BATCH });
    await inBatches(BATCH, () => this.database.work.run(forget), signal);
  }
}
