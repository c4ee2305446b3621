import { Global, Injectable, Module } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { notFound } from '../../platform/http/api-error.js';
import { type LockedTask, SEEN } from './task.sql.js';
import { lockTask } from './task-lock.js';

/** Which tasks a caller may use (reference §3): for resources that belong to tasks, ours and those of extensions. */
@Injectable()
export class TaskAccess {
  constructor(private readonly database: Database) {}

  /** Throws 404 unless the caller sees the task. For reads: one statement, without a lock. */
  async check(auth: AuthContext, taskId: string): Promise<void> {
    const found = isUuid(taskId) ? await this.database.read.run(SEEN({ auth, id: taskId })) : [];
    if (found.length === 0) throw notFound('task');
  }

  /**
   * For writes: as {@link check}, and nobody else changes, moves or deletes the task until the transaction ends.
   * It waits for others at most 2 s (then 503). Locks are taken in the order project, task, run, and then your own rows.
   */
  hold(auth: AuthContext, tx: UnitOfWork, taskId: string): Promise<LockedTask> {
    return lockTask(auth, tx, taskId);
  }
}

/** Global, so that an extension injects {@link TaskAccess} without a module of ours. */
@Global()
@Module({ providers: [TaskAccess], exports: [TaskAccess] })
export class TaskAccessModule {}
