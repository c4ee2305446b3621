import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import { isUuid } from '../../../platform/database/ids.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { ApiError, notFound } from '../../../platform/http/api-error.js';
import { Notices } from '../../../platform/notices/notices.js';
import { TaskCanceller } from '../task-canceller.js';
import { lockTask } from '../task-lock.js';
import { FIND, WITHDRAW } from './withdrawal.sql.js';

/** Takes back messages that no run has read (reference §6, docs/decisions/0061). */
@Injectable()
export class MessageWithdrawer {
  constructor(
    private readonly canceller: TaskCanceller,
    private readonly notices: Notices,
  ) {}

  /**
   * For its author, and for the owner of its task. The task's lock decides between this and the run that reads it. A turn that is left
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
      await this.canceller.cancelLocked(tx, task.id, 'The message that it was to read was withdrawn.', auth.userId);
    tx.afterCommit(() => this.notices.send({ tasks: [task.id], workspace: auth.workspaceId }));
  }
}
