import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Env } from '../../platform/config/env.js';
import { Notices } from '../../platform/notices/notices.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { forgetAnswersOfTask } from '../../access/idempotency/stored-answers.js';
import { TaskCanceller } from './task-canceller.js';
import { lockTask } from './task-lock.js';
import { DELETE, LOCK_SOME, REMOVE_WORKDIRS } from './task-end.sql.js';

/** Deletes tasks with all that belongs to them (reference §5). */
@Injectable()
export class TaskRemover {
  constructor(
    private readonly canceller: TaskCanceller,
    private readonly env: Env,
    private readonly notices: Notices,
  ) {}

  /** Its work is stopped after the commit, its workdir goes as soon as nobody works in it. Throws 404 and 403. */
  async remove(auth: AuthContext, tx: UnitOfWork, taskId: string): Promise<void> {
    const task = await lockTask(auth, tx, taskId);
    auth.requireOwnership(task.createdById, 'task');
    await forgetAnswersOfTask(tx, auth.workspaceId, task.id);
    await this.removeLocked(tx, [task.id]);
    tx.afterCommit(() => this.notices.send({ tasks: [task.id], workspace: auth.workspaceId }));
  }

  /** Deletes some of the tasks of a workspace that is being deleted with all stored answers. Resolves with their number. */
  async removeSome(tx: UnitOfWork, workspaceId: string, which: keyof typeof LOCK_SOME): Promise<number> {
    const tasks = await tx.run(LOCK_SOME[which]({ workspaceId }));
    if (tasks.length > 0) await this.removeLocked(tx, tasks.map(({ id }) => id)); // prettier-ignore
    return tasks.length;
  }

  private async removeLocked(tx: UnitOfWork, taskIds: string[]): Promise<void> {
    await tx.run(REMOVE_WORKDIRS({ taskIds, leaseSeconds: this.env.variables.LEASE_SECONDS }));
    const stopped = await tx.run(DELETE({ taskIds }));
    tx.afterCommit(() => this.canceller.nudge(stopped.map(({ id }) => id)));
  }
}
