import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import { Database } from '../../../platform/database/database.js';
import { isUuid, newId } from '../../../platform/database/ids.js';
import type { Sql } from '../../../platform/database/sql.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../../platform/http/api-error.js';
import type { CreateTaskDto } from '../../tasks/task.dto.js';
import { TaskStarter } from '../../tasks/task-starter.js';
import { AgentsService } from '../agents.service.js';
import { type ChosenAgent, findAgent } from '../find-agent.js';
import type { EvaluateDto, EvaluationCaseDto } from './evaluation.dto.js';
import { Evaluation } from './evaluation.entity.js';
import { ADD_TASKS, ATTACH_AS, BEGIN_AS, type CaseTask, GET, KEEP_WALLS, ORIGINAL, TABLE } from './evaluations.sql.js';

/** Tasks of one evaluation. */
const MOST = 250;

/** What the tasks of a case are made of, and the task that they do anew. */
interface Case {
  input: Omit<CreateTaskDto, 'agent'>;
  sourceId: string | null;
}

/** Does the same work in several versions of an agent (reference §27.5). */
@Injectable()
export class EvaluationsService {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentsService,
    private readonly starter: TaskStarter,
  ) {}

  /**
   * Makes all of its tasks, or nothing: each is an ordinary task of the caller, and pushes nothing. Throws 404 for the agent, a version and a task, 400
   * for a case that is none and for too many tasks, 402 and 403 as a new task.
   */
  async evaluate(auth: AuthContext, tx: UnitOfWork, slug: string, given: EvaluateDto) {
    const { versions, repeat = 1 } = given;
    for (const [n, one] of given.cases.entries()) checkCase(one, n);
    const total = versions.length * given.cases.length * repeat;
    if (total > MOST) {
      const message = `cases: ${total} tasks are too many; versions × cases × repeat may be ${MOST}.`;
      throw new ApiError('invalid_field', message, { param: 'cases' });
    }
    const { id: agentId } = await this.agents.get(auth, slug);
    const chosen = await chosenVersions(auth, tx, slug, versions);
    const cases: Case[] = [];
    for (const [n, one] of given.cases.entries()) cases.push(await this.caseOf(auth, tx, one, n));
    const id = newId();
    const { workspaceId, userId: createdById } = auth;
    const fields = { id, workspaceId, agentId, versions, cases: cases.length, repeat, createdById };
    await tx.manager.getRepository(Evaluation).insert(fields);
    const tasks: CaseTask[] = [];
    for (const [caseNo, one] of cases.entries()) {
      for (const agent of chosen) {
        for (let attempt = 1; attempt <= repeat; attempt++) {
          const taskId = await this.begin(auth, tx, one, agent, { evaluation: id, case: `${caseNo}` });
          tasks.push({ caseNo, version: agent.version, attempt, taskId });
        }
      }
    }
    await tx.run(ADD_TASKS({ id, tasks }));
    // Last, for it may lock the counter of the workspace's bytes, which all that publishes waits for.
    for (const [caseNo, { sourceId }] of cases.entries()) {
      if (sourceId === null) continue;
      const taskIds = tasks.flatMap((task) => (task.caseNo === caseNo ? [task.taskId] : []));
      await tx.run(BEGIN_AS({ auth, sourceId, taskIds }));
      await tx.run(KEEP_WALLS({ sourceId, taskIds }));
    }
    return this.read(auth, tx, id);
  }

  /** Throws 404 unless the caller has made it, or sees everything. */
  get(auth: AuthContext, id: string) {
    return this.read(auth, this.database.reports, id);
  }

  private async read(auth: AuthContext, from: Sql, id: string) {
    const [evaluation] = isUuid(id) ? await from.run(GET({ auth, id })) : [];
    if (evaluation === undefined) throw notFound('evaluation');
    return { evaluation, table: await from.run(TABLE({ auth, id })) };
  }

  private async begin(
    auth: AuthContext,
    tx: UnitOfWork,
    { input, sourceId }: Case,
    { slug, version, definition }: ChosenAgent,
    metadata: Record<string, string>,
  ): Promise<string> {
    const ofAgent = definition.repository === null ? undefined : withoutPush(definition.repository);
    const repository = input.repository ?? ofAgent;
    const whole = { ...input, metadata, agent: `${slug}@${version}`, ...(repository && { repository }) };
    const { id: taskId } = await this.starter.create(auth, tx, whole);
    if (sourceId !== null) await tx.run(ATTACH_AS({ auth, sourceId, taskId }));
    return taskId;
  }

  private async caseOf(auth: AuthContext, tx: UnitOfWork, given: EvaluationCaseDto, n: number): Promise<Case> {
    const { taskId, content = '', repository, checks } = given;
    if (taskId === undefined) {
      return { input: { content, ...(repository && { repository }), ...(checks && { checks }) }, sourceId: null };
    }
    const [was] = isUuid(taskId) ? await tx.run(ORIGINAL({ auth, sourceId: taskId })) : [];
    if (was === undefined) throw notFound('task', `cases[${n}].taskId`);
    const input = {
      // One that was given by its files alone is called by them.
      content: was.text ?? was.title,
      title: was.title,
      environment: was.environment,
      ...(!was.web && { web: false }),
      ...(was.projectId !== null && { projectId: was.projectId }),
      ...(was.repository !== null && { repository: withoutPush(was.repository) }),
      ...(was.outputSchema !== null && { outputSchema: was.outputSchema }),
      ...(was.checks !== null && { checks: was.checks.checks, maxRepairs: was.checks.maxRepairs }),
    };
    return { input, sourceId: was.id };
  }
}

/** At its original commit, where that is known. */
function withoutPush({ url, ref, commit }: { url: string; ref: string | null; commit?: string | null }) {
  const at = commit ?? ref;
  return { url, ...(at !== null && { ref: at }) };
}

/** Exactly one of both forms. Throws 400. */
function checkCase({ taskId, content, repository, checks }: EvaluationCaseDto, n: number): void {
  const others = [content, repository, checks].some((one) => one !== undefined);
  if ((taskId !== undefined) !== others && (taskId !== undefined || content !== undefined)) return;
  const message = `cases[${n}] must have taskId alone, or content, with repository and checks or without.`;
  throw new ApiError('invalid_field', message, { param: `cases[${n}]` });
}

async function chosenVersions(auth: AuthContext, tx: UnitOfWork, slug: string, versions: number[]) {
  const found: ChosenAgent[] = [];
  for (const version of versions) {
    const agent = await findAgent(auth, tx, `${slug}@${version}`);
    if (agent !== null) found.push(agent);
  }
  return found;
}
