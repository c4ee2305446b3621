// When an automation is active: what requests and the operator command share.
import { Injectable } from '@nestjs/common';
import { Not } from 'typeorm';
import { Membership } from '../../access/workspaces/membership.entity.js';
import { plansOf } from '../../platform/config/config-file.js';
import { Env } from '../../platform/config/env.js';
import type { Plan } from '../../platform/config/rate-limits.js';
import type { Sql } from '../../platform/database/sql.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError } from '../../platform/http/api-error.js';
import { ConnectionsService } from '../integrations/connections.service.js';
import type { AutomationDraft } from './automation-draft.js';
import { Automation } from './automation.entity.js';
import { LOCK_ACTIVE, type LockedAutomation, NOW } from './automations.sql.js';
import { RunRecords } from './run-records.js';
import { nextRun } from './schedule.js';

const BY_HAND = { code: 'manual', message: 'Paused on request.' } as const;

/** Makes automations active and pauses them, by hand (reference §12). The caller holds the automation. */
@Injectable()
export class AutomationStates {
  private readonly plans: ReturnType<typeof plansOf>;

  constructor(
    private readonly connections: ConnectionsService,
    private readonly records: RunRecords,
    env: Env,
  ) {
    this.plans = plansOf(env.file);
  }

  /** By the clock of the database, as automations fire by it. */
  async now(database: Sql): Promise<Date> {
    const [row] = await database.run(NOW());
    if (row === undefined) throw new Error('The database does not say what time it is.');
    return row.now;
  }

  /** One that is paused stays as it is. Throws 409 for a completed one. */
  async pause(tx: UnitOfWork, automation: LockedAutomation): Promise<void> {
    refuseCompleted(automation.status);
    if (automation.status === 'paused') return;
    await this.records.pause(tx, automation, BY_HAND);
  }

  /**
   * Goes on from now: nothing has accumulated. One that is active stays as it is. Throws 409 for a completed one, 400 when its time
   * passed or its connection is missing, 403 when its owner may not work, 402 by the plan.
   */
  async resume(tx: UnitOfWork, automation: LockedAutomation, plan: Plan): Promise<void> {
    const { id, workspaceId, ownerId, status, kind, runAt } = automation;
    refuseCompleted(status);
    if (status === 'active') return;
    const now = await this.now(tx);
    if (kind === 'one_time') checkAhead(runAt, now);
    const works = { workspaceId, userId: ownerId, role: Not('viewer' as const) };
    if (!(await tx.manager.getRepository(Membership).existsBy(works))) throw noWorker();
    const connectionId = await this.connectionOf(tx, workspaceId, ownerId, automation);
    await this.checkPlan(tx, workspaceId, plan);
    const anew = { pausedReason: null, consecutiveFailures: 0, updatedAt: () => 'now()' };
    const fires = { status: 'active', connectionId, nextRunAt: nextRunOf(automation, now) } as const;
    await tx.manager.getRepository(Automation).update({ id }, { ...anew, ...fires });
  }

  /**
   * Throws 402 when the workspace has as many active automations as its plan allows. Until the end of the transaction no other one
   * becomes active.
   */
  async checkPlan(tx: UnitOfWork, workspaceId: string, plan: Plan): Promise<void> {
    const { name, activeAutomations } = this.plans[plan];
    await tx.run(LOCK_ACTIVE({ workspaceId }));
    const active = await tx.manager.getRepository(Automation).countBy({ workspaceId, status: 'active' });
    if (active < activeAutomations) return;
    const message = `The plan ${name} allows ${activeAutomations} active automations; pause or delete one, or take a larger plan.`;
    throw new ApiError('subscription_required', message);
  }

  /** The connection that brings the events of a webhook, null for other kinds. Throws 400. */
  async connectionOf(
    tx: UnitOfWork,
    workspaceId: string,
    ownerId: string,
    { triggerEvent }: Pick<AutomationDraft, 'triggerEvent'>,
  ): Promise<string | null> {
    if (triggerEvent === null) return null;
    const [slug = ''] = triggerEvent.split('.');
    const connection = await this.connections.forOwner(tx, workspaceId, ownerId, slug);
    if (connection !== undefined) return connection.id;
    const message = `triggerEvent: the integration ${slug} is not connected; an operator connects it for the workspace or its user.`;
    throw new ApiError('integration_not_connected', message, { param: 'triggerEvent' });
  }
}

/** When an active automation fires next; null for one that waits for events. */
export function nextRunOf(
  { cron, timezone, runAt }: Pick<AutomationDraft, 'cron' | 'timezone' | 'runAt'>,
  now: Date,
): Date | null {
  return cron === null ? runAt : nextRun(cron, timezone ?? 'UTC', now);
}

/** Throws 400. */
export function checkAhead(runAt: Date | null, now: Date): void {
  if (runAt !== null && runAt > now) return;
  throw new ApiError('schedule_in_past', 'runAt is past; a time that lies ahead is expected.', { param: 'runAt' });
}

function refuseCompleted(status: LockedAutomation['status']): void {
  if (status !== 'completed') return;
  const message = 'The automation is completed; give it a new runAt, or another trigger, to make it active again.';
  throw new ApiError('automation_completed', message);
}

function noWorker(): ApiError {
  const message = 'The owner of this automation may not start tasks: it left the workspace, or is a viewer.';
  return new ApiError('role_not_allowed', message);
}
