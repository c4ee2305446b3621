import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../auth/auth-context.js';
import { Database } from '../database/database.js';
import { ApiError } from '../http/api-error.js';
import { Pages } from '../http/pages.js';
import { isUuid } from '../http/uuid.js';
import { MESSAGE_SELECT, type MessageRow } from './message.row.js';
import type { ListMessagesQuery } from './task.dto.js';
import { TasksService } from './tasks.service.js';

const PAGE = (order: 'asc' | 'desc'): string => `${MESSAGE_SELECT}
WHERE m.task_id = $1 AND m.seq > $2 AND ($3::int IS NULL OR m.seq ${order === 'asc' ? '>' : '<'} $3)
ORDER BY m.seq ${order} LIMIT $4`;

@Injectable()
export class MessageReader {
  constructor(
    private readonly database: Database,
    private readonly tasks: TasksService,
    private readonly pages: Pages,
  ) {}

  /** Oldest first, or newest with `order=desc`; `after` leaves out what a following client has already. */
  async list(auth: AuthContext, taskId: string, query: ListMessagesQuery) {
    const { order = 'asc', after } = query;
    const page = this.pages.open(query, {
      route: `GET /v1/tasks/${taskId}/messages`,
      workspaceId: auth.workspaceId,
      userId: auth.userId,
      filters: { order, after },
    });
    await this.tasks.check(auth, taskId);
    const floor = after === undefined ? 0 : await this.seqOf(taskId, after);
    const values = [taskId, floor, page.after?.[0] ?? null, page.limit + 1];
    const { rows } = await this.database.read.query<MessageRow>({
      name: `messages-${order}`,
      text: PAGE(order),
      values,
    });
    return page.cut(rows, (row) => [String(row.seq)]);
  }

  private async seqOf(taskId: string, messageId: string): Promise<number> {
    if (isUuid(messageId)) {
      const text = 'SELECT seq FROM messages WHERE task_id = $1 AND id = $2';
      const query = { name: 'message-seq', text, values: [taskId, messageId] };
      const [row] = (await this.database.read.query<{ seq: number }>(query)).rows;
      if (row !== undefined) return row.seq;
    }
    throw new ApiError('invalid_query', 'after must be the id of a message of this task.', { param: 'after' });
  }
}
