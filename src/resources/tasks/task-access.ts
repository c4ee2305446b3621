import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { lockTask } from './task-lock.js';
import type { LockedTask } from './task.sql.js';
import { TasksService } from './tasks.service.js';

/**
 * What an extension may do with tasks whose rows it refers to: ask whether the caller sees one, and hold one. A statement of
 * its own that reads tasks keeps to what the caller sees by `${visible('t')}`, for `FROM tasks t` (reference §3). The module that
 * injects it imports `TasksModule`.
 */
@Injectable()
export class TaskAccess {
  constructor(private readonly tasks: TasksService) {}

  /** For a route that reads. Throws 404 (`not_found`) unless the caller sees the task, also when the id is none. */
  async check(auth: AuthContext, id: string): Promise<void> {
    await this.tasks.check(auth, id);
  }

  /**
   * For a route that writes: locks the task's row until the commit, and with it everything that moves the task, so its status
   * stays what it is here. Waits for others at most 2 s (then 503), and throws 404 (`not_found`) unless the caller sees
   * the task. Lock the task before any row of your own, or two requests may wait for each other.
   */
  async hold(auth: AuthContext, tx: UnitOfWork, id: string): Promise<LockedTask> {
    return lockTask(auth, tx, id);
  }
}
