import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../auth/auth-context.js';
import { Env } from '../config/env.js';
import type { UnitOfWork } from '../http/unit-of-work.js';
import { forgetAnswersOfTask } from '../idempotency/stored-answers.js';
import { TaskCanceller } from './task-canceller.js';
import { lockTask } from './task-lock.js';

// A worker that was told to stop a moment ago may still write into the workdir: it removes the folder itself when it has
// stopped, and a lease later, when it must have, whoever comes first does.
const REMOVE_WORKDIR = `
INSERT INTO folder_removals (kind, id, not_before)
SELECT 'workdir', $1, clock_timestamp() + CASE WHEN EXISTS (
  SELECT 1 FROM runs WHERE task_id = $1 AND claimed_at IS NOT NULL
    AND (status IN ('queued', 'running') OR finished_at > clock_timestamp() - make_interval(secs => $2)))
  THEN make_interval(secs => $2) ELSE interval '0' END
ON CONFLICT (kind, id) DO NOTHING`;

// Messages, calls, questions, runs and files go with the task's row. A worker's later write finds no run to be fenced by.
const DELETE = `
WITH open AS (SELECT id FROM runs WHERE task_id = $1 AND status IN ('queued', 'running')),
gone AS (DELETE FROM tasks WHERE id = $1)
SELECT id FROM open`;

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
    await tx.query(REMOVE_WORKDIR, [task.id, this.env.variables.LEASE_SECONDS]);
    await forgetAnswersOfTask(tx, auth.workspaceId, task.id);
    const stopped = await tx.query<{ id: string }>(DELETE, [task.id]);
    tx.afterCommit(() => this.canceller.nudge(stopped.map(({ id }) => id)));
  }
}
