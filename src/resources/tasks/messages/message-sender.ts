import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import { Billing } from '../../billing/billing.service.js';
import { FilesService } from '../../files/files.service.js';
import { ApiError } from '../../../platform/http/api-error.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { newId } from '../../../platform/database/ids.js';
import type { StoredPart } from '../../../engine/models/conversation.js';
import { Notices, RUNS } from '../../../platform/notices/notices.js';
import { InteractionsService } from '../interactions/interactions.service.js';
import type { Settlement } from '../interactions/settlement.js';
import { checkInput, userParts } from './message-parts.js';
import { MAX_UNREAD, type MessageRow, SEND } from './message.sql.js';
import type { SendMessageDto } from '../task.dto.js';
import { INTERRUPT } from '../task-end.sql.js';
import { lockToWork, readTask } from '../task-lock.js';
import type { LockedTask, TaskRow } from '../task.sql.js';
import { isFinal } from '../task-status.js';

/** Takes the messages of people (reference §5). */
@Injectable()
export class MessageSender {
  constructor(
    private readonly interactions: InteractionsService,
    private readonly files: FilesService,
    private readonly billing: Billing,
    private readonly notices: Notices,
  ) {}

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
    checkInput(auth, input);
    const { task, work } = await lockToWork(auth, tx, this.billing, taskId);
    const parts = await userParts(auth, tx, this.files, task.id, input);
    await this.billing.authorize(tx, work);
    // Without a running turn there is nothing to steer or interrupt: all three wait their turn.
    const mode = task.status === 'running' ? (input.mode ?? 'queue') : 'queue';
    const { kind, settled } = await this.consequence(auth, tx, task, mode, parts);
    const runId = newId();
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
        characters: input.content?.length ?? 0,
        kind,
        runId,
        traceparent: tx.traceparent,
        settled,
      }),
    );
    if (sent === undefined) throw tooMuchUnread();
    const notice = { tasks: [task.id], workspace: auth.workspaceId };
    if (kind === null) tx.afterCommit(() => this.notices.send(notice));
    else tx.afterCommit(() => this.notices.send({ ...notice, work: { kind: RUNS, id: runId } }));
    return {
      message: { ...sent.row, createdByName: auth.user.name, invocations: null },
      task: await readTask(tx, task.id),
    };
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
      return { kind: 'continuation', settled: await this.interactions.settleByMessage(auth, tx, id, parts) };
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
