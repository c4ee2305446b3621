import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { Database } from '../../platform/database/database.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ApiError } from '../../platform/http/api-error.js';
import { Notices, RUNS } from '../../platform/notices/notices.js';
import { momentOf } from '../../platform/text/instant.js';
import { TaskChildren } from './children/task-children.js';
import { lockTask, readTask } from './task-lock.js';
import type { PauseTaskDto } from './task-pause.dto.js';
import {
  PAUSE,
  PAUSE_BELOW,
  PAUSED,
  RESUME,
  RESUME_BELOW,
  type Resumed,
  WAKE,
  WAKE_AFTER_BUILD,
} from './task-pause.sql.js';
import type { LockedTask, TaskRow } from './task.sql.js';
import { isFinal } from './task-status.js';

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
    private readonly children: TaskChildren,
  ) {}

  /**
   * Nobody claims the task from here on. A worker that has it is told after the commit, and stops after its call. Throws 400 for a
   * time that does not lie ahead, 404, and 409 for a final task. Pausing again sets the time anew.
   */
  async pause(auth: AuthContext, tx: UnitOfWork, id: string, input: PauseTaskDto): Promise<TaskRow> {
    const resumeAt = aheadOf(Date.now(), input.resumeAt ?? null);
    const task = await this.lock(auth, tx, id);
    const below = await this.openBelow(tx, task);
    const together = below.length === 0 ? [] : await tx.run(PAUSE_BELOW({ taskIds: below, resumeAt, reason: PAUSED }));
    if (together.length > 0) {
      const stop = together.flatMap(({ runId }) => runId ?? []);
      const tasks = together.map(({ taskId }) => taskId);
      tx.afterCommit(() => this.notices.send({ tasks, ...(stop.length === 0 ? {} : { pause: stop }) }));
    }
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
    const below = await this.openBelow(tx, task);
    const together = below.length === 0 ? [] : await tx.run(RESUME_BELOW({ taskIds: below }));
    tx.afterCommit(() => {
      for (const one of together) this.tell(one);
    });
    const [resumed] = await tx.run(RESUME({ taskId: task.id }));
    if (resumed !== undefined) tx.afterCommit(() => this.tell(resumed));
    return readTask(tx, task.id);
  }

  /** Resumes tasks whose time has come, a batch of them. */
  async wake(): Promise<void> {
    const resumed = await this.database.polling.run(WAKE({ limit: TOGETHER }), LIMIT_MS);
    for (const one of resumed) this.tell(one);
    // A request that resumes has locked what is below, so that nothing of it ends meanwhile; this has not.
    await this.children.wakeResumed(resumed);
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

  /** The tasks below it that are under way; they are locked. */
  private async openBelow(tx: UnitOfWork, task: LockedTask): Promise<string[]> {
    const below = await this.children.lockBelow(tx, [task]);
    return below.flatMap(({ id, isFinal }) => (isFinal ? [] : [id]));
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
