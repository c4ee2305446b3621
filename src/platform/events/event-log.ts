import { Injectable } from '@nestjs/common';
import { newId } from '../database/ids.js';
import { jsonb, sql, text, uuid, uuidOrNull } from '../database/sql.js';
import type { UnitOfWork } from '../database/unit-of-work.js';
import { Notices } from '../notices/notices.js';

const APPEND = sql`
INSERT INTO workspace_events (xid, workspace_id, task_id, event_id, type, data)
VALUES (pg_current_xact_id()::text::bigint, ${uuid('workspaceId')}, ${uuidOrNull('taskId')}, ${uuid('id')}, ${text('type')}, ${jsonb<object>()('data')})`.rows();

/** The log of events (reference §17). Those of tasks write themselves, in the statements that change a task. */
@Injectable()
export class EventLog {
  constructor(private readonly notices: Notices) {}

  /** Appends an event that is not of a task's own numbers, such as `automation.paused`. It is there when the transaction is. */
  async append(
    tx: UnitOfWork,
    event: { workspaceId: string; taskId?: string | null; type: string; data: object },
  ): Promise<void> {
    const { workspaceId, taskId = null, type, data } = event;
    // Without a round trip of its own.
    await tx.runWithNext(APPEND({ id: newId(), workspaceId, taskId, type, data }));
    tx.afterCommit(() => this.notices.send({ workspace: workspaceId }));
  }
}
