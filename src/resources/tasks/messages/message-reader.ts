import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import { Database } from '../../../platform/database/database.js';
import { ApiError, notFound } from '../../../platform/http/api-error.js';
import { Pages } from '../../../platform/http/pages.js';
import { isUuid } from '../../../platform/database/ids.js';
import { MESSAGE_SELECT, type MessageRow } from './message.row.js';
import type { ListMessagesQuery } from '../task.dto.js';
import { VISIBLE } from '../task.sql.js';

// The task, the message of `after` and the page in one round trip: no row, there is no such task for the caller; no floor,
// there is no such message. The page is one JSON value: see jsonRows.
const PAGE = (order: 'asc' | 'desc'): string => `
WITH task AS (
  SELECT t.id, CASE WHEN $5::uuid IS NULL THEN 0 ELSE (
    SELECT seq FROM messages WHERE task_id = t.id AND id = $5) END AS floor
  FROM tasks t WHERE ${VISIBLE} AND t.id = $4)
SELECT task.floor, (
  SELECT json_agg(page ORDER BY page.seq ${order}) FROM (
    ${MESSAGE_SELECT}
    WHERE m.task_id = task.id AND m.seq > task.floor AND ($6::int IS NULL OR m.seq ${order === 'asc' ? '>' : '<'} $6)
    ORDER BY m.seq ${order} LIMIT $7) page) AS messages
FROM task`;

interface Found {
  floor: number | null;
  messages: MessageRow[] | null;
}

/** A well-formed id that no message has. */
const NO_MESSAGE = '00000000-0000-0000-0000-000000000000';

@Injectable()
export class MessageReader {
  constructor(
    private readonly database: Database,
    private readonly pages: Pages,
  ) {}

  /** Oldest first, or newest with `order=desc`; `after` leaves out what a following client has already. */
  async list(auth: AuthContext, taskId: string, query: ListMessagesQuery) {
    const { workspaceId, userId } = auth;
    const { order = 'asc', after } = query;
    const route = `GET /v1/tasks/${taskId}/messages`;
    const page = this.pages.open(query, { route, workspaceId, userId, filters: { order, after } });
    if (!isUuid(taskId)) throw notFound('task');
    const { rows } = await this.database.read.query<Found>({
      name: `messages-${order}`,
      text: PAGE(order),
      values: [
        workspaceId,
        userId,
        auth.seesEverything,
        taskId,
        after === undefined || isUuid(after) ? after : NO_MESSAGE,
        page.after?.[0],
        page.limit + 1,
      ],
    });
    return page.cut(messagesOf(rows[0]), (row) => [String(row.seq)]);
  }
}

function messagesOf(found: Found | undefined): MessageRow[] {
  if (found === undefined) throw notFound('task');
  if (found.floor !== null) return found.messages ?? [];
  throw new ApiError('invalid_query', 'after must be the id of a message of this task.', { param: 'after' });
}
