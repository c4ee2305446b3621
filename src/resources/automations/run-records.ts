import { Injectable } from '@nestjs/common';
import { newId } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { EventLog } from '../../platform/events/event-log.js';
import type { AutomationRunStatus } from './automation-run.entity.js';
import {
  type AutomationRunRow,
  INSERT_MISSED,
  INSERT_RUN,
  type RunReason,
  SETTLE_RUN,
  SKIP_WAITING,
} from './automation-runs.sql.js';
import { Automation, type PausedReason } from './automation.entity.js';

/** What a record needs of its automation. */
export interface RecordedAutomation {
  id: string;
  workspaceId: string;
}

/** How a run stands when it is recorded first, and what becomes of it. */
export interface Standing {
  status: AutomationRunStatus;
  reason: RunReason | null;
  taskId: string | null;
}

/** `id`: the one that the run is to have; else a new one. */
type Facts = Pick<AutomationRunRow, 'triggerType' | 'scheduledAt' | 'event' | 'deliveryId'> & { id?: string };

/** Writes what becomes of automations: their runs, their pauses, and the events that tell of both (reference §12, §17). */
@Injectable()
export class RunRecords {
  constructor(private readonly events: EventLog) {}

  /** Null when the occurrence, or the delivery, has its run already. One that has yet to get its task is told of when it is settled. */
  async begin(
    tx: UnitOfWork,
    automation: RecordedAutomation,
    facts: Facts,
    { status, reason }: Omit<Standing, 'taskId'>,
  ): Promise<AutomationRunRow | null> {
    const [run] = await tx.run(
      INSERT_RUN({ automationId: automation.id, ...facts, id: facts.id ?? newId(), status, reason }),
    );
    if (run === undefined) return null;
    if (status !== 'started') await this.tell(tx, automation, run);
    return run;
  }

  /** How a run ends that was just recorded as started, or that waited. */
  async settle(
    tx: UnitOfWork,
    automation: RecordedAutomation,
    run: AutomationRunRow,
    standing: Standing,
  ): Promise<AutomationRunRow> {
    const settled = { ...run, ...standing };
    await tx.runWithNext(SETTLE_RUN({ id: run.id, ...standing }));
    await this.tell(tx, automation, settled);
    return settled;
  }

  /**
   * Records occurrences that were missed as skipped.
   * @param times oldest first.
   * @param more between the oldest and the others there were more, which are not recorded one by one.
   */
  async missed(tx: UnitOfWork, automation: RecordedAutomation, times: readonly Date[], more: boolean): Promise<void> {
    const reasons = times.map((_time, at) => {
      const rest = `, nor at the times after it, of which the newest ${times.length - 1} are listed`;
      return { code: 'missed', message: `No worker ran at this time${more && at === 0 ? rest : ''}.` };
    });
    const skipped = await tx.run(
      INSERT_MISSED({
        automationId: automation.id,
        ids: times.map(() => newId()),
        times: times.map((time) => time.toISOString()),
        reasons: reasons.map((reason) => JSON.stringify(reason)),
      }),
    );
    for (const run of skipped) await this.tell(tx, automation, run);
  }

  /** The run that waits is skipped when its automation is paused or completed. The caller holds the automation's row. */
  async skipWaiting(tx: UnitOfWork, automation: RecordedAutomation, because: 'paused' | 'completed'): Promise<void> {
    const reason = { code: because, message: `The automation was ${because} while this run waited.` };
    for (const run of await tx.run(SKIP_WAITING({ automationId: automation.id, reason })))
      await this.tell(tx, automation, run);
  }

  /** Pauses an active automation: nothing accumulates, and what waits is skipped. The caller holds its row. */
  async pause(tx: UnitOfWork, automation: RecordedAutomation, reason: PausedReason): Promise<void> {
    const active = { id: automation.id, status: 'active' } as const;
    const paused = { status: 'paused', pausedReason: reason, nextRunAt: null, updatedAt: () => 'now()' } as const;
    if ((await tx.manager.getRepository(Automation).update(active, paused)).affected === 0) return;
    await this.append(tx, automation, 'automation.paused', { runId: null, taskId: null, reason });
    await this.skipWaiting(tx, automation, 'paused');
  }

  /** A run that waits has no event yet. */
  private async tell(tx: UnitOfWork, automation: RecordedAutomation, run: AutomationRunRow): Promise<void> {
    const { id: runId, status, taskId, reason } = run;
    if (status !== 'waiting') await this.append(tx, automation, `automation.run_${status}`, { runId, taskId, reason });
  }

  private append(
    tx: UnitOfWork,
    { id: automationId, workspaceId }: RecordedAutomation,
    type: string,
    data: { runId: string | null; taskId: string | null; reason: RunReason | null },
  ): Promise<void> {
    return this.events.append(tx, { workspaceId, taskId: data.taskId, type, data: { automationId, ...data } });
  }
}
