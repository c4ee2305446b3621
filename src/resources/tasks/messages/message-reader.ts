import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import { Database } from '../../../platform/database/database.js';
import { ApiError, notFound } from '../../../platform/http/api-error.js';
import type { PageRequest } from '../../../platform/http/pages.js';
import { isUuid } from '../../../platform/database/ids.js';
import type { ListMessagesQuery } from '../task.dto.js';
import { type MessageRow, PAGE } from './message.sql.js';

/** A well-formed id that no message has. */
const NO_MESSAGE = '00000000-0000-0000-0000-000000000000';

/** Reads the messages of a task. */
@Injectable()
export class MessageReader {
  constructor(private readonly database: Database) {}

  /**
   * Oldest first, or newest with `order=desc`; `after` leaves out what a following client has already. The page ends early when
   * it is long in bytes, but never before its first message.
   */
  async list(auth: AuthContext, taskId: string, page: PageRequest<ListMessagesQuery>) {
    const { order, after } = page.query;
    if (!isUuid(taskId)) throw notFound('task');
    const wanted = { auth, taskId, limit: page.limit + 1 };
    const id = after === undefined || isUuid(after) ? (after ?? null) : NO_MESSAGE;
    const seq = page.after === null ? null : Number(page.after[0]);
    const isFirst = id === null && seq === null;
    const query = isFirst ? PAGE[order].first(wanted) : PAGE[order].further({ ...wanted, after: id, seq });
    const [found] = await this.database.read.run(query);
    const messages = messagesOf(found);
    const shown = messages.flatMap((message) => message ?? []);
    return page.cut(shown, (row) => [String(row.seq)], shown.length < messages.length);
  }
}

type Found = { floor: number | null; messages: (MessageRow | null)[] | null };

function messagesOf(found: Found | undefined): (MessageRow | null)[] {
  if (found === undefined) throw notFound('task');
  if (found.floor !== null) return found.messages ?? [];
  throw new ApiError('invalid_query', 'after must be the id of a message of this task.', { param: 'after' });
}
