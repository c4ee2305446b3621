import { setTimeout as wait } from 'node:timers/promises';
import { InjectQueue } from '@nestjs/bull';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Queue } from 'bull';
import { BullConnections } from './redis.js';
import { type Ring, RUNS, WorkSignal } from './work-signal.js';

/** Bull's queues: runs, events for automations, and the bell of every other job queue. */
export const BULL_QUEUES = { runs: RUNS, automation: 'automation', jobs: 'jobs' } as const;

/** How long the end of the process waits for Bull. */
const CLOSE_MS = 2000;

/** With Redis: a Bull job that carries a kind and an id. Bull only rings the bell. */
@Injectable()
export class BullSignal extends WorkSignal implements OnApplicationShutdown {
  private readonly logger = new Logger(BullSignal.name);
  private readonly queues: Queue<Ring>[];
  private failing = false;

  constructor(
    @InjectQueue(BULL_QUEUES.runs) private readonly runs: Queue<Ring>,
    @InjectQueue(BULL_QUEUES.automation) private readonly automation: Queue<Ring>,
    @InjectQueue(BULL_QUEUES.jobs) private readonly jobs: Queue<Ring>,
    private readonly connections: BullConnections,
  ) {
    super();
    // @nestjs/bull would wait for Bull without an end.
    this.queues = [runs, automation, jobs];
    for (const queue of this.queues) Object.assign(queue, { onApplicationShutdown: () => undefined });
  }

  /** Bull waits for its jobs, and with a Redis that is frozen for ever; what they have rung for is in the table. */
  async onApplicationShutdown(): Promise<void> {
    const closed = Promise.allSettled(this.queues.map((queue) => queue.close()));
    await Promise.race([closed, wait(CLOSE_MS, undefined, { ref: false })]);
    this.connections.end();
  }

  get connected(): boolean {
    return !this.failing && this.queues.every(({ client }) => client.status === 'ready');
  }

  ring(kind: string, id: string): void {
    // No job id: Bull silently ignores a finished one that is added again.
    this.queueOf(kind)
      .add({ kind, id })
      .then(
        () => this.report(false),
        (error: unknown) => this.report(true, error),
      );
  }

  private queueOf(kind: string): Queue<Ring> {
    if (kind === RUNS) return this.runs;
    return kind === BULL_QUEUES.automation ? this.automation : this.jobs;
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
