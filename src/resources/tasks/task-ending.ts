import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { forgetAnswersOfTask } from '../../access/idempotency/stored-answers.js';
import { Env } from '../../platform/config/env.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { Sql } from '../../platform/database/sql.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Notices } from '../../platform/notices/notices.js';
import { TaskChildren } from './children/task-children.js';
import { lockTask, readTask } from './task-lock.js';
import { CANCEL, DELETE, IS_LAST_TURN, LOCK_OF_USER, LOCK_SOME, REMOVE_WORKDIRS } from './task-end.sql.js';
import { isFinal, type StatusReason } from './task-status.js';
import type { TaskRow } from './task.sql.js';

/** Ends tasks for people: cancels them, and deletes them with all that belongs to them (reference §5). */
@Injectable()
export class TaskEnding {
  constructor(
    private readonly notices: Notices,
    private readonly env: Env,
    private readonly children: TaskChildren,
  ) {}

  /**
   * Cancels at once: the worker is fenced off by the epoch, and nudged after the commit so that its processes end.
   * @param turn the only one that is meant: a later one goes on.
   */
  async cancel(auth: AuthContext, tx: UnitOfWork, id: string, turn?: number): Promise<TaskRow> {
    const task = await lockTask(auth, tx, id);
    if (turn !== undefined && (await tx.run(IS_LAST_TURN({ taskId: task.id, turn }))).length === 0) {
      throw new ApiError('task_not_cancellable', `Turn ${turn} of the task is over.`);
    }
    if (task.status === 'completed' || task.status === 'failed') {
      throw new ApiError(
        'task_not_cancellable',
        `The task is ${task.status} already; only unfinished ones can be cancelled.`,
      );
    }
    if (task.status !== 'cancelled') {
      // Without a name: names are forgotten with the account, and this text is not.
      const below = await this.children.lockBelow(tx, [task]);
      const taskIds = [task.id, ...below.flatMap(({ id, isFinal }) => (isFinal ? [] : [id]))];
      await this.cancelLocked(tx, taskIds, 'Cancelled on request.', auth.userId);
      tx.afterCommit(() => this.notices.send({ tasks: taskIds, workspace: auth.workspaceId }));
    }
    return readTask(tx, task.id);
  }

  /** Cancels tasks that are under way; the caller holds their locks. `message` says why, `by` is the user whose doing it is. */
  async cancelLocked(tx: UnitOfWork, taskIds: string[], message: string, by: string): Promise<void> {
    const stopped = await this.stop(tx, taskIds, { code: 'cancelled', message, retryable: false }, by);
    tx.afterCommit(() => this.tell(stopped));
  }

  /** Cancels what a removed member has under way. */
  async cancelOfUser(tx: UnitOfWork, workspaceId: string, userId: string): Promise<void> {
    const locked = await tx.run(LOCK_OF_USER({ workspaceId, userId }));
    // Also what one of them has made while this waited for it.
    const below = await this.children.lockBelow(tx, locked);
    const open = [...locked.filter(({ status }) => !isFinal(status)), ...below.filter((task) => !task.isFinal)];
    if (open.length === 0) return;
    const taskIds = [...new Set(open.map(({ id }) => id))];
    const reason = { code: 'owner_removed', message: 'Its creator was removed from the workspace.', retryable: false };
    const stopped = await this.stop(tx, taskIds, reason, null);
    tx.afterCommit(() => this.tell(stopped));
    tx.afterCommit(() => this.notices.send({ tasks: taskIds, workspace: workspaceId }));
  }

  /** Its work is stopped after the commit, its workdir goes as soon as nobody works in it. Throws 404 and 403. */
  async remove(auth: AuthContext, tx: UnitOfWork, taskId: string): Promise<void> {
    const task = await lockTask(auth, tx, taskId);
    auth.requireOwnership(task.createdById, 'task');
    const below = await this.children.lockBelow(tx, [task]);
    const taskIds = [task.id, ...below.map(({ id }) => id)];
    for (const id of taskIds) await forgetAnswersOfTask(tx, auth.workspaceId, id);
    await this.removeLocked(tx, taskIds);
    tx.afterCommit(() => this.notices.send({ tasks: taskIds, workspace: auth.workspaceId }));
  }

  /** Deletes some of the tasks of a workspace that is being deleted with all stored answers. Resolves with their number. */
  async removeSome(tx: UnitOfWork, workspaceId: string, which: keyof typeof LOCK_SOME): Promise<number> {
    const tasks = await tx.run(LOCK_SOME[which]({ workspaceId }));
    const below = await this.children.lockBelow(tx, tasks);
    const taskIds = [...new Set([...tasks, ...below].map(({ id }) => id))];
    if (taskIds.length > 0) await this.removeLocked(tx, taskIds);
    return taskIds.length;
  }

  private async removeLocked(tx: UnitOfWork, taskIds: string[]): Promise<void> {
    await tx.run(REMOVE_WORKDIRS({ taskIds, leaseSeconds: this.env.variables.LEASE_SECONDS }));
    const stopped = await tx.run(DELETE({ taskIds }));
    tx.afterCommit(() => this.tell(stopped.map(({ id }) => id)));
  }

  /** The caller holds the tasks' locks. Resolves with the ids of the runs that were open. */
  private async stop(tx: Sql, taskIds: string[], reason: StatusReason, by: string | null): Promise<string[]> {
    const runs = await tx.run(CANCEL({ taskIds, reason, by }));
    return runs.map(({ runId }) => runId);
  }

  /** Tells the workers, after the commit, that these runs are theirs no more. */
  private tell(runIds: string[]): void {
    if (runIds.length > 0) this.notices.send({ stop: runIds });
  }
}
