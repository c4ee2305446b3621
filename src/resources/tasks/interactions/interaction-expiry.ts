import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { newId } from '../../../platform/database/ids.js';
import { WorkSignal } from '../../../platform/signals/work-signal.js';
import { SETTLE_CALL } from './interaction.sql.js';

const DUE = `SELECT task_id AS "taskId" FROM interactions WHERE status = 'pending' AND expires_at <= clock_timestamp() LIMIT 50`;

// The task's lock first: an answer that is being given either is done by then, or finds the question expired.
const EXPIRE = `
WITH task AS (SELECT id, workspace_id FROM tasks WHERE id = $1 AND status = 'awaiting_input' FOR UPDATE SKIP LOCKED),
asked AS (
  UPDATE interactions i SET status = 'expired' FROM task
  WHERE i.task_id = task.id AND i.status = 'pending' AND i.expires_at <= clock_timestamp()
  RETURNING i.message_id, i.tool_call_id, i.type, i.expires_at),
${SETTLE_CALL(`state = CASE asked.type WHEN 'approval' THEN 'denied' ELSE 'error' END,
  error = 'no answer by ' || to_char(asked.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`)},
run AS (
  INSERT INTO runs (id, task_id, workspace_id, kind, status)
  SELECT $2, task.id, task.workspace_id, 'continuation', 'queued' FROM task, asked RETURNING id)
UPDATE tasks t SET status = 'queued', updated_at = now() FROM run WHERE t.id = $1 RETURNING run.id`;

/**
 * Interactions that nobody has answered in time: the agent reads that, as the error of a question or as the reason of
 * a denied call, and goes on (reference §5).
 */
@Injectable()
export class InteractionExpiry {
  constructor(
    private readonly database: Database,
    private readonly signal: WorkSignal,
  ) {}

  async expire(): Promise<void> {
    const due = await this.query<{ taskId: string }>(DUE, []);
    for (const { taskId } of due) {
      const rows = await this.query<{ id: string }>(EXPIRE, [taskId, newId()]);
      for (const { id } of rows) this.signal.ring(id);
    }
  }

  /** With a limit of its own: on a connection that was cut without a word the recovery of runs would wait behind it. */
  private async query<T extends object>(text: string, values: unknown[]): Promise<T[]> {
    const query = { text, values, query_timeout: 5_000 };
    return (await this.database.polling.query<T>(query)).rows;
  }
}
