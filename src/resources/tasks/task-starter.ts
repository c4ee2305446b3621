import { Injectable } from '@nestjs/common';
import type { Actor } from '../../access/auth/auth-context.js';
import { Billing } from '../billing/billing.service.js';
import { FilesService } from '../files/files.service.js';
import { ApiError, notFound } from '../../platform/http/api-error.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { newId } from '../../platform/database/ids.js';
import { asChecks } from './checks/checks.dto.js';
import { schemaFault } from '../../engine/agent/output/output-schema.js';
import { McpServers } from '../../engine/agent/mcp/mcp-servers.js';
import { ModelCatalog } from '../../engine/models/model-catalog.js';
import { checkMaxCost, chooseModel } from '../../engine/models/model-choice.js';
import { RepositoryRules } from '../../engine/repositories/repository-rules.js';
import { ProjectsService } from '../projects/projects.service.js';
import { findAgent } from '../agents/find-agent.js';
import { withAgent } from '../agents/with-agent.js';
import { namedBy } from '../environments/environment-choice.dto.js';
import { holdEnvironment } from '../environments/hold-environment.js';
import { holdSkills } from '../skills/hold-skills.js';
import { Notices, RUNS } from '../../platform/notices/notices.js';
import { checkInput, userParts } from './messages/message-parts.js';
import type { RepositoryDto } from './repository.dto.js';
import type { CreateTaskDto } from './task.dto.js';
import type { StoredRepository } from './task.entity.js';
import { CREATE, type TaskRow } from './task.sql.js';
import { shortened, titleOf } from './task-title.js';

/** The automation that makes a task, and the run of it. */
export interface TaskSource {
  /** That the task is to have: its branch may be called so. */
  taskId: string;
  automationId: string;
  automationRunId: string;
  /** Others have written what it reads. */
  byEvent: boolean;
}

/** Makes a task with its first message and the run that will read it. */
@Injectable()
export class TaskStarter {
  constructor(
    private readonly models: ModelCatalog,
    private readonly projects: ProjectsService,
    private readonly files: FilesService,
    private readonly billing: Billing,
    private readonly repositories: RepositoryRules,
    private readonly notices: Notices,
    private readonly mcp: McpServers,
  ) {}

  /** @param source null for a task of the API. */
  async create(auth: Actor, tx: UnitOfWork, given: CreateTaskDto, source: TaskSource | null = null): Promise<TaskRow> {
    checkInput(auth, given);
    const taskId = source?.taskId ?? newId();
    const agent = await findAgent(auth, tx, given.agent);
    const occasion = { taskId, now: new Date() };
    const input = agent === null ? given : withAgent(auth, given, agent.definition, this.models, occasion);
    const { model, effort } = chooseModel(this.models, input.model, input.effort);
    checkMaxCost(this.models, model.id, input.budget?.maxCost);
    await checkSchema(auth, input.outputSchema);
    if (given.mcpServers !== undefined) this.mcp.check(auth.workspace.slug, given.mcpServers);
    const barred = source?.byEvent === true && given.mcpServers === undefined ? this.mcp.ofUrls() : [];
    const repository = await this.repository(auth, tx, input.repository);
    const runId = newId();
    const parts = await userParts(auth, tx, this.files, taskId, input);
    await this.holdProject(auth, tx, input.projectId);
    const environment = input.environment == null ? null : await holdEnvironment(auth, tx, namedBy(input.environment));
    // Of those that are given the agent may leave some out: one that there is not is told all the same.
    if (input.skills !== given.skills) await holdSkills(auth, tx, given.skills ?? []);
    const skills = await holdSkills(auth, tx, input.skills ?? []);
    const work = { workspaceId: auth.workspaceId, userId: auth.userId, model: model.id };
    // The run of an automation is recorded in this transaction, refused or not: nothing may be written before it is refused.
    if (source !== null) await this.billing.authorizeAhead(tx, work);
    const [created] = await tx.run(
      CREATE({
        auth,
        rules: this.billing.rules,
        taskId,
        messageId: newId(),
        runId,
        traceparent: tx.traceparent,
        title: input.title ?? (await titleFrom(input.content, parts)),
        // The tasks of an automation begin with the same words each time: their titles would say no more than its name.
        untitled: input.title === undefined && source === null,
        model: model.id,
        effort,
        budget: input.budget ?? null,
        metadata: input.metadata ?? {},
        tags: input.tags ?? [],
        opening: openingOf(input.content ?? ''),
        projectId: input.projectId ?? null,
        approvals: input.approvals ?? 'none',
        whenBlocked: input.whenBlocked ?? 'fail',
        web: input.web ?? true,
        skills: JSON.stringify(skills),
        takesDefaultSkills: input.skills == null,
        mcpServers: input.mcpServers?.filter((name) => !barred.includes(name)) ?? null,
        usualServers: this.mcp.usual(auth.workspace.slug, barred),
        barredServers: barred,
        repository,
        environmentId: environment?.id ?? null,
        environmentVersion: environment?.version ?? null,
        agentId: agent?.id ?? null,
        agentVersion: agent?.version ?? null,
        takesDefault: input.environment === undefined,
        outputSchema: input.outputSchema == null ? null : JSON.stringify(input.outputSchema),
        checks: input.checks === undefined ? null : asChecks(input.checks),
        maxRepairs: input.maxRepairs ?? null,
        parts,
        automationId: source?.automationId ?? null,
        automationRunId: source?.automationRunId ?? null,
      }),
    );
    if (created === undefined) throw new Error('The task was not inserted.');
    // A request takes back what it has written. So its statement brings the answer, and asks no further time.
    if (source === null) await this.billing.authorize(tx, { ...work, exhausted: created.exhausted });
    tx.afterCommit(() => this.notices.send({ work: { kind: RUNS, id: runId }, workspace: auth.workspaceId }));
    return { ...created.row, createdByName: auth.user.name, children: null, interaction: null, waitingFor: null };
  }

  /**
   * What a task keeps of the repository that is given for it; null for none. Throws 400 `repository_not_allowed` for what the
   * workspace may not read or push, and `invalid_field` for what is no URL.
   */
  async repository(auth: Actor, tx: UnitOfWork, given: RepositoryDto | undefined): Promise<StoredRepository | null> {
    if (given === undefined) return null;
    const source = await this.repositories.source(given.url);
    const repository = { url: source.url.href, ref: given.ref ?? null, commit: null };
    if (given.push === undefined) return repository;
    await this.repositories.checkPush(tx, source, auth.workspace.slug, given.push);
    const { branch, pullRequest } = given.push;
    const { title = null, base = null, draft = false } = pullRequest ?? {};
    const wanted = pullRequest === undefined ? null : { title, base, draft };
    return { ...repository, push: { branch, pullRequest: wanted, commits: [], url: null, pullRequestUrl: null } };
  }

  private async holdProject(auth: Actor, tx: UnitOfWork, id: string | null | undefined): Promise<void> {
    if (id != null && !(await this.projects.hold(auth, tx, id))) throw notFound('project', 'projectId');
  }
}

/** Throws 400 for a schema that cannot be compiled, or that takes too long. */
async function checkSchema({ workspaceId }: Actor, schema: CreateTaskDto['outputSchema']): Promise<void> {
  const fault = schema == null ? null : await schemaFault(schema, workspaceId);
  if (fault !== null) throw new ApiError('invalid_field', `outputSchema ${fault}.`, { param: 'outputSchema' });
}

/** Without content the title is the name of the first file, as it is. */
function titleFrom(
  content: string | undefined,
  parts: Awaited<ReturnType<typeof userParts>>,
): Promise<string> | string {
  if (content !== undefined) return titleOf(content);
  const [first] = parts;
  return shortened(first?.type === 'file' ? first.name : 'Task');
}

/** Of the first message, what a search looks through: 10,000 characters. */
export function openingOf(content: string): string {
  if (content.length <= OPENING) return content;
  return [...content.slice(0, 2 * OPENING)].slice(0, OPENING).join('');
}

const OPENING = 10_000;
