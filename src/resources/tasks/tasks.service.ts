import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { type JsonRow, jsonRows } from '../../platform/database/json-rows.js';
import { notFound } from '../../platform/http/api-error.js';
import { byCreation, Pages } from '../../platform/http/pages.js';
import { isUuid } from '../../platform/database/ids.js';
import { scope } from '../../access/auth/visibility.js';
import type { ListTasksQuery } from './task.dto.js';
import { TASK_SELECT, type TaskRow } from './task.row.js';
import { VISIBLE } from './task.sql.js';

/** Reads of tasks. */
@Injectable()
export class TasksService {
  constructor(
    private readonly database: Database,
    private readonly pages: Pages,
  ) {}

  async get(auth: AuthContext, id: string): Promise<TaskRow> {
    const found = isUuid(id) ? await this.read<JsonRow<TaskRow>>('task', ONE, [...scope(auth), id]) : [];
    return found[0]?.row ?? missing();
  }

  /** 404 unless the caller sees the task. */
  async check(auth: AuthContext, id: string): Promise<void> {
    const text = `SELECT 1 FROM tasks t WHERE ${VISIBLE} AND t.id = $4`;
    if (!isUuid(id) || (await this.read('task-visible', text, [...scope(auth), id])).length === 0) missing();
  }

  /** Newest first. */
  async list(auth: AuthContext, query: ListTasksQuery) {
    const { status, projectId } = query;
    const { workspaceId, userId } = auth;
    const filters = { status, projectId };
    const page = this.pages.open(query, { route: 'GET /v1/tasks', workspaceId, userId, filters });
    // A project that does not exist, or is none at all, has no tasks.
    if (projectId !== undefined && !isUuid(projectId)) return page.cut<TaskRow>([], byCreation);
    const [createdAt, id] = page.after ?? [null, null];
    const values = [...scope(auth), page.limit + 1, createdAt, id, status, projectId];
    const found = await this.read<JsonRow<TaskRow>>('tasks', LIST, values);
    return page.cut(
      found.map(({ row }) => row),
      byCreation,
    );
  }

  private async read<T extends object>(name: string, text: string, values: unknown[]): Promise<T[]> {
    return (await this.database.read.query<T>({ name, text, values })).rows;
  }
}

const ONE = jsonRows(`${TASK_SELECT} WHERE ${VISIBLE} AND t.id = $4`);

const LIST = jsonRows(`${TASK_SELECT}
WHERE ${VISIBLE} AND ($5::timestamptz IS NULL OR (t.created_at, t.id) < ($5::timestamptz, $6::uuid))
  AND ($7::text IS NULL OR t.status = $7) AND ($8::uuid IS NULL OR t.project_id = $8)
ORDER BY t.created_at DESC, t.id DESC LIMIT $4`);

function missing(): never {
  throw notFound('task');
}
