import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError } from '../../platform/http/api-error.js';
import { Notices, RUNS } from '../../platform/notices/notices.js';
import { momentOf } from '../../platform/text/instant.js';
import { lockTask, readTask } from './task-lock.js';
import type { PauseTaskDto } from './task-pause.dto.js';
import { PAUSE, RESUME, type Resumed, WAKE, WAKE_AFTER_BUILD } from './task-pause.sql.js';
import type { LockedTask, TaskRow } from './task.sql.js';
import { isFinal, type StatusReason } from './task-status.js';

const PAUSED: StatusReason = { code: 'paused', message: 'Paused on request.', retryable: true };
/** Tasks that a look resumes at most: those of one moment come to the queue one batch after the other. */
const TOGETHER = 50;
/** Milliseconds. On a connection that was cut without a word the recovery of runs would wait behind this. */
const LIMIT_MS = 5_000;

/** Pauses and resumes tasks (reference §5, docs/decisions/0090). */
@Injectable()
export class TaskPause {
  constructor(
    private readonly database: Database,
    private readonly notices: Notices,
  ) {}

  /**
   * Nobody claims the task from here on. A worker that has it is told after the commit, and stops after its call. Throws 400 for a
   * time that does not lie ahead, 404, and 409 for a final task. Pausing again sets the time anew.
   */
  async pause(auth: AuthContext, tx: UnitOfWork, id: string, input: PauseTaskDto): Promise<TaskRow> {
    const resumeAt = aheadOf(Date.now(), input.resumeAt ?? null);
    const task = await this.lock(auth, tx, id);
    const [paused] = await tx.run(PAUSE({ taskId: task.id, resumeAt, reason: PAUSED }));
    if (paused !== undefined) {
      const pause = paused.runId === null ? {} : { pause: [paused.runId] };
      tx.afterCommit(() => this.notices.send({ tasks: [task.id], workspace: auth.workspaceId, ...pause }));
    }
    return readTask(tx, task.id);
  }

  /** Throws 404, and 409 for a final task. Resuming a task that is not paused changes nothing. */
  async resume(auth: AuthContext, tx: UnitOfWork, id: string): Promise<TaskRow> {
    const task = await this.lock(auth, tx, id);
    const [resumed] = await tx.run(RESUME({ taskId: task.id }));
    if (resumed !== undefined) tx.afterCommit(() => this.tell(resumed));
    return readTask(tx, task.id);
  }

  /** Resumes tasks whose time has come, a batch of them. */
  async wake(): Promise<void> {
    for (const woken of await this.database.polling.run(WAKE({ limit: TOGETHER }), LIMIT_MS)) this.tell(woken);
  }

  /**
   * Resumes all tasks that wait for a build which has ended. One that somebody has locked, or that no worker could tell, looks for itself within
   * 20 seconds.
   */
  async wakeAfterBuild(buildId: string): Promise<void> {
    for (let woken = TOGETHER; woken === TOGETHER;) {
      const rows = await this.database.polling.run(WAKE_AFTER_BUILD({ buildId, limit: TOGETHER }), LIMIT_MS);
      for (const one of rows) this.tell(one);
      woken = rows.length;
    }
  }

  private async lock(auth: AuthContext, tx: UnitOfWork, id: string): Promise<LockedTask> {
    const task = await lockTask(auth, tx, id);
    if (!isFinal(task.status)) return task;
    throw new ApiError(
      'task_not_pausable',
      `The task is ${task.status}: only one under way can be paused or resumed. A message sets it going again.`,
    );
  }

  private tell({ taskId, workspaceId, runId }: Resumed): void {
    const work = runId === null ? {} : { work: { kind: RUNS, id: runId } };
    this.notices.send({ tasks: [taskId], workspace: workspaceId, ...work });
  }
}

/** The time that is given, if any. */
function aheadOf(now: number, given: string | null): Date | null {
  const at = given === null ? null : momentOf(given);
  if (at === null || at.getTime() > now) return at;
  throw new ApiError('invalid_field', 'resumeAt must lie ahead.', { param: 'resumeAt' });
}
