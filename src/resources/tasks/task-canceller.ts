import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { PgChannel } from '../../platform/signals/pg-channel.js';
import { lockTask, readTask } from './task-lock.js';
import type { TaskRow } from './task.row.js';
import { statusesBefore, type StatusReason } from './task-status.js';
import { ADD_DURATION, closeCalls } from './task.sql.js';

const LOCK_OF_USER = `
SELECT t.id FROM tasks t WHERE t.workspace_id = $1 AND t.created_by = $2 AND t.status IN (${statusesBefore('cancelled')})
ORDER BY t.id FOR UPDATE`;

// While a task waits for a person none of its open calls has begun.
const ERROR = `CASE WHEN m.task_id IN (SELECT task_id FROM asked)
    THEN 'Cancelled while the task waited for a person; this call did nothing.'
    ELSE 'Cancelled before this call had a result; it may have run partly.' END`;

// Status and epoch move in one statement, so that a late completion of the worker touches nothing.
const CANCEL = `
WITH run AS (
  UPDATE runs r SET status = 'cancelled', epoch = r.epoch + 1, lease_until = NULL, finished_at = now()
  FROM (SELECT id, status FROM runs WHERE task_id = ANY($1::uuid[]) AND status IN ('queued', 'running') ORDER BY id FOR UPDATE) was
  WHERE r.id = was.id
  RETURNING r.id, r.task_id, CASE was.status WHEN 'running' THEN r.claimed_at END AS claimed_at),
asked AS (UPDATE interactions SET status = 'cancelled' WHERE task_id = ANY($1::uuid[]) AND status = 'pending'
  RETURNING task_id),
${closeCalls('SELECT unnest($1::uuid[])', ERROR)},
done AS (
  UPDATE tasks t SET status = 'cancelled', status_reason = $2::jsonb, read_all = true, finished_at = now(), updated_at = now(),
    ${ADD_DURATION}
  FROM (SELECT unnest($1::uuid[]) AS id) AS chosen LEFT JOIN run ON run.task_id = chosen.id
  WHERE t.id = chosen.id AND t.status IN (${statusesBefore('cancelled')}) RETURNING t.id)
SELECT run.id AS "runId" FROM run`;

@Injectable()
export class TaskCanceller {
  constructor(private readonly channel: PgChannel) {}

  /** Cancels at once: the worker is fenced off by the epoch, and nudged after the commit so that its processes end. */
  async cancel(auth: AuthContext, tx: UnitOfWork, id: string): Promise<TaskRow> {
    const task = await lockTask(auth, tx, id);
    if (task.status === 'completed' || task.status === 'failed') {
      throw new ApiError(
        'task_not_cancellable',
        `The task is ${task.status} already; only unfinished ones can be cancelled.`,
      );
    }
    if (task.status !== 'cancelled') {
      // Without a name: names are forgotten with the account, and this text is not.
      const reason = { code: 'cancelled', message: 'Cancelled on request.', retryable: false };
      const stopped = await this.stop(tx.manager, [task.id], reason);
      tx.afterCommit(() => this.nudge(stopped));
    }
    return readTask(tx, task.id);
  }

  /** Cancels what a removed member has under way. */
  async cancelOfUser(tx: UnitOfWork, workspaceId: string, userId: string): Promise<void> {
    const tasks: { id: string }[] = await tx.manager.query(LOCK_OF_USER, [workspaceId, userId]);
    if (tasks.length === 0) return;
    const reason = { code: 'owner_removed', message: 'Its creator was removed from the workspace.', retryable: false };
    const stopped = await this.stop(
      tx.manager,
      tasks.map((task) => task.id),
      reason,
    );
    tx.afterCommit(() => this.nudge(stopped));
  }

  private async stop(manager: EntityManager, taskIds: string[], reason: StatusReason): Promise<string[]> {
    const rows: { runId: string }[] = await manager.query(CANCEL, [taskIds, JSON.stringify(reason)]);
    return rows.map(({ runId }) => runId);
  }

  /** Tells the workers, after the commit, that these runs are theirs no more. */
  nudge(runIds: string[]): void {
    for (const runId of runIds) this.channel.send({ stop: runId });
  }
}
