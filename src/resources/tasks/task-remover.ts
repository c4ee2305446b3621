import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Env } from '../../platform/config/env.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { forgetAnswersOfTask } from '../../access/idempotency/stored-answers.js';
import { TaskCanceller } from './task-canceller.js';
import { lockTask } from './task-lock.js';
import { statusesBefore } from './task-status.js';

// A worker that was told to stop a moment ago may still write into the workdir: it removes the folder itself when it has
// stopped, and a lease later, when it must have, whoever comes first does.
const REMOVE_WORKDIRS = `
INSERT INTO folder_removals (kind, id, not_before)
SELECT 'workdir', t.id, clock_timestamp() + CASE WHEN EXISTS (
  SELECT 1 FROM runs r WHERE r.task_id = t.id AND r.claimed_at IS NOT NULL
    AND (r.status IN ('queued', 'running') OR r.finished_at > clock_timestamp() - make_interval(secs => $2)))
  THEN make_interval(secs => $2) ELSE interval '0' END
FROM unnest($1::uuid[]) AS t(id)
ON CONFLICT (kind, id) DO NOTHING`;

// Messages, calls, questions, runs and files go with the task's row. A worker's later write finds no run to be fenced by.
const DELETE = `
WITH open AS (SELECT id FROM runs WHERE task_id = ANY($1::uuid[]) AND status IN ('queued', 'running')),
gone AS (DELETE FROM tasks WHERE id = ANY($1::uuid[]))
SELECT id FROM open`;

// Those under way first: running before queued, by the alphabet. Locked in the order of ids, as everybody does. A task may
// have a long history: fifty at a time take moments.
const SOME = {
  open: `WHERE workspace_id = $1 AND status IN (${statusesBefore('cancelled')}) ORDER BY status DESC LIMIT 50`,
  all: `WHERE workspace_id = $1 LIMIT 50`,
};
const lockSome = (which: keyof typeof SOME): string => `
SELECT id FROM tasks WHERE id = ANY(ARRAY(SELECT id FROM tasks ${SOME[which]})) ORDER BY id FOR UPDATE`;

/** Deletes tasks with all that belongs to them (reference §5). */
@Injectable()
export class TaskRemover {
  constructor(
    private readonly canceller: TaskCanceller,
    private readonly env: Env,
  ) {}

  /** Its work is stopped after the commit, its workdir goes as soon as nobody works in it. Throws 404 and 403. */
  async remove(auth: AuthContext, tx: UnitOfWork, taskId: string): Promise<void> {
    const task = await lockTask(auth, tx, taskId);
    auth.requireOwnership(task.createdById, 'task');
    await forgetAnswersOfTask(tx, auth.workspaceId, task.id);
    await this.removeLocked(tx, [task.id]);
  }

  /** Deletes some of the tasks of a workspace that is being deleted with all stored answers. Resolves with their number. */
  async removeSome(tx: UnitOfWork, workspaceId: string, which: keyof typeof SOME): Promise<number> {
    const tasks = await tx.query<{ id: string }>(lockSome(which), [workspaceId]);
    if (tasks.length > 0) await this.removeLocked(tx, tasks.map(({ id }) => id)); // prettier-ignore
    return tasks.length;
  }

  private async removeLocked(tx: UnitOfWork, taskIds: string[]): Promise<void> {
    await tx.query(REMOVE_WORKDIRS, [taskIds, this.env.variables.LEASE_SECONDS]);
    const stopped = await tx.query<{ id: string }>(DELETE, [taskIds]);
    tx.afterCommit(() => this.canceller.nudge(stopped.map(({ id }) => id)));
  }
}
