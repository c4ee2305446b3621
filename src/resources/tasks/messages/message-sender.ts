import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import { type JsonRow, jsonRows } from '../../../platform/database/json-rows.js';
import { FilesService } from '../../files/files.service.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { newId } from '../../../platform/database/ids.js';
import type { StoredPart } from '../../../engine/models/conversation.js';
import { PgChannel } from '../../../platform/signals/pg-channel.js';
import { WorkSignal } from '../../../platform/signals/work-signal.js';
import { InteractionsService } from '../interactions/interactions.service.js';
import type { MessageRow } from './message.row.js';
import { checkInput, userParts } from './message-parts.js';
import { type LockedTask, lockTask, readTask } from '../task-lock.js';
import type { SendMessageDto } from '../task.dto.js';
import type { TaskRow } from '../task.row.js';
import { INTERRUPT } from '../task.sql.js';
import { statusesBefore, isFinal } from '../task-status.js';

// $5: read at once (it answers a question); $6: kind of the run that it starts, or null; $7: that run's id; $8: mode.
const SEND = `
WITH task AS (SELECT id, workspace_id, last_seq, turn FROM tasks WHERE id = $1),
message AS (
  INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, created_by, parts, mode)
  SELECT $2, task.id, task.last_seq + 1, CASE WHEN $5 THEN task.last_seq + 1 END, CASE WHEN $5 THEN task.turn END,
    'user', CASE WHEN $5 THEN 'complete' ELSE 'queued' END, $3, $4::jsonb, $8 FROM task
  RETURNING id, seq, role, status, created_by AS "createdById", parts, created_at AS "createdAt"),
run AS (
  INSERT INTO runs (id, task_id, workspace_id, kind, status)
  SELECT $7, task.id, task.workspace_id, $6, 'queued' FROM task WHERE $6::text IS NOT NULL),
touched AS (
  UPDATE tasks t SET last_seq = t.last_seq + 1, message_count = t.message_count + 1, updated_at = now(),
    status = CASE WHEN $6::text IS NULL THEN t.status ELSE 'queued' END,
    result_text = CASE WHEN $6::text = 'turn' THEN NULL ELSE t.result_text END,
    result_file_ids = CASE WHEN $6::text = 'turn' THEN NULL ELSE t.result_file_ids END,
    status_reason = CASE WHEN $6::text = 'turn' THEN NULL ELSE t.status_reason END,
    finished_at = CASE WHEN $6::text = 'turn' THEN NULL ELSE t.finished_at END,
    read_upto = CASE WHEN $6::text = 'turn' THEN t.last_seq + 1 ELSE t.read_upto END
  FROM task WHERE t.id = task.id AND ($6::text IS NULL OR t.status IN (${statusesBefore('queued')})))
${jsonRows('SELECT * FROM message')}`;

@Injectable()
export class MessageSender {
  constructor(
    private readonly interactions: InteractionsService,
    private readonly files: FilesService,
    private readonly signal: WorkSignal,
    private readonly channel: PgChannel,
  ) {}

  /** Accepts a message whatever the status (reference §5); it is durable when this transaction is. */
  async send(
    auth: AuthContext,
    tx: UnitOfWork,
    taskId: string,
    input: SendMessageDto,
  ): Promise<{ message: MessageRow; task: TaskRow }> {
    checkInput(auth, input);
    const task = await lockTask(auth, tx, taskId);
    const parts = await userParts(auth, tx, this.files, task.id, input);
    // Without a running turn there is nothing to steer or interrupt: all three wait their turn.
    const mode = task.status === 'running' ? (input.mode ?? 'queue') : 'queue';
    const kind = mode === 'interrupt' ? await this.interrupt(tx, task) : await this.consequence(tx, task, parts);
    const runId = newId();
    const values = [task.id, newId(), auth.userId, JSON.stringify(parts), kind === 'continuation', kind, runId, mode];
    const [sent] = await tx.query<JsonRow<Omit<MessageRow, 'createdByName' | 'invocations'>>>(SEND, values);
    if (sent === undefined) throw new Error('The message was not inserted.');
    if (kind !== null) tx.afterCommit(() => this.signal.ring(runId));
    return {
      message: { ...sent.row, createdByName: auth.user.name, invocations: null },
      task: await readTask(tx, task.id),
    };
  }

  /** Stops the running turn as it stands; the next one begins with the message. */
  private async interrupt(tx: UnitOfWork, task: LockedTask): Promise<'turn'> {
    for (const { runId } of await tx.query<{ runId: string }>(INTERRUPT, [task.id])) {
      tx.afterCommit(() => this.channel.send({ stop: runId }));
    }
    return 'turn';
  }

  /** The run that a message starts: a new turn, the waiting one going on, or none while work is under way. */
  private async consequence(
    tx: UnitOfWork,
    { id, status }: LockedTask,
    parts: StoredPart[],
  ): Promise<'turn' | 'continuation' | null> {
    if (isFinal(status)) return 'turn';
    if (status !== 'awaiting_input') return null;
    await this.interactions.settleByMessage(tx, id, parts);
    return 'continuation';
  }
}
