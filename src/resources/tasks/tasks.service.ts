import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { notFound } from '../../platform/http/api-error.js';
import type { PageRequest } from '../../platform/http/pages.js';
import { isUuid } from '../../platform/database/ids.js';
import type { Query } from '../../platform/database/sql.js';
import { SEARCHES } from '../../platform/fairness/shares.js';
import { Turns } from '../../platform/fairness/turns.js';
import { momentOf } from '../../platform/text/instant.js';
import type { ListTasksQuery } from './task-list.dto.js';
import { isSearch, listTasks, type TaskFilters } from './task-list.sql.js';
import { TransparencyPolicy } from './messages/transparency-policy.js';
import { GET, type TaskRow } from './task.sql.js';
import type { TaskStatus } from './task-status.js';

/** Reads of tasks. */
@Injectable()
export class TasksService {
  private readonly searches = new Turns(SEARCHES);

  constructor(
    private readonly database: Database,
    private readonly policy: TransparencyPolicy,
  ) {}

  /** Throws 404 unless the caller sees the task. */
  async get(auth: AuthContext, id: string): Promise<TaskRow> {
    const [task] = isUuid(id) ? await this.database.read.run(GET({ auth, id })) : [];
    if (task === undefined) throw notFound('task');
    return task;
  }

  /** Newest first, by the time that the query sorts by. */
  async list(auth: AuthContext, page: PageRequest<ListTasksQuery>) {
    const { sort, projectId, automationId } = page.query;
    const positionOf = (row: TaskRow) => [new Date(row[sort]).toISOString(), row.id];
    // A project or automation that does not exist, or is none at all, has no tasks.
    if ([projectId, automationId].some((one) => one !== undefined && !isUuid(one))) return page.cut([], positionOf);
    const filters = filtersOf(page.query);
    const [at, id] = page.after ?? [];
    const after = at === undefined || id === undefined ? null : { at, id };
    const showsText = this.policy.of(auth).text;
    const query = listTasks(auth, filters, { sort, after, limit: page.limit + 1, showsText });
    return page.cut(await (isSearch(filters) ? this.search(auth, query) : this.database.read.run(query)), positionOf);
  }

  /** A search may take a while: the statements of other requests must not wait behind it, nor the searches of other workspaces. */
  private async search({ workspaceId }: AuthContext, query: Query<TaskRow>): Promise<TaskRow[]> {
    const end = await this.searches.take(workspaceId);
    try {
      return await this.database.reports.run(query);
    } finally {
      end();
    }
  }
}

function filtersOf(query: ListTasksQuery): TaskFilters {
  const { status, projectId = null, automationId = null, q = null, tag = null, metadata = null, archived } = query;
  const { createdAfter = '', createdBefore = '' } = query;
  return {
    statuses: status === undefined ? null : ([...new Set(status.split(','))] as TaskStatus[]),
    projectId,
    automationId,
    words: q,
    tag,
    metadata,
    createdAfter: momentOf(createdAfter),
    createdBefore: momentOf(createdBefore),
    archived: archived === 'all' ? null : archived === 'true',
  };
}
