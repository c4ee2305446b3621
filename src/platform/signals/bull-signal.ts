import { setTimeout as wait } from 'node:timers/promises';
import { InjectQueue } from '@nestjs/bull';
import { Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bull';
import { WorkSignal } from './work-signal.js';

export const RUNS_QUEUE = 'runs';

/** How long the end of the process waits for Bull. */
const CLOSE_MS = 2000;

/** With Redis: a Bull job that carries the run's id. Bull only rings the bell. */
@Injectable()
export class BullSignal extends WorkSignal {
  private readonly logger = new Logger(BullSignal.name);
  private failing = false;

  constructor(@InjectQueue(RUNS_QUEUE) private readonly queue: Queue<{ runId: string }>) {
    super();
    // In the place of @nestjs/bull's own.
    Object.assign(queue, { onApplicationShutdown: () => this.close() });
  }

  get connected(): boolean {
    return !this.failing && this.queue.client.status === 'ready';
  }

  ring(runId: string): void {
    // No job id: Bull silently ignores a finished one that is added again.
    this.queue.add({ runId }).then(
      () => this.report(false),
      (error: unknown) => this.report(true, error),
    );
  }

  /** Says once that Redis is gone and once that it is back: work goes on through PostgreSQL meanwhile. */
  private report(failing: boolean, error?: unknown): void {
    if (failing !== this.failing) {
      this.failing = failing;
      if (failing)
        this.logger.warn(`Redis does not take signals (${String(error)}); PostgreSQL is looked at each second.`);
      else this.logger.log('Redis takes signals again.');
    }
  }

  /** Bull waits for its jobs, and with a Redis that is frozen for ever; what they have rung for is in the table. */
  private async close(): Promise<void> {
    const closed = this.queue.close().catch(() => undefined);
    await Promise.race([closed, wait(CLOSE_MS, undefined, { ref: false })]);
    for (const client of this.queue.clients) client.disconnect();
  }
}
