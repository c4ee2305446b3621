import { Injectable, Logger } from '@nestjs/common';
import { FolderRemoval } from '../../access/workspaces/folder-removal.entity.js';
import { Chore } from '../../platform/chores/chore.js';
import { columns } from '../../platform/database/columns.js';
import { Database } from '../../platform/database/database.js';
import { sql, uuid } from '../../platform/database/sql.js';
import { RepositoryStore } from '../../engine/repositories/repository-store.js';
import { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';

const ID = columns(FolderRemoval, 'f', ['id']);

/**
 * Takes one workdir that is due. One at a time: those behind it stay due, for this worker and the others, whatever becomes of
 * it. Large folders take their time; a worker that is killed meanwhile leaves them to the next one, after 600 seconds.
 */
const TAKE = sql`
UPDATE folder_removals f SET not_before = clock_timestamp() + interval '600 seconds'
WHERE f.kind = 'workdir' AND f.id = (
  SELECT id FROM folder_removals WHERE kind = 'workdir' AND not_before <= clock_timestamp()
  ORDER BY not_before LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING ${ID}`.rows<typeof ID.row>();
const REMOVED = sql`DELETE FROM folder_removals WHERE kind = 'workdir' AND id = ${uuid('id')}`.rows();
const TASK = sql`SELECT 1 FROM tasks WHERE id = ${uuid('taskId')}`.rows<object>();

/**
 * What tasks have on the disk: their workdirs, and what is kept of their repositories outside of them. Those of deleted tasks are removed: that
 * is on record since the deletion, so a kill at any moment only delays it.
 */
@Injectable()
export class TaskFolders {
  private readonly logger = new Logger(TaskFolders.name);

  constructor(
    private readonly database: Database,
    private readonly sandboxes: SandboxSelector,
    private readonly repositories: RepositoryStore,
  ) {}

  /** Bytes that a task has; null when it cannot be measured. */
  async measure(taskId: string): Promise<number | null> {
    try {
      return await this.withRepository(taskId, await this.sandboxes.current.workdirBytes(taskId));
    } catch (error) {
      this.logger.warn(`The workdir of task ${taskId} was not measured: ${String(error)}`);
      return null;
    }
  }

  /** A workdir that was measured counts with what is kept of the repository. */
  async withRepository(taskId: string, workdirBytes: number | null): Promise<number | null> {
    return workdirBytes === null ? null : workdirBytes + (await this.repositories.bytes(taskId));
  }

  /** Removes those in which nobody can be working any more. On its own, because claims must not wait for a large folder. */
  @Chore({ every: 1000 })
  async removeDue(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const [due] = await this.database.work.run(TAKE());
      if (due === undefined) return;
      if (!(await this.removed(due.id))) continue;
      await this.database.work.run(REMOVED({ id: due.id }));
    }
  }

  /** One that cannot be removed keeps its record, and is tried again later. */
  private async removed(id: string): Promise<boolean> {
    try {
      await this.remove(id);
      return true;
    } catch (error) {
      this.logger.warn(`The workdir of the deleted task ${id} was not removed: ${String(error)}`);
      return false;
    }
  }

  /**
   * For the worker that was working on a task and has stopped: removes the workdir when the task is gone. It may have made
   * the folder anew after others removed it. The record stays, for a second worker that may have been there before it.
   */
  async removeIfGone(taskId: string): Promise<void> {
    const found = await this.database.work.run(TASK({ taskId }));
    if (found.length === 0) await this.remove(taskId);
  }

  private async remove(taskId: string): Promise<void> {
    await this.sandboxes.current.remove(taskId);
    await this.repositories.remove(taskId);
  }
}
