import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { McpServers } from '../../engine/agent/mcp/mcp-servers.js';
import { ModelCatalog } from '../../engine/models/model-catalog.js';
import { checkMaxCost, chooseModel } from '../../engine/models/model-choice.js';
import { newId } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError } from '../../platform/http/api-error.js';
import { Catalogue } from '../integrations/catalogue/catalogue.js';
import { checkFilter, FilterError } from '../integrations/filter.js';
import { HookThread } from '../integrations/hook-thread.js';
import { holdAgent } from '../agents/find-agent.js';
import { type EnvironmentChoice, namedBy } from '../environments/environment-choice.dto.js';
import { holdEnvironment } from '../environments/hold-environment.js';
import { holdSkills } from '../skills/hold-skills.js';
import { ProjectsService } from '../projects/projects.service.js';
import { TaskStarter } from '../tasks/task-starter.js';
import type { ChangeAutomationDto, CreateAutomationDto } from './automation.dto.js';
import type { AutomationDraft } from './automation-draft.js';
import { type AutomationRepository, forTask } from './automation-repository.js';
import { checkAhead } from './automation-states.js';
import { instantOf } from '../../platform/text/instant.js';
import { checkCron, ScheduleError } from './schedule.js';

/** What is checked when an automation is written (reference §12). */
@Injectable()
export class AutomationRules {
  constructor(
    private readonly models: ModelCatalog,
    private readonly projects: ProjectsService,
    private readonly tasks: TaskStarter,
    private readonly catalogue: Catalogue,
    private readonly thread: HookThread,
    private readonly mcp: McpServers,
  ) {}

  /** What needs no look at the automation. Throws 400, before anything is looked up (reference §1). */
  checkGiven(given: ChangeAutomationDto, now: Date): void {
    const { cron, timezone, runAt, triggerEvent, filter, model, effort } = given;
    if (cron != null || timezone != null) checkSchedule(cron ?? '* * * * *', timezone ?? 'UTC', now);
    if (runAt != null) checkAhead(instantOf(runAt), now);
    if (triggerEvent != null && !this.catalogue.matches(triggerEvent)) throw unknownEvent();
    if (filter != null) checkExpression(filter);
    if (model != null) chooseModel(this.models, model, effort ?? undefined);
  }

  /** What the whole must be, but for what depends on its agent. Throws 400. */
  checkDraft({ kind, cron, timezone, model, effort, budget, agent }: AutomationDraft, now: Date): void {
    if (kind === 'recurring') checkSchedule(cron ?? '', timezone ?? 'UTC', now);
    if (agent !== null && model === null) return;
    if (model !== null || effort !== null) chooseModel(this.models, model ?? undefined, effort ?? undefined);
    checkMaxCost(this.models, model ?? this.models.default().id, budget?.maxCost);
  }

  /** That a task of this moment might work on it, and push. Throws 400. */
  async checkRepository(
    auth: AuthContext,
    tx: UnitOfWork,
    repository: AutomationRepository | null,
    now: Date,
  ): Promise<void> {
    if (repository !== null) await this.tasks.repository(auth, tx, forTask(repository, { taskId: newId(), now }));
  }

  /** That there is what it names: it stays until the transaction ends. Throws 404 with its `param`. */
  async checkEnvironment(
    auth: AuthContext,
    tx: UnitOfWork,
    given: EnvironmentChoice | null | undefined,
  ): Promise<void> {
    if (given != null) await holdEnvironment(auth, tx, namedBy(given));
  }

  /**
   * That there is the agent that it names, which is not archived until the transaction ends; its model takes the effort, and its budget. Throws 404
   * with its `param`, and 400.
   */
  async checkAgent(
    auth: AuthContext,
    tx: UnitOfWork,
    { agent, model, effort, budget }: AutomationDraft,
  ): Promise<void> {
    const held = await holdAgent(auth, tx, agent);
    if (held === null || model !== null) return;
    const usual = held.definition.model ?? this.models.default().id;
    if (effort !== null) chooseModel(this.models, usual, effort);
    checkMaxCost(this.models, usual, budget?.maxCost);
  }

  /** That they are open to the workspace. Throws 400. */
  checkMcpServers(auth: AuthContext, given: string[] | null | undefined): void {
    if (given != null) this.mcp.check(auth.workspace.slug, given);
  }

  /** As {@link checkEnvironment}. */
  async checkSkills(auth: AuthContext, tx: UnitOfWork, given: string[] | null | undefined): Promise<void> {
    if (given != null) await holdSkills(auth, tx, given);
  }

  /** Whether the caller sees the project, which then stays until the transaction ends; true for none. */
  async holdProject(auth: AuthContext, tx: UnitOfWork, projectId: string | null | undefined): Promise<boolean> {
    return projectId == null || this.projects.hold(auth, tx, projectId);
  }

  /** Whether an event with this payload would start a run; null when no payload was given. Throws 400. */
  async wouldRun(
    auth: AuthContext,
    { samplePayload }: CreateAutomationDto,
    { kind, filter }: AutomationDraft,
  ): Promise<boolean | null> {
    if (samplePayload === undefined) return null;
    if (kind !== 'webhook') {
      throw new ApiError('invalid_field', 'samplePayload goes with triggerEvent alone.', { param: 'samplePayload' });
    }
    if (filter === null) return true;
    const body = Buffer.from(JSON.stringify(samplePayload));
    return this.thread.matches(filter, body, auth.workspaceId).catch(refuseFilter);
  }
}

function checkSchedule(cron: string, timezone: string, now: Date): void {
  try {
    checkCron(cron, timezone, now);
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    throw new ApiError(error.code, error.message, { param: error.code === 'invalid_cron' ? 'cron' : 'timezone' });
  }
}

function checkExpression(filter: string): void {
  try {
    checkFilter(filter);
  } catch (error) {
    refuseFilter(error);
  }
}

function refuseFilter(error: unknown): never {
  if (!(error instanceof FilterError)) throw error;
  throw new ApiError('invalid_filter', `filter: ${error.message}`, { param: 'filter' });
}

function unknownEvent(): ApiError {
  const message = 'triggerEvent: there is no such event; GET /v1/integrations lists those that start automations.';
  return new ApiError('unknown_trigger_event', message, { param: 'triggerEvent' });
}
