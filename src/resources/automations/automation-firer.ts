import { Injectable } from '@nestjs/common';
import { Actor } from '../../access/auth/auth-context.js';
import { plansOf } from '../../platform/config/config-file.js';
import { Env } from '../../platform/config/env.js';
import { newId } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { StorageQuota } from '../files/storage-quota.js';
import type { PutFile } from '../files/storage/file-storage.js';
import { TaskStarter } from '../tasks/task-starter.js';
import {
  type ActiveLimits,
  type AutomationRunRow,
  type FiringAutomation,
  FITS,
  INSERT_EVENT_FILE,
  LOAD,
  type RunReason,
  WAITING_RUN,
} from './automation-runs.sql.js';
import { forTask } from './automation-repository.js';
import { EVENT_FILE, withNotice } from './event-notice.js';
import { hindrance, overlapping, type Refusal } from './firing-rules.js';
import { RunRecords } from './run-records.js';

/** The stored payload of an event, or why there is none. */
export type EventFile = PutFile | RunReason;
export const PAYLOAD_GONE = { code: 'payload_gone', message: 'What the provider sent is not there any more.' };

/** What an automation fires by. */
export type Trigger =
  | { type: 'schedule'; scheduledAt: Date }
  /** With the id that the run is to have, where a job asks for it: a second attempt then makes no second run. */
  | { type: 'manual'; id?: string }
  | { type: 'event'; event: string; deliveryId: string; file: EventFile };

const NOTHING = { scheduledAt: null, event: null, deliveryId: null };

/** Makes the runs of automations, and their tasks as the owner would (reference §12). */
@Injectable()
export class AutomationFirer {
  private readonly limits: ActiveLimits;

  constructor(
    private readonly tasks: TaskStarter,
    private readonly records: RunRecords,
    private readonly quota: StorageQuota,
    private readonly extensions: ExtensionSet,
    env: Env,
  ) {
    const { free, paid } = plansOf(env.file);
    this.limits = { free: free.activeAutomations, paid: paid.activeAutomations };
  }

  /**
   * Makes the record of a run and, unless it is skipped, fails or waits, its task, in one transaction. The caller holds the
   * automation's row FOR UPDATE. A manual run is made whatever the automation's status and whatever else runs.
   *
   * Resolves with null when the occurrence, or the delivery, has its run already. Rejects with a passing error of the
   * database (55P03) when the owner or the project is being removed at this moment.
   */
  async fire(tx: UnitOfWork, automationId: string, trigger: Trigger): Promise<AutomationRunRow | null> {
    const automation = await this.load(tx, automationId);
    const refusal = hindrance(automation, trigger.type);
    const failed = refusal && { status: 'failed' as const, reason: refusal.reason };
    const ending = failed ?? unjudged(trigger) ?? overlapping(automation, trigger.type);
    const { type: triggerType, ...facts } = trigger;
    const { file = null, ...known } = { file: null, ...facts };
    const standing = ending ?? { status: 'started' as const, reason: null };
    const run = await this.records.begin(tx, automation, { ...NOTHING, ...known, triggerType }, standing);
    if (run === null) return null;
    if (refusal?.pause != null) await this.records.pause(tx, automation, refusal.pause);
    return ending === null ? this.start(tx, automation, run, file) : run;
  }

  /**
   * Starts the run that waits, if the task before it has ended by now; of an automation that is paused it is skipped. The caller
   * holds the automation's row FOR UPDATE.
   * @param event of the run as it was found before, both null when it has none. Throws when another run waits by now: it must
   *   not get this one's file.
   */
  async startWaiting(
    tx: UnitOfWork,
    automationId: string,
    { deliveryId, file }: { deliveryId: string | null; file: EventFile | null },
  ): Promise<AutomationRunRow | null> {
    const [run] = await tx.run(WAITING_RUN({ automationId }));
    if (run === undefined) return null;
    if (run.deliveryId !== deliveryId) throw new Error('Another run of this automation waits by now.');
    const automation = await this.load(tx, automationId);
    if (automation.status === 'paused') {
      await this.records.skipWaiting(tx, automation, 'paused');
      return null;
    }
    const refusal = hindrance(automation, run.triggerType);
    if (refusal !== null) return this.refuse(tx, automation, run, refusal);
    // A delivery is forgotten after 30 days, whatever waits for it.
    return this.start(tx, automation, run, run.triggerType === 'event' ? (file ?? PAYLOAD_GONE) : file);
  }

  private async load(tx: UnitOfWork, automationId: string): Promise<FiringAutomation> {
    const [automation] = await tx.run(LOAD({ automationId, limits: this.limits }));
    if (automation === undefined) throw notFound('automation');
    return automation;
  }

  private async start(
    tx: UnitOfWork,
    automation: FiringAutomation,
    run: AutomationRunRow,
    file: EventFile | null,
  ): Promise<AutomationRunRow> {
    if (file !== null && 'code' in file) return this.refuse(tx, automation, run, { reason: file, pause: null });
    try {
      const taskId = await this.createTask(tx, automation, run, file);
      return await this.records.settle(tx, automation, run, { status: 'started', reason: null, taskId });
    } catch (error) {
      // Refused by the rules of tasks, before anything was written.
      if (!(error instanceof ApiError)) throw error;
      return this.refuse(tx, automation, run, { reason: reasonOf(error), pause: null });
    }
  }

  private async createTask(
    tx: UnitOfWork,
    automation: FiringAutomation,
    run: AutomationRunRow,
    file: PutFile | null,
  ): Promise<string> {
    const {
      id,
      workspaceId,
      ownerId,
      projectId,
      content,
      model,
      effort,
      approvals,
      whenBlocked,
      web,
      skills,
      mcpServers,
      budget,
      repository,
      environment,
      agent,
      checks,
      maxRepairs,
      now,
    } = automation;
    const taskId = newId();
    const { limits } = this.quota;
    if (file !== null && (await tx.run(FITS({ workspaceId, limits, size: file.size }))).length === 0) {
      throw await this.quota.refusal(workspaceId, file.size);
    }
    const input = {
      content: file === null ? content : withNotice(content, automation.triggerEvent),
      projectId,
      whenBlocked,
      ...(approvals === 'none' ? {} : { approvals }),
      // What an event says others have written: it must find no way out with what the task may read.
      ...(web === null && run.triggerType !== 'event' ? {} : { web: web ?? false }),
      ...(skills === null ? {} : { skills }),
      ...(mcpServers === null ? {} : { mcpServers }),
      ...(model === null ? {} : { model }),
      ...(effort === null ? {} : { effort }),
      ...(budget === null ? {} : { budget }),
      ...(environment === null ? {} : { environment }),
      ...(agent === null ? {} : { agent }),
      ...(checks === null ? {} : { checks }),
      ...(maxRepairs === null ? {} : { maxRepairs }),
      ...(repository === null ? {} : { repository: forTask(repository, { taskId, now }) }),
    };
    const source = { taskId, automationId: id, automationRunId: run.id, byEvent: run.triggerType === 'event' };
    await this.tasks.create(this.actor(automation), tx, input, source);
    if (file !== null) {
      const { size, sha256 } = file;
      const owned = { workspaceId, taskId, userId: ownerId };
      await tx.run(INSERT_EVENT_FILE({ id: newId(), ...owned, name: EVENT_FILE, size, sha256 }));
    }
    return taskId;
  }

  private async refuse(
    tx: UnitOfWork,
    automation: FiringAutomation,
    run: AutomationRunRow,
    { reason, pause }: Refusal,
  ): Promise<AutomationRunRow> {
    const failed = await this.records.settle(tx, automation, run, { status: 'failed', reason, taskId: null });
    if (pause !== null) await this.records.pause(tx, automation, pause);
    return failed;
  }

  /** The owner, who acts without a credential. */
  private actor({ ownerId, workspaceId, role, ...row }: FiringAutomation): Actor {
    if (role === null) throw new Error('Nobody acts for an owner who is no member.');
    return new Actor({
      user: { id: ownerId, name: row.ownerName, email: row.email },
      workspace: {
        id: workspaceId,
        name: row.workspaceName,
        slug: row.slug,
        plan: row.plan,
        exposed: row.transparency,
        defaultAgent: row.defaultAgent,
      },
      role,
      scopes: this.extensions.scopes,
    });
  }
}

/** A filter that cannot say yes of this payload starts no run, and is no fault of the automation: others of its events may fit. */
function unjudged(trigger: Trigger): { status: 'skipped'; reason: RunReason } | null {
  if (trigger.type !== 'event' || !('code' in trigger.file) || trigger.file.code !== 'filter_failed') return null;
  return { status: 'skipped', reason: trigger.file };
}

/** An error of the rules of tasks as the reason of a run. */
export function reasonOf({ code, message, param }: ApiError): RunReason {
  if (param === 'environment') {
    return {
      code: 'environment_gone',
      message: 'The environment of this automation, or that version of it, is not there any more.',
    };
  }
  if (param === 'agent') return { code: 'agent_not_available', message };
  if (param?.startsWith('skills') === true) {
    return { code: 'skill_gone', message: 'A skill of this automation, or that version of it, is not there any more.' };
  }
  if (param !== 'projectId') return { code, message };
  return { code: 'project_not_visible', message: 'The owner does not see the project of this automation any more.' };
}
