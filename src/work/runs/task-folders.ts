import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { FolderRemoval } from '../../access/workspaces/folder-removal.entity.js';
import { Chore } from '../../platform/chores/chore.js';
import { columns } from '../../platform/database/columns.js';
import { Database } from '../../platform/database/database.js';
import { sql, uuid, uuids } from '../../platform/database/sql.js';
import { Transactions } from '../../platform/database/transactions.js';
import { RepositoryStore } from '../../engine/repositories/repository-store.js';
import { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';
import { Machine } from '../machines/machine.js';
import { MACHINE } from '../machines/machines.sql.js';

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

/** Of so many folders the database is asked at once. */
const PAGE = 1000;
/**
 * Whether the folders of the task `t` live on another machine, which has said so itself: it is on record. A running task may be on its way to this one.
 */
const LIVES_ELSEWHERE = sql`(t.status <> 'running' AND t.machine_id <> ${MACHINE}
  AND EXISTS (SELECT FROM workers o WHERE o.machine_id = t.machine_id))`;
/** Makes this machine the one that has the folders of some tasks, where none is on record. */
const TAKE_OVER = sql`
UPDATE tasks t SET machine_id = ${MACHINE}, folder_ahead = true
WHERE t.id = ANY(${uuids('taskIds')}) AND t.machine_id IS NULL AND t.workdir_bytes > 0
  AND NOT EXISTS (SELECT FROM snapshots s WHERE s.task_id = t.id)`.rows();
/** Of the tasks that have folders here, those that are deleted or live elsewhere. What is on record to be removed is removed by that; a build is none of them. */
const NEEDLESS = sql`
SELECT h.id, t.id IS NULL AS deleted FROM unnest(${uuids('taskIds')}) AS h(id) LEFT JOIN tasks t ON t.id = h.id
WHERE CASE WHEN t.id IS NULL THEN NOT EXISTS (SELECT FROM folder_removals f WHERE f.kind = 'workdir' AND f.id = h.id)
    AND NOT EXISTS (SELECT FROM environment_builds b WHERE b.id = h.id AND b.state = 'building')
    AND NOT EXISTS (SELECT FROM environment_trials r WHERE r.id = h.id)
  ELSE ${LIVES_ELSEWHERE} END`.rows<{ id: string; deleted: boolean }>();
/** Holds a task there: no machine can claim a run of it until the transaction ends. */
const HOLD_ELSEWHERE = sql`
SELECT t.id FROM tasks t WHERE t.id = ${uuid('taskId')} AND ${LIVES_ELSEWHERE} FOR UPDATE OF t SKIP LOCKED`.rows<{
  id: string;
}>();

/**
 * What tasks have on the disk: their workdirs, and what is kept of their repositories outside of them. Those of deleted tasks are removed: that
 * is on record since the deletion, so a kill at any moment only delays it. Of several machines one reads that record; each looks for what lies
 * on its own disk for nothing.
 */
@Injectable()
export class TaskFolders implements OnApplicationBootstrap {
  private readonly logger = new Logger(TaskFolders.name);

  constructor(
    private readonly database: Database,
    private readonly sandboxes: SandboxSelector,
    private readonly repositories: RepositoryStore,
    private readonly transactions: Transactions,
    private readonly machine: Machine,
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
      if (!(await this.removed(due.id, () => this.remove(due.id)))) continue;
      await this.database.work.run(REMOVED({ id: due.id }));
    }
  }

  /** Tasks of a version before machines had ids: their folders are here, and none of them has a snapshot. */
  async onApplicationBootstrap(): Promise<void> {
    try {
      for await (const taskIds of this.pages()) {
        await this.database.work.run(TAKE_OVER({ taskIds, machineId: this.machine.id }));
      }
    } catch (error) {
      this.logger.warn(`Not all tasks are on record whose folders are on this machine: ${String(error)}`);
    }
  }

  /** Removes from this machine what lives on another one now, or was deleted while another one read of it. Resolves with how many tasks that were. */
  @Chore({ every: 10 * 60_000 })
  async removeNeedless(signal: AbortSignal): Promise<number> {
    let removed = 0;
    for await (const taskIds of this.pages()) {
      for (const { id, deleted } of await this.database.work.run(NEEDLESS({ taskIds, machineId: this.machine.id }))) {
        if (signal.aborted) return removed;
        if (await this.removed(id, () => (deleted ? this.remove(id) : this.removeIfElsewhere(id)))) removed++;
      }
    }
    return removed;
  }

  /** The tasks that have folders here. */
  private async *pages(): AsyncGenerator<string[], void> {
    const here = await this.sandboxes.current.taskIds();
    for (let from = 0; from < here.length; from += PAGE) yield here.slice(from, from + PAGE);
  }

  /** In hand, so that this machine cannot restore the folders meanwhile: they are out of the way before it may. */
  private async removeIfElsewhere(id: string): Promise<boolean> {
    const remove = await this.transactions.open(async (tx) => {
      const held = await tx.run(HOLD_ELSEWHERE({ taskId: id, machineId: this.machine.id }));
      if (held.length === 0) return null;
      return [await this.repositories.setAside(id), await this.sandboxes.current.setAside(id)];
    });
    for (const one of remove ?? []) await one();
    return remove !== null;
  }

  /** Of one that cannot be removed nothing is forgotten: it is tried again later. */
  private async removed(id: string, remove: () => Promise<unknown>): Promise<boolean> {
    try {
      return (await remove()) !== false;
    } catch (error) {
      this.logger.warn(`The folders of task ${id} were not removed: ${String(error)}`);
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
