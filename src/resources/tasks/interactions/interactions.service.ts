import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import { Billing } from '../../billing/billing.service.js';
import { FilesService } from '../../files/files.service.js';
import { Database } from '../../../platform/database/database.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { newId } from '../../../platform/database/ids.js';
import type { StoredPart } from '../../../engine/models/conversation.js';
import { Notices, RUNS } from '../../../platform/notices/notices.js';
import { answerOf, decisionOf, notPending } from './answer.js';
import {
  APPROVE,
  CANCEL_STEP,
  CONTINUE,
  DENY,
  DENY_STEP,
  DUE,
  EXPIRE,
  PENDING,
  type PendingInteraction,
  REPLY,
} from './interaction.sql.js';
import { checkAttachments, fileParts } from '../messages/message-parts.js';
import { lockToWork, readTask } from '../task-lock.js';
import type { AnswerDto } from '../task.dto.js';
import type { TaskRow } from '../task.sql.js';
import type { Settlement } from './settlement.js';

/** Milliseconds. On a connection that was cut without a word the recovery of runs would wait behind these. */
const LIMIT_MS = 5_000;

/** Questions and approvals: answered through the interaction endpoint, or settled by a message (reference §4, §5). */
@Injectable()
export class InteractionsService {
  constructor(
    private readonly database: Database,
    private readonly files: FilesService,
    private readonly billing: Billing,
    private readonly notices: Notices,
  ) {}

  async answer(auth: AuthContext, tx: UnitOfWork, taskId: string, input: AnswerDto): Promise<TaskRow> {
    checkAttachments(auth, input);
    const { task, work } = await lockToWork(auth, tx, this.billing, taskId);
    await this.billing.authorize(tx, work);
    const [pending] = await tx.run(PENDING({ taskId: task.id }));
    if (task.status !== 'awaiting_input' || pending?.id !== input.interactionId || pending.expired) {
      throw notPending();
    }
    const outcome =
      pending.type === 'approval'
        ? await this.decide(tx, task.id, input)
        : await this.reply(auth, tx, task.id, pending, input);
    const runId = newId();
    const settled = { interactionId: pending.id, outcome, by: auth.userId };
    await tx.run(CONTINUE({ taskId: task.id, runId, settled, traceparent: tx.traceparent }));
    const notice = { work: { kind: RUNS, id: runId }, tasks: [task.id], workspace: auth.workspaceId };
    tx.afterCommit(() => this.notices.send(notice));
    return readTask(tx, task.id);
  }

  /**
   * Ends what nobody has answered in time: the agent reads that, as the error of a question or as the reason of a denied call, and goes on
   * (reference §5).
   */
  async expire(): Promise<void> {
    const { polling } = this.database;
    for (const { taskId } of await polling.run(DUE(), LIMIT_MS)) {
      const rows = await polling.run(EXPIRE({ taskId, runId: newId() }), LIMIT_MS);
      for (const { id } of rows) this.notices.send({ work: { kind: RUNS, id } });
    }
  }

  private async reply(
    auth: AuthContext,
    tx: UnitOfWork,
    taskId: string,
    pending: PendingInteraction,
    input: AnswerDto,
  ): Promise<'answered'> {
    const answer = answerOf(pending, input);
    const files = await fileParts(auth, tx, this.files, taskId, input);
    const output = { ...answer, files: files.map(({ fileId, name }) => ({ id: fileId, name })) };
    await tx.run(REPLY({ taskId, output }));
    return 'answered';
  }

  private async decide(tx: UnitOfWork, taskId: string, input: AnswerDto): Promise<'approved' | 'denied'> {
    const { decision, reason, remember } = decisionOf(input);
    if (decision === 'approve') await tx.run(APPROVE({ taskId, reason, remember }));
    else await tx.run(DENY({ taskId, reason }));
    return decision === 'approve' ? 'approved' : 'denied';
  }
}

/**
 * A message answers a question; it cancels a choice and denies an approval, with what else is open of the step. The caller
 * holds the task's lock, and writes the event of what is resolved.
 */
export async function settleByMessage(
  auth: AuthContext,
  tx: UnitOfWork,
  taskId: string,
  parts: StoredPart[],
): Promise<Settlement | null> {
  const [pending] = await tx.run(PENDING({ taskId }));
  if (pending === undefined) return null;
  const settled = { interactionId: pending.id, by: auth.userId };
  if (pending.type === 'approval') {
    await tx.run(DENY_STEP({ taskId, reason: 'the person sent a message instead, which follows.' }));
    return { ...settled, outcome: 'denied' };
  } else if (pending.type === 'question' && !pending.expired) {
    const content = parts.find((part) => part.type === 'text')?.text ?? null;
    const files = parts.flatMap((part) => (part.type === 'file' ? [{ id: part.fileId, name: part.name }] : []));
    await tx.run(REPLY({ taskId, output: { content, options: [], files } }));
    return { ...settled, outcome: 'answered' };
  } else {
    await tx.run(CANCEL_STEP({ taskId, reason: 'Not answered: the person sent a message instead, which follows.' }));
    return { ...settled, outcome: 'cancelled' };
  }
}
