import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../../access/auth/auth-context.js';
import type { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { newId } from '../../../platform/database/ids.js';
import { ApiError } from '../../../platform/http/api-error.js';
import { Notices, RUNS } from '../../../platform/notices/notices.js';
import { lockTask, readTask } from '../task-lock.js';
import type { TaskRow } from '../task.sql.js';
import { isFinal } from '../task-status.js';
import { AGAIN } from './task-checks.sql.js';

/** Runs the checks of a task once more, without its agent (reference §26). No model is called, so nothing is billed. */
@Injectable()
export class ChecksAgain {
  constructor(private readonly notices: Notices) {}

  /** Throws 404, and 409 for a task that is not final, has no checks, or has never begun. */
  async run(auth: AuthContext, tx: UnitOfWork, taskId: string): Promise<TaskRow> {
    const { id, status } = await lockTask(auth, tx, taskId);
    if (!isFinal(status)) {
      throw new ApiError('task_not_final', `The task is ${status}: its checks run when its turn would be completed.`);
    }
    const runId = newId();
    const [begun] = await tx.run(AGAIN({ taskId: id, runId, traceparent: tx.traceparent }));
    if (begun === undefined) throw new ApiError('no_checks', 'The task has no checks, or no turn of it has begun.');
    const notice = { tasks: [id], workspace: auth.workspaceId, work: { kind: RUNS, id: runId } };
    tx.afterCommit(() => this.notices.send(notice));
    return readTask(tx, id);
  }
}
