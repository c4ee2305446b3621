import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import type { Sql } from '../../../platform/database/sql.js';
import { Notices, RUNS } from '../../../platform/notices/notices.js';
import { isFinal } from '../task-status.js';
import { FORGOTTEN, LOCK_BELOW, RELEASE, RELEASE_OVERDUE, WAKE } from './children.sql.js';

/** Tasks that a look wakes at most. */
const TOGETHER = 50;
/** Milliseconds. On a connection that was cut without a word what comes after it would wait. */
const LIMIT_MS = 5_000;

/** A task that others are below of. */
interface Above {
  id: string;
  children: number;
}

/** The tasks below a task, and how it goes on without them (reference §27). */
@Injectable()
export class TaskChildren {
  constructor(
    private readonly database: Database,
    private readonly notices: Notices,
  ) {}

  /**
   * Locks what these tasks have made, and what that has made; the caller holds the locks of these. Asks nothing about tasks that have made none. Parents
   * come before children, as their ids do, so that everybody locks in one order.
   */
  async lockBelow(tx: Sql, tasks: readonly Above[]): Promise<{ id: string; isFinal: boolean }[]> {
    const taskIds = tasks.filter(({ children }) => children > 0).map(({ id }) => id);
    if (taskIds.length === 0) return [];
    let found = await tx.run(LOCK_BELOW({ taskIds }));
    // What one of them has made while this waited for it; from here on none makes any.
    if (found.some(({ children }) => children > 0)) found = await tx.run(LOCK_BELOW({ taskIds }));
    return found.map(({ id, status }) => ({ id, isFinal: isFinal(status) }));
  }

  /** Lets tasks go on whose last ones have ended at the moment at which their pause was over: each transaction has seen what was before the other. */
  async wakeResumed(resumed: readonly { taskId: string; workspaceId: string; runId: string | null }[]): Promise<void> {
    for (const { taskId, workspaceId, runId } of resumed) {
      if (runId !== null) continue;
      const [woken] = await this.database.polling.run(WAKE({ parentId: taskId }), LIMIT_MS);
      this.tell(taskId, workspaceId, woken?.runId ?? null);
    }
  }

  /** The parent goes on at once, with what there is; the caller holds its lock. Resolves with the run that waits for a worker now, if any. */
  async release(tx: Sql, parentId: string): Promise<string | null> {
    await tx.run(RELEASE({ parentId }));
    const [woken] = await tx.run(WAKE({ parentId }));
    return woken?.runId ?? null;
  }

  /** Lets tasks go on that have waited as long as their turns may last, and those that nobody has woken, a batch of them. */
  async wake(): Promise<void> {
    const { polling } = this.database;
    await polling.run(RELEASE_OVERDUE(), LIMIT_MS);
    const forgotten = await polling.run(FORGOTTEN({ limit: TOGETHER }), LIMIT_MS);
    for (const { id, workspaceId, runId } of forgotten) this.tell(id, workspaceId, runId);
  }

  private tell(taskId: string, workspace: string, runId: string | null): void {
    if (runId !== null) this.notices.send({ tasks: [taskId], workspace, work: { kind: RUNS, id: runId } });
  }
}
