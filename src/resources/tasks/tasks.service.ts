import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { McpServers } from '../../engine/agent/mcp/mcp-servers.js';
import { ModelCatalog } from '../../engine/models/model-catalog.js';
import { changeModel, checkMaxCost } from '../../engine/models/model-choice.js';
import { Database } from '../../platform/database/database.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Notices } from '../../platform/notices/notices.js';
import { limitsOf } from '../agents/find-agent.js';
import { budgetWithin, serversWithin } from '../agents/with-agent.js';
import { ProjectsService } from '../projects/projects.service.js';
import { notFound } from '../../platform/http/api-error.js';
import type { PageRequest } from '../../platform/http/pages.js';
import { isUuid } from '../../platform/database/ids.js';
import type { Query } from '../../platform/database/sql.js';
import { SEARCHES } from '../../platform/fairness/shares.js';
import { KeyedSemaphore } from '../../platform/fairness/keyed-semaphore.js';
import { momentOf } from '../../platform/text/instant.js';
import type { ListTasksQuery } from './task-list.dto.js';
import { isSearch, listTasks, type TaskFilters } from './task-list.sql.js';
import { TransparencyPolicy } from './messages/transparency-policy.js';
import { changedChecks } from './checks/checks.dto.js';
import type { ChangeTaskDto } from './task.dto.js';
import { lockTask, readTask } from './task-lock.js';
import { CHANGE, GET, type TaskRow } from './task.sql.js';
import type { TaskStatus } from './task-status.js';

/** Reads and changes tasks. `TaskStarter` makes them, `TaskEnding` ends them. */
@Injectable()
export class TasksService {
  private readonly searches = new KeyedSemaphore(SEARCHES);

  constructor(
    private readonly database: Database,
    private readonly policy: TransparencyPolicy,
    private readonly projects: ProjectsService,
    private readonly models: ModelCatalog,
    private readonly notices: Notices,
    private readonly mcp: McpServers,
  ) {}

  /** Throws 404 unless the caller sees the task. */
  async get(auth: AuthContext, id: string): Promise<TaskRow> {
    const [task] = isUuid(id) ? await this.database.read.run(GET({ auth, id })) : [];
    if (task === undefined) throw notFound('task');
    return task;
  }

  /** Newest first, by the time that the query sorts by. */
  async list(auth: AuthContext, page: PageRequest<ListTasksQuery>) {
    const { sort, projectId, automationId, parentTaskId: parent } = page.query;
    const positionOf = (row: TaskRow) => [new Date(row[sort]).toISOString(), row.id];
    // What does not exist, or is no id at all, has no tasks.
    if (
      [projectId, automationId, parent === 'any' ? undefined : parent].some((one) => one !== undefined && !isUuid(one))
    )
      return page.cut([], positionOf);
    const filters = filtersOf(page.query);
    const [at, id] = page.after ?? [];
    const after = at === undefined || id === undefined ? null : { at, id };
    const showsText = this.policy.of(auth).text;
    const query = listTasks(auth, filters, { sort, after, limit: page.limit + 1, showsText });
    return page.cut(await (isSearch(filters) ? this.search(auth, query) : this.database.read.run(query)), positionOf);
  }

  /**
   * Changes what is given; nothing given changes nothing. Throws 404, for a project with its `param`, 403, and 400 for a model or an
   * effort that there is not, and for `budget.maxCost` on a model without prices. The model of a turn under way stays. A budget and servers go no further than
   * those of the agent, but for who may widen them.
   */
  async change(auth: AuthContext, tx: UnitOfWork, taskId: string, input: ChangeTaskDto): Promise<TaskRow> {
    const { title = null, projectId = null, metadata = null, tags = null, archived = null } = input;
    const { whenBlocked = null } = input;
    // Project before task, as a request that deletes a project locks them; the task's own 404 is told first all the same.
    const seen = projectId === null || (await this.projects.hold(auth, tx, projectId));
    const task = await lockTask(auth, tx, taskId);
    if (!seen) throw notFound('project', 'projectId');
    auth.requireOwnership(task.createdById, 'task');
    if (input.mcpServers !== undefined) this.mcp.check(auth.workspace.slug, input.mcpServers);
    const { model, effort } = changeModel(this.models, task, input);
    const kept = model === task.model ? undefined : task.budget?.maxCost;
    const narrows = input.budget !== undefined || input.mcpServers !== undefined;
    const says = narrows ? await limitsOf(auth, tx, task) : null;
    const mcpServers = input.mcpServers === undefined ? null : serversWithin(input.mcpServers, says);
    const budget = budgetWithin(input.budget ?? null, says?.budget ?? null);
    checkMaxCost(this.models, model, input.budget === undefined ? kept : budget?.maxCost);
    if (Object.values(input).some((value) => value !== undefined)) {
      const checks = changedChecks(task.checks, input);
      const given = {
        setsChecks: checks !== task.checks,
        setsProject: input.projectId !== undefined,
        setsBudget: input.budget !== undefined,
      };
      const values = {
        checks,
        title,
        projectId,
        budget,
        metadata,
        tags,
        archived,
        model,
        effort,
        whenBlocked,
        mcpServers,
      };
      await tx.run(CHANGE({ taskId: task.id, ...values, ...given }));
      tx.afterCommit(() => this.notices.send({ tasks: [task.id], workspace: auth.workspaceId }));
    }
    return readTask(tx, task.id);
  }

  /** A search may take a while: the statements of other requests must not wait behind it, nor the searches of other workspaces. */
  private async search({ workspaceId }: AuthContext, query: Query<TaskRow>): Promise<TaskRow[]> {
    const end = await this.searches.acquire(workspaceId);
    try {
      return await this.database.reports.run(query);
    } finally {
      end();
    }
  }
}

function filtersOf(query: ListTasksQuery): TaskFilters {
  const { status, projectId = null, automationId = null, q = null, tag = null, metadata = null, archived } = query;
  const { createdAfter = '', createdBefore = '', parentTaskId } = query;
  return {
    statuses: status === undefined ? null : ([...new Set(status.split(','))] as TaskStatus[]),
    projectId,
    automationId,
    parentTaskId: parentTaskId === undefined || parentTaskId === 'any' ? null : parentTaskId,
    top: parentTaskId === undefined ? true : null,
    words: q,
    tag,
    metadata,
    createdAfter: momentOf(createdAfter),
    createdBefore: momentOf(createdBefore),
    archived: archived === 'all' ? null : archived === 'true',
  };
}
