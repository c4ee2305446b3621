import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { isUuid, newId } from '../../platform/database/ids.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import { Notices } from '../../platform/notices/notices.js';
import type { ChangeAutomationDto, CreateAutomationDto, ListAutomationsQuery } from './automation.dto.js';
import { type AutomationDraft, changedDraft, draftOf } from './automation-draft.js';
import { AutomationFirer } from './automation-firer.js';
import { asStored } from './automation-repository.js';
import { AutomationRules } from './automation-rules.js';
import { AutomationStates, nextRunOf } from './automation-states.js';
import { Automation } from './automation.entity.js';
import type { ShownAutomation } from './automation.view.js';
import {
  type AutomationRow,
  GET,
  LIST,
  LOCK,
  type LockedAutomation,
  READ,
  type RunRow,
  RUNS,
  SEES,
} from './automations.sql.js';
import { upcomingRuns } from './schedule.js';

/** An automation that was not made, and whether its sample payload would start a run. */
interface Rehearsal {
  row: ShownAutomation;
  wouldRun: boolean | null;
}

/** What of an automation follows from what a client sets. */
type Derived = Pick<LockedAutomation, 'status' | 'connectionId' | 'nextRunAt'>;

/** The automations of a workspace (reference §12). */
@Injectable()
export class AutomationsService {
  constructor(
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly rules: AutomationRules,
    private readonly states: AutomationStates,
    private readonly firer: AutomationFirer,
    private readonly notices: Notices,
  ) {}

  /** Throws 400 for what is no UUID, and 404 unless the caller sees the automation, as everything here that takes an id. */
  async get(auth: AuthContext, id: string): Promise<ShownAutomation> {
    checkId(id);
    const [row] = await this.database.read.run(GET({ auth, id }));
    return shown(row ?? missing());
  }

  /** Newest first. */
  async list(auth: AuthContext, page: PageRequest<ListAutomationsQuery>) {
    const cut = page.cut(await this.database.read.run(LIST({ auth, ...page.place })), byCreation);
    const automations: ShownAutomation[] = [];
    for (const row of cut.rows) {
      automations.push(shown(row));
      // A list has no end without a limit, and the times of 10 automations take some milliseconds.
      if (automations.length % 10 === 0) await setImmediate();
    }
    return { automations, nextCursor: cut.nextCursor };
  }

  /** Of an automation, newest first. */
  async runs(auth: AuthContext, id: string, page: PageRequest) {
    checkId(id);
    const rows = await this.database.read.run(RUNS({ auth, id, ...page.place }));
    if (rows.length === 0 && (await this.database.read.run(SEES({ auth, id }))).length === 0) return missing();
    return page.cut(rows, byCreation);
  }

  async create(auth: AuthContext, tx: UnitOfWork, given: CreateAutomationDto): Promise<ShownAutomation> {
    if (given.samplePayload !== undefined) {
      throw new ApiError('invalid_field', 'samplePayload goes with dryRun alone.', { param: 'samplePayload' });
    }
    const now = await this.states.now(tx);
    const draft = this.draft(given, now);
    const derived = await this.placed(auth, tx, draft, now);
    const { workspaceId, userId: ownerId } = auth;
    const id = newId();
    await tx.manager.getRepository(Automation).insert({ id, workspaceId, ownerId, ...draft, ...derived });
    return this.planned(tx, id);
  }

  /** Checks all that {@link create} checks, and makes nothing. */
  async rehearse(auth: AuthContext, given: CreateAutomationDto): Promise<Rehearsal> {
    const now = await this.states.now(this.transactions);
    const draft = this.draft(given, now);
    // Outside of a transaction: the thread may have others to serve first, and there are ten connections.
    const wouldRun = await this.rules.wouldRun(auth, given, draft);
    const derived = await this.transactions.open((tx) => this.placed(auth, tx, draft, now));
    const { workspaceId, userId: ownerId, user } = auth;
    const times = { createdAt: now, updatedAt: now };
    const none = { pausedReason: null, consecutiveFailures: 0, lastRunAt: null, lastRunStatus: null, lastTaskId: null };
    const fresh = { id: '', workspaceId, ownerId, ownerName: user.name, ...times, ...none };
    return { row: shown({ ...fresh, ...draft, ...derived }), wouldRun };
  }

  /** Changes what is given; nothing given changes nothing. Throws 403 unless the caller may change it. */
  async change(auth: AuthContext, tx: UnitOfWork, id: string, given: ChangeAutomationDto): Promise<ShownAutomation> {
    checkId(id);
    const now = await this.states.now(tx);
    this.rules.checkGiven(given, now);
    const repository = given.repository == null ? null : asStored(given.repository);
    await this.rules.checkRepository(auth, tx, repository, now);
    // Project before automation, as a request that deletes a project locks them; the automation's own 404 is told first all the same.
    const seen = await this.rules.holdProject(auth, tx, given.projectId);
    const before = await this.lock(auth, tx, id);
    if (!seen) throw notFound('project', 'projectId');
    auth.requireOwnership(before.ownerId, 'automation');
    await this.rules.checkEnvironment(auth, tx, given.environment);
    await this.rules.checkSkills(auth, tx, given.skills);
    this.rules.checkMcpServers(auth, given.mcpServers);
    if (Object.values(given).every((value) => value === undefined)) return this.read(tx, id);
    const draft = changedDraft(given, before);
    this.rules.checkDraft(draft, now);
    if (
      draft.agent !== null &&
      [given.agent, given.model, given.effort, given.budget].some((value) => value !== undefined)
    ) {
      await this.rules.checkAgent(auth, tx, draft);
    }
    const derived = await this.derived(auth, tx, before, draft, now);
    const updatedAt = () => 'now()';
    await tx.manager.getRepository(Automation).update({ id }, { ...draft, ...derived, updatedAt });
    return this.planned(tx, id);
  }

  async remove(auth: AuthContext, tx: UnitOfWork, id: string): Promise<void> {
    await this.lockOwn(auth, tx, id);
    // Its runs go with it, its tasks stay.
    await tx.manager.getRepository(Automation).delete({ id });
  }

  async pause(auth: AuthContext, tx: UnitOfWork, id: string): Promise<ShownAutomation> {
    await this.states.pause(tx, await this.lockOwn(auth, tx, id));
    return this.read(tx, id);
  }

  async resume(auth: AuthContext, tx: UnitOfWork, id: string): Promise<ShownAutomation> {
    const automation = await this.lockOwn(auth, tx, id);
    if (automation.status === 'paused') await this.rules.checkAgent(auth, tx, automation);
    await this.states.resume(tx, automation, auth.workspace.plan);
    return this.planned(tx, id);
  }

  /** Runs it once, in every state of it. */
  async run(auth: AuthContext, tx: UnitOfWork, id: string): Promise<RunRow> {
    await this.lockOwn(auth, tx, id);
    const run = await this.firer.fire(tx, id, { type: 'manual' });
    if (run === null) throw new Error('A run by hand was taken for one that is there already.');
    return run;
  }

  /** Of a create: the checks of what is given, which come before all others (reference §1). */
  private draft(given: CreateAutomationDto, now: Date): AutomationDraft {
    this.rules.checkGiven(given, now);
    const draft = draftOf(given);
    this.rules.checkDraft(draft, now);
    return draft;
  }

  /** Of a create: the checks against what there is, and what follows from them. */
  private async placed(auth: AuthContext, tx: UnitOfWork, draft: AutomationDraft, now: Date): Promise<Derived> {
    await this.rules.checkRepository(auth, tx, draft.repository, now);
    const connectionId = await this.states.connectionOf(tx, auth.workspaceId, auth.userId, draft);
    if (!(await this.rules.holdProject(auth, tx, draft.projectId))) throw notFound('project', 'projectId');
    await this.rules.checkEnvironment(auth, tx, draft.environment);
    await this.rules.checkAgent(auth, tx, draft);
    await this.rules.checkSkills(auth, tx, draft.skills);
    this.rules.checkMcpServers(auth, draft.mcpServers);
    await this.states.checkPlan(tx, auth.workspaceId, auth.workspace.plan);
    return { status: 'active', connectionId, nextRunAt: nextRunOf(draft, now) };
  }

  /** Of a change: a new trigger is bound and timed anew, and makes a completed automation active again. */
  private async derived(
    auth: AuthContext,
    tx: UnitOfWork,
    before: LockedAutomation,
    draft: AutomationDraft,
    now: Date,
  ): Promise<Derived> {
    const { workspaceId, ownerId, status: was, connectionId, nextRunAt } = before;
    if (sameTrigger(before, draft)) return { status: was, connectionId, nextRunAt };
    const bound = await this.states.connectionOf(tx, workspaceId, ownerId, draft);
    const status = was === 'completed' ? 'active' : was;
    if (was === 'completed') {
      await this.rules.checkAgent(auth, tx, draft);
      await this.states.checkPlan(tx, workspaceId, auth.workspace.plan);
    }
    return { status, connectionId: bound, nextRunAt: status === 'active' ? nextRunOf(draft, now) : null };
  }

  /** As it stands, and it may be due sooner than before. */
  private async planned(tx: UnitOfWork, id: string): Promise<ShownAutomation> {
    const automation = await this.read(tx, id);
    this.tell(tx, automation);
    return automation;
  }

  /** The workers sleep until the earliest time that they know of. */
  private tell(tx: UnitOfWork, { id, nextRunAt }: { id: string; nextRunAt: Date | null }): void {
    if (nextRunAt !== null) tx.afterCommit(() => this.notices.send({ automation: id }));
  }

  private async read(tx: UnitOfWork, id: string): Promise<ShownAutomation> {
    const [row] = await tx.run(READ({ id }));
    return shown(row ?? missing());
  }

  private async lock(auth: AuthContext, tx: UnitOfWork, id: string): Promise<LockedAutomation> {
    const [automation] = await tx.run(LOCK({ auth, id }));
    return automation ?? missing();
  }

  /** Throws 403 unless the caller may change it. */
  private async lockOwn(auth: AuthContext, tx: UnitOfWork, id: string): Promise<LockedAutomation> {
    checkId(id);
    const automation = await this.lock(auth, tx, id);
    auth.requireOwnership(automation.ownerId, 'automation');
    return automation;
  }
}

const UPCOMING = 5;

/** With the times that come next; none while it is paused. */
function shown(row: AutomationRow): ShownAutomation {
  const { cron, timezone, nextRunAt } = row;
  if (nextRunAt === null) return { ...row, upcoming: [] };
  const later = cron === null ? [] : upcomingRuns(cron, timezone ?? 'UTC', nextRunAt, UPCOMING - 1);
  return { ...row, upcoming: [nextRunAt, ...later] };
}

/** Whether a change leaves the time and the events at which it fires as they are. */
function sameTrigger(before: AutomationDraft, after: AutomationDraft): boolean {
  const { cron, timezone, triggerEvent } = after;
  const sameTime = before.runAt?.getTime() === after.runAt?.getTime();
  return before.cron === cron && before.timezone === timezone && before.triggerEvent === triggerEvent && sameTime;
}

/** The specification types this id, and no other (reference §1). */
function checkId(id: string): void {
  if (isUuid(id)) return;
  throw new ApiError('invalid_field', 'automationId must be a UUID.', { param: 'automationId' });
}

function missing(): never {
  throw notFound('automation');
}
