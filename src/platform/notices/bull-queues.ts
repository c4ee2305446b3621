import { setTimeout as wait } from 'node:timers/promises';
import { InjectQueue } from '@nestjs/bull';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Queue } from 'bull';
import { Notices, RUNS, type Work, type WorkCarrier } from './notices.js';
import { BullConnections } from './redis.js';

/** Bull's queues: runs, events for automations, and one for every other queue of jobs. */
export const BULL_QUEUES = { runs: RUNS, automation: 'automation', jobs: 'jobs' } as const;

/** How long the end of the process waits for Bull. */
const CLOSE_MS = 2000;

/** With Redis a notice of work is a Bull job that carries a kind and an id. The work itself is in PostgreSQL. */
@Injectable()
export class BullQueues implements WorkCarrier, OnApplicationShutdown {
  private readonly logger = new Logger(BullQueues.name);
  private readonly queues: Queue<Work>[];
  private failing = false;

  constructor(
    @InjectQueue(BULL_QUEUES.runs) private readonly runs: Queue<Work>,
    @InjectQueue(BULL_QUEUES.automation) private readonly automation: Queue<Work>,
    @InjectQueue(BULL_QUEUES.jobs) private readonly jobs: Queue<Work>,
    private readonly connections: BullConnections,
    notices: Notices,
  ) {
    notices.carryWorkBy(this);
    // @nestjs/bull would wait for Bull without an end.
    this.queues = [runs, automation, jobs];
    for (const queue of this.queues) Object.assign(queue, { onApplicationShutdown: () => undefined });
  }

  /** Bull waits for its jobs, and with a Redis that is frozen for ever; the work is in the table. */
  async onApplicationShutdown(): Promise<void> {
    const closed = Promise.allSettled(this.queues.map((queue) => queue.close()));
    await Promise.race([closed, wait(CLOSE_MS, undefined, { ref: false })]);
    this.connections.end();
  }

  get connected(): boolean {
    return !this.failing && this.queues.every(({ client }) => client.status === 'ready');
  }

  add(work: Work): void {
    // No job id: Bull silently ignores a finished one that is added again.
    this.queueOf(work)
      .add(work)
      .then(
        () => this.report(false),
        (error: unknown) => this.report(true, error),
      );
  }

  private queueOf({ kind }: Work): Queue<Work> {
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
