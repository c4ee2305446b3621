import { Injectable, Logger } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { Database } from '../../platform/database/database.js';
import { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';

/** Large folders take their time; a worker that is killed meanwhile leaves them to the next one. Seconds. */
const PATIENCE = 600;

// One at a time: those behind it stay due, for this worker and the others, whatever becomes of it.
const TAKE = `
UPDATE folder_removals SET not_before = clock_timestamp() + interval '${PATIENCE} seconds'
WHERE kind = 'workdir' AND id = (
  SELECT id FROM folder_removals WHERE kind = 'workdir' AND not_before <= clock_timestamp()
  ORDER BY not_before LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id`;

/** Removes the workdirs of deleted tasks: on record since the deletion, so a kill at any moment only delays it. */
@Injectable()
export class WorkdirCleaner {
  private readonly logger = new Logger(WorkdirCleaner.name);

  constructor(
    private readonly database: Database,
    private readonly sandboxes: SandboxSelector,
  ) {}

  /** Removes those in which nobody can be working any more. On its own, because claims must not wait for a large folder. */
  @Chore({ every: 1000 })
  async removeDue(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { rows } = await this.database.work.query<{ id: string }>({ name: 'workdir-due', text: TAKE });
      const [due] = rows;
      if (due === undefined) return;
      if (!(await this.removed(due.id))) continue;
      await this.database.work.query(`DELETE FROM folder_removals WHERE kind = 'workdir' AND id = $1`, [due.id]);
    }
  }

  /** One that cannot be removed keeps its record, and is tried again later. */
  private async removed(id: string): Promise<boolean> {
    try {
      await this.sandboxes.current.remove(id);
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
    const { rows } = await this.database.work.query(`SELECT 1 FROM tasks WHERE id = $1`, [taskId]);
    if (rows.length === 0) await this.sandboxes.current.remove(taskId);
  }
}
