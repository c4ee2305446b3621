import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { notFound } from '../../platform/http/api-error.js';
import { byCreation, type PageRequest } from '../../platform/http/pages.js';
import { isUuid } from '../../platform/database/ids.js';
import type { ListTasksQuery } from './task.dto.js';
import { GET, LIST, type TaskRow } from './task.sql.js';

/** Reads of tasks. */
@Injectable()
export class TasksService {
  constructor(private readonly database: Database) {}

  /** Throws 404 unless the caller sees the task. */
  async get(auth: AuthContext, id: string): Promise<TaskRow> {
    const [task] = isUuid(id) ? await this.database.read.run(GET({ auth, id })) : [];
    if (task === undefined) throw notFound('task');
    return task;
  }

  /** Newest first. */
  async list(auth: AuthContext, page: PageRequest<ListTasksQuery>) {
    const { status = null, projectId = null, automationId = null } = page.query;
    // A project or automation that does not exist, or is none at all, has no tasks.
    if ([projectId, automationId].some((one) => one !== null && !isUuid(one))) return page.cut<TaskRow>([], byCreation);
    const [createdAt = null, id = null] = page.after ?? [];
    const values = { auth, limit: page.limit + 1, createdAt, id, status, projectId, automationId };
    return page.cut(await this.database.read.run(LIST(values)), byCreation);
  }
}
