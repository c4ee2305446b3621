import { Injectable, Logger } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { isPassing } from '../../platform/database/database-errors.js';
import { Database } from '../../platform/database/database.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { AutomationFirer } from '../../resources/automations/automation-firer.js';
import { RunRecords } from '../../resources/automations/run-records.js';
import { OCCURRENCES } from '../../platform/fairness/shares.js';
import { catchUp } from './catch-up.js';
import { DUE_IN, type DueAutomation, MOVE_ON, TAKE_DUE, TAKE_ONE } from './occurrences.sql.js';

const LOOK_LIMIT_MS = 2_000;
const BROKEN = { code: 'internal_error', message: 'The service could not start this run; its log says why.' };

interface Round {
  fired: number;
  /** Automations that cannot be fired now. */
  passedBy: Set<string>;
  /** The workspaces of those that are in hand. */
  atWork: string[];
}

/** Fires what is due: occurrence, task, record of the run and next time in one transaction each (reference §12). */
@Injectable()
export class Occurrences {
  private readonly logger = new Logger(Occurrences.name);
  private readonly windowSeconds: number;

  constructor(
    private readonly transactions: Transactions,
    private readonly database: Database,
    private readonly firer: AutomationFirer,
    private readonly records: RunRecords,
    private readonly metrics: Metrics,
    env: Env,
  ) {
    this.windowSeconds = env.variables.CATCHUP_WINDOW_SECONDS;
  }

  /** Milliseconds until the earliest is due, none or less when it is; null when nothing is planned. */
  async dueIn(): Promise<number | null> {
    const [earliest] = await this.database.polling.run(DUE_IN(), LOOK_LIMIT_MS);
    return earliest?.ms ?? null;
  }

  /** Fires all that is due and nobody else has in hand, until `signal` is aborted. Resolves with their number. */
  async fireDue(signal: AbortSignal): Promise<number> {
    const round: Round = { fired: 0, passedBy: new Set(), atWork: [] };
    const loop = async () => {
      while (!signal.aborted && (await this.fireOne(round)));
    };
    const loops = await Promise.allSettled(Array.from({ length: OCCURRENCES }, loop));
    for (const one of loops) if (one.status === 'rejected') throw one.reason;
    return round.fired;
  }

  /** False when nothing is due. One that cannot be fired now is passed by: its turn comes again with the next look. */
  private async fireOne(round: Round): Promise<boolean> {
    let taken: DueAutomation | undefined;
    try {
      await this.transactions.open(async (tx) => {
        [taken] = await tx.run(TAKE_DUE({ passedBy: [...round.passedBy], atWork: round.atWork }));
        if (taken === undefined) return;
        round.atWork.push(taken.workspaceId);
        await this.carryOut(tx, taken);
      });
      if (taken !== undefined) round.fired++;
      return taken !== undefined;
    } catch (error) {
      if (taken === undefined) throw error;
      round.passedBy.add(taken.id);
      this.logger.warn({ reason: `The automation ${taken.id} did not fire.`, err: error });
      if (!isPassing(error)) await this.giveUp(taken);
      return true;
    } finally {
      if (taken !== undefined) round.atWork.splice(round.atWork.indexOf(taken.workspaceId), 1);
    }
  }

  private async carryOut(tx: UnitOfWork, due: DueAutomation): Promise<void> {
    const { id, now } = due;
    const began = performance.now();
    const { fires, missed, more, next } = catchUp(due, now, this.windowSeconds);
    if (missed.length > 0) await this.records.missed(tx, due, missed, more);
    const run = fires === null ? null : await this.firer.fire(tx, id, { type: 'schedule', scheduledAt: fires });
    if (due.kind === 'one_time' && run?.status !== 'waiting') await this.records.skipWaiting(tx, due, 'completed');
    await tx.runWithNext(MOVE_ON({ id, next: next?.toISOString() ?? null }));
    tx.afterCommit(() => {
      this.metrics.occurrencesMissed.inc(missed.length);
      if (fires === null || run === null) return;
      const late = now.getTime() - fires.getTime() + performance.now() - began;
      this.metrics.fireLag.observe(late / 1000);
    });
  }

  /** What fails for a reason that does not pass is on record, and does not stand in the way of the next time. */
  private async giveUp({ id }: DueAutomation): Promise<void> {
    await this.transactions.open(async (tx) => {
      const [due] = await tx.run(TAKE_ONE({ id }));
      if (due === undefined) return;
      const { fires, next } = catchUp(due, due.now, this.windowSeconds);
      const facts = {
        triggerType: 'schedule',
        scheduledAt: fires ?? due.dueAt,
        event: null,
        deliveryId: null,
      } as const;
      await this.records.begin(tx, due, facts, { status: 'failed', reason: BROKEN });
      await tx.runWithNext(MOVE_ON({ id, next: next?.toISOString() ?? null }));
    });
  }
}
