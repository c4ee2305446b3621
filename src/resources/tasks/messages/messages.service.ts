import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import { Billing } from '../../billing/billing.service.js';
import { FilesService } from '../../files/files.service.js';
import { Database } from '../../../platform/database/database.js';
import { ApiError, notFound } from '../../../platform/http/api-error.js';
import type { PageRequest } from '../../../platform/http/pages.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { isUuid, newId } from '../../../platform/database/ids.js';
import type { StoredPart } from '../../../engine/models/conversation.js';
import { Notices, RUNS } from '../../../platform/notices/notices.js';
import { settleByMessage } from '../interactions/interactions.service.js';
import { TaskChildren } from '../children/task-children.js';
import { TaskEnding } from '../task-ending.js';
import type { Settlement } from '../interactions/settlement.js';
import { charactersOf, checkInput, userParts } from './message-parts.js';
import { MAX_UNREAD, type MessageRow, PAGE, SEND } from './message.sql.js';
import { FIND, WITHDRAW } from './withdrawal.sql.js';
import type { SendMessageDto } from '../task.dto.js';
import type { ListMessagesQuery } from './message-list.dto.js';
import { INTERRUPT } from '../task-end.sql.js';
import { lockTask, lockToWork, readTask } from '../task-lock.js';
import type { LockedTask, TaskRow } from '../task.sql.js';
import { isFinal } from '../task-status.js';

/** A well-formed id that no message has. */
const NO_MESSAGE = '00000000-0000-0000-0000-000000000000';

/** The messages of a task: people send them, read them, and withdraw what no run has read (reference §5, §6). */
@Injectable()
export class MessagesService {
  constructor(
    private readonly database: Database,
    private readonly files: FilesService,
    private readonly billing: Billing,
    private readonly ending: TaskEnding,
    private readonly children: TaskChildren,
    private readonly notices: Notices,
  ) {}

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

  /**
   * Accepts a message whatever the status (reference §5); it is durable when this transaction is. Throws 409 `too_much_unread` while
   * work is under way and too much waits.
   */
  async send(
    auth: AuthContext,
    tx: UnitOfWork,
    taskId: string,
    input: SendMessageDto,
  ): Promise<{ message: MessageRow; task: TaskRow }> {
    checkInput(auth, input, 'content, review or attachments');
    const { task, work } = await lockToWork(auth, tx, this.billing, taskId);
    const parts = await userParts(auth, tx, this.files, task.id, input);
    await this.billing.authorize(tx, work);
    // Without a running turn there is nothing to steer or interrupt: all three wait their turn. One that waits for tasks of its own reads them when it goes on.
    const waits = task.status === 'queued' && task.waitingSince !== null;
    const mode = task.status === 'running' ? (input.mode ?? 'queue') : waits ? 'steer' : 'queue';
    const { kind, settled } = await this.consequence(auth, tx, task, mode, parts);
    const woken = waits && input.mode === 'interrupt' ? await this.children.release(tx, task.id) : null;
    const runId = woken ?? newId();
    const [sent] = await tx.run(
      SEND({
        taskId: task.id,
        messageId: newId(),
        userId: auth.userId,
        parts,
        mode,
        readNow: kind === 'continuation',
        // Elsewhere it sets the task going, with all that is unread.
        waits: task.status === 'queued' || task.status === 'running',
        characters: charactersOf(parts),
        kind,
        runId,
        traceparent: tx.traceparent,
        settled,
      }),
    );
    if (sent === undefined) throw tooMuchUnread();
    const notice = { tasks: [task.id], workspace: auth.workspaceId };
    if (kind === null && woken === null) tx.afterCommit(() => this.notices.send(notice));
    else tx.afterCommit(() => this.notices.send({ ...notice, work: { kind: RUNS, id: runId } }));
    return {
      message: { ...sent.row, createdByName: auth.user.name, invocations: null },
      task: await readTask(tx, task.id),
    };
  }

  /**
   * Takes a message back that no run has read (docs/decisions/0061): for its author, and for the owner of its task. The task's lock decides between this and the run that reads it. A turn that is left
   * without a message to read is cancelled. Throws 404, 403, and 409 `message_already_read`.
   */
  async withdraw(auth: AuthContext, tx: UnitOfWork, taskId: string, messageId: string): Promise<void> {
    const task = await lockTask(auth, tx, taskId);
    const [message] = isUuid(messageId) ? await tx.run(FIND({ taskId: task.id, messageId })) : [];
    if (message === undefined) throw notFound('message');
    if (message.createdById !== auth.userId) auth.requireOwnership(task.createdById, 'message');
    const [withdrawn] =
      message.status === 'queued' ? await tx.run(WITHDRAW({ taskId: task.id, messageId, userId: auth.userId })) : [];
    if (withdrawn === undefined) {
      const words = 'The message is part of the conversation: only one that no run has read yet can be withdrawn.';
      throw new ApiError('message_already_read', words);
    }
    if (withdrawn.idle)
      await this.ending.cancelLocked(tx, [task.id], 'The message that it was to read was withdrawn.', auth.userId);
    tx.afterCommit(() => this.notices.send({ tasks: [task.id], workspace: auth.workspaceId }));
  }

  /** What the message starts, and the interaction that it settles, if the task waits for one. */
  private async consequence(
    auth: AuthContext,
    tx: UnitOfWork,
    task: LockedTask,
    mode: string,
    parts: StoredPart[],
  ): Promise<{ kind: 'turn' | 'continuation' | null; settled: Settlement | null }> {
    const { id, status } = task;
    if (status === 'awaiting_input') {
      return { kind: 'continuation', settled: await settleByMessage(auth, tx, id, parts) };
    }
    if (mode === 'interrupt') await this.interrupt(tx, task);
    return { kind: mode === 'interrupt' || isFinal(status) ? 'turn' : null, settled: null };
  }

  /** Stops the running turn as it stands; the next one begins with the message. */
  private async interrupt(tx: UnitOfWork, task: LockedTask): Promise<void> {
    const stop = (await tx.run(INTERRUPT({ taskId: task.id }))).map(({ runId }) => runId);
    if (stop.length > 0) tx.afterCommit(() => this.notices.send({ stop }));
  }
}

function tooMuchUnread(): ApiError {
  const most = MAX_UNREAD.toLocaleString('en');
  const message = `The messages that the task has not read yet may have ${most} characters together; send this one when it has read some.`;
  return new ApiError('too_much_unread', message, { param: 'content' });
}

type Found = { floor: number | null; messages: (MessageRow | null)[] | null };

function messagesOf(found: Found | undefined): (MessageRow | null)[] {
  if (found === undefined) throw notFound('task');
  if (found.floor !== null) return found.messages ?? [];
  throw new ApiError('invalid_query', 'after must be the id of a message of this task.', { param: 'after' });
}
