import { Injectable } from '@nestjs/common';
import type { StoredPart } from '../../../engine/models/conversation.js';
import type { ModelUsage } from '../../../engine/models/model-provider.js';
import type { Json, Sql } from '../../../platform/database/sql.js';
import { timestampView } from '../../../platform/http/schema.js';
import type { FileRow } from '../../files/files.sql.js';
import type { Settlement } from '../interactions/settlement.js';
import type { InvocationRow, MessageRow } from '../messages/message.sql.js';
import type { InteractionRow } from '../task.sql.js';
import { READ, type TaskEventRow } from './task-events.sql.js';

/** What an event tells, before the transparency policy is applied: the rows that the views of messages, files and tasks take. */
export type TaskNews =
  /** Without a message: it was withdrawn since, and nothing of it is shown any more. */
  | { type: 'message.created' | 'message.completed'; message: MessageRow | null; usage: ModelUsage | null }
  | { type: 'message.withdrawn'; messageId: string; by: { id: string; name: string } | null }
  | { type: 'tool.completed'; messageId: string; call: InvocationRow; parts: StoredPart[] }
  | { type: 'file.published'; file: Json<FileRow> }
  | { type: 'interaction.created'; interaction: InteractionRow }
  | {
      type: 'interaction.settled';
      interactionId: string;
      outcome: Settlement['outcome'];
      by: { id: string; name: string } | null;
    }
  | { type: `task.${string}` | `check.${string}` | `command.${string}`; data: Record<string, unknown> };

/** An event of a task (reference §17). */
export type TaskEventView = { id: string; seq: number; taskId: string; createdAt: string } & TaskNews;

/** Reads what happened to a task. Who may see it is for the caller to check. */
@Injectable()
export class TaskEvents {
  /**
   * The events after the number `after` (0: from the beginning), at most `limit`, in their order. Each shows what it tells of as it
   * was then: what is added to a message or a call afterwards is left out.
   */
  async read(sql: Sql, taskId: string, after: number, limit: number): Promise<TaskEventView[]> {
    const rows = await sql.run(READ({ taskId, after, limit }));
    return rows.map(taskEvent);
  }
}

/** What a row tells of. */
export function taskEvent(row: TaskEventRow): TaskEventView {
  const { taskId, seq, createdAt } = row;
  return { id: `${taskId}-${seq}`, seq, taskId, createdAt: timestampView(createdAt), ...newsOf(row) };
}

function newsOf(row: TaskEventRow): TaskNews {
  const { type, ref } = row;
  const data = row.data ?? {};
  switch (type) {
    case 'message.created':
    case 'message.completed':
      return {
        type,
        message:
          type === 'message.created' && row.message === null
            ? null
            : asOfThen(type, there(row, row.message), data['parts'] as number | undefined),
        usage: (data['usage'] as ModelUsage | undefined) ?? null,
      };
    case 'message.withdrawn':
      return { type, messageId: there(row, ref), by: personOf(row) };
    case 'tool.completed': {
      const { parts: all, ...call } = there(row, row.call);
      const { after = 0, parts = 0 } = data as { after?: number; parts?: number };
      return { type, messageId: there(row, ref), call, parts: (all ?? []).slice(after, after + parts) };
    }
    case 'file.published':
      return { type, file: there(row, row.file) };
    case 'interaction.created':
      return { type, interaction: there(row, row.interaction) };
    case 'interaction.settled': {
      const { outcome } = data as Pick<Settlement, 'outcome'>;
      return { type, interactionId: there(row, ref), outcome, by: personOf(row) };
    }
    default:
      return { type: type as `task.${string}`, data };
  }
}

/** A message as the event stands for it, with as many parts as it had. */
function asOfThen(type: 'message.created' | 'message.completed', message: MessageRow, parts?: number): MessageRow {
  if (type === 'message.completed') return { ...message, status: 'complete' };
  const then = message.role === 'user' ? UNREAD : ({ status: 'in_progress' } as const);
  return { ...message, ...then, parts: message.parts.slice(0, parts) };
}

const UNREAD = { status: 'queued', turn: null, readAt: null } as const;

/** The one who did it; null for nobody. */
function personOf({ data, byName }: TaskEventRow): { id: string; name: string } | null {
  const id = (data?.['by'] ?? null) as string | null;
  return id === null || byName === null ? null : { id, name: byName };
}

/** But for a message that was withdrawn, what an event tells of goes only with its task, and then the event goes too. */
function there<T>({ taskId, seq, type }: TaskEventRow, found: T | null): T {
  if (found === null) throw new Error(`Event ${taskId}-${seq} (${type}) tells of what is not there.`);
  return found;
}
