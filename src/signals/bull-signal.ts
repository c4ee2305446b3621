import { InjectQueue } from '@nestjs/bull';
import { Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bull';
import { WorkSignal } from './work-signal.js';

export const RUNS_QUEUE = 'runs';

/** What a job carries. */
export interface Ring {
  runIds: string[];
}

/**
 * With Redis: a Bull job that carries the ids of runs. Bull only rings the bell. What is rung while Redis has not answered yet
 * goes out together afterwards: alone a ring waits for nothing, and under load there are fewer jobs than runs.
 */
@Injectable()
export class BullSignal extends WorkSignal {
  private readonly logger = new Logger(BullSignal.name);
  private failing = false;
  private waiting: string[] = [];
  private adding = false;

  constructor(@InjectQueue(RUNS_QUEUE) private readonly queue: Queue<Ring>) {
    super();
  }

  get connected(): boolean {
    return !this.failing && this.queue.client.status === 'ready';
  }

  ring(runId: string): void {
    this.waiting.push(runId);
    if (!this.adding) void this.add();
  }

  private async add(): Promise<void> {
    this.adding = true;
    while (this.waiting.length > 0) {
      const runIds = this.waiting;
      this.waiting = [];
      try {
        // No job id: Bull silently ignores a finished one that is added again.
        await this.queue.add({ runIds });
        this.report(false);
      } catch (error) {
        this.report(true, error);
      }
    }
    this.adding = false;
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
}
