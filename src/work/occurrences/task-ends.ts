import { Injectable } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { type DomainEvent, OnEvent } from '../../platform/events/on-event.js';
import { JobQueue } from '../../platform/jobs/job-queue.js';
import { NO_LONGER_WAITING } from '../../resources/automations/automation-runs.sql.js';
import { RunRecords } from '../../resources/automations/run-records.js';
import { COUNT_END } from './task-ends.sql.js';

/** So many failed tasks in a row pause an automation (reference §12). */
const FAILURES = 10;
const PAUSED = { code: 'failures', message: `${FAILURES} tasks of this automation have failed in a row.` } as const;
const MINUTE_MS = 60_000;

/** What the end of a task means to the automation that made it. */
@Injectable()
export class TaskEnds {
  constructor(
    private readonly transactions: Transactions,
    private readonly records: RunRecords,
    private readonly jobs: JobQueue,
  ) {}

  /** Counts failures in a row, and lets the run begin that waits for this end. A task that asks a person is as good as over. */
  @OnEvent('task.completed', 'task.failed', 'task.cancelled', 'task.awaiting_input', 'task.deleted')
  async ended({ type, workspaceId, data }: DomainEvent, tx: UnitOfWork): Promise<void | false> {
    const { automationId } = data['source'] as { automationId: string | null };
    if (automationId === null) return false;
    // Holds the row: a run that found the task under way and is about to wait for it is then seen by the next statement.
    const [automation] = await tx.run(COUNT_END({ automationId, type }));
    if (automation === undefined) return;
    if (type === 'task.failed' && automation.consecutiveFailures >= FAILURES) {
      await this.records.pause(tx, { id: automationId, workspaceId }, PAUSED);
    }
    await this.startWaiting(tx, automationId);
  }

  /** One that began to wait at the moment at which the task before it was deleted. */
  @Chore({ every: MINUTE_MS })
  startForgotten(): Promise<void> {
    return this.transactions.open((tx) => this.startWaiting(tx, null));
  }

  /** @param ofAutomation null for all. */
  private async startWaiting(tx: UnitOfWork, ofAutomation: string | null): Promise<void> {
    for (const { automationId, ...whose } of await tx.run(NO_LONGER_WAITING({ ofAutomation }))) {
      await this.jobs.add(tx, 'automation', { automationId }, whose);
    }
  }
}
