import { existsSync } from 'node:fs';
import { Injectable, Logger } from '@nestjs/common';
import { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';
import { capture, type Roots, TooManyFilesError } from '../../engine/snapshots/snapshots.js';
import { Env } from '../../platform/config/env.js';
import { Database } from '../../platform/database/database.js';
import { newId } from '../../platform/database/ids.js';
import { retryWhileUnavailable } from '../../platform/database/retry-while-unavailable.js';
import { exhaustedText, StorageQuota } from '../../resources/files/storage-quota.js';
import { BytesGoneError } from '../../resources/files/storage/storage-driver.js';
import { SnapshotStore } from '../../resources/snapshots/snapshot-store.js';
import { Machine } from '../machines/machine.js';
import { type ActiveRun, FencedError, idsOf } from './claimed-run.js';
import { FencedWrites } from './fenced-writes.js';
import { MidwaySnapshots } from './midway-snapshots.js';
import { TOLD } from './run-push.sql.js';
import { CANCELLED_HERE, NEWEST_ALONE, PREVIOUS, SAME, STILL_ABOVE, TAKEN } from './run-snapshots.sql.js';
import { SnapshotTurns } from './snapshot-turns.js';

const NONE = 'The folder of this task has no snapshot of this turn';
const LEFT_TOO_MUCH = `${NONE}: those of its workspace have left behind more in a day than it may store. What none names goes a day later.`;
const TOO_MANY_FILES = `${NONE}: one has at most about 500,000 files. Remove some, or pack them into an archive.`;
const FAILED = `${NONE}: taking it failed, and the log of the server says why. The next turn tries again.`;

/** What nobody names is not counted, and is limited all the same. */
class LeftTooMuchError extends Error {}

/** Takes the snapshots of a run: of its end when none of its commands is left, and midway also while some go on and write (reference §22). */
@Injectable()
export class RunSnapshots {
  private readonly logger = new Logger(RunSnapshots.name);

  constructor(
    private readonly sandboxes: SandboxSelector,
    private readonly store: SnapshotStore,
    private readonly turns: SnapshotTurns,
    private readonly database: Database,
    private readonly writes: FencedWrites,
    private readonly quota: StorageQuota,
    private readonly machine: Machine,
    private readonly env: Env,
  ) {}

  /**
   * Resolves with whether the task has folders. Never fails the run: without a snapshot it ends all the same. Throws {@link FencedError}, and
   * the reason of the signal.
   */
  async take(held: ActiveRun): Promise<boolean> {
    // What lies here is older than the folders that another machine has.
    if (this.machine.lacks(held.run)) return true;
    const roots = await this.roots(held.run.taskId);
    if (roots === null) return false;
    const error = await this.attempt(held, roots, 'held');
    if (error instanceof TooManyFilesError) await this.tell(held, { code: 'too_many_files', message: TOO_MANY_FILES });
    else if (error instanceof LeftTooMuchError)
      await this.tell(held, { code: 'left_too_much', message: LEFT_TOO_MUCH });
    else if (error !== null) await this.tell(held, { code: 'snapshot_failed', message: FAILED });
    return true;
  }

  /** Of a run that was cancelled and worked here, unless something has begun since. Never rejects. */
  async takeOfCancelled(held: ActiveRun): Promise<void> {
    const { run } = held;
    try {
      const roots = this.machine.lacks(run) ? null : await this.roots(run.taskId);
      if (roots === null || (await this.database.work.run(CANCELLED_HERE({ run }))).length === 0) return;
      await this.attempt(held, roots, 'cancelled');
    } catch (error) {
      this.logger.warn({ ...idsOf(run), msg: `The cancelled run ${run.runId} has no snapshot: ${String(error)}` });
    }
  }

  /** Those of a run that goes on. With one machine it asks nothing and takes none. */
  midway(held: ActiveRun): MidwaySnapshots {
    const take = async () => {
      const roots = await this.roots(held.run.taskId);
      return roots === null || (await this.attempt(held, roots, 'held')) === null;
    };
    return new MidwaySnapshots(take, () => this.machine.several, this.env.variables.SNAPSHOT_SECONDS * 1000);
  }

  /**
   * The folders on this host; null when there are none, as of most chats. Without its workdir a task has none: what lies beside one that was not
   * restored would be all that its next run finds.
   */
  private async roots(taskId: string): Promise<Roots | null> {
    const roots = await this.sandboxes.current.folders(taskId);
    return roots !== null && existsSync(roots['workdir'] ?? '') ? roots : null;
  }

  /** Why there is none; null when it was taken. */
  private async attempt(held: ActiveRun, roots: Roots, of: 'held' | 'cancelled'): Promise<unknown> {
    const { run, signal } = held;
    try {
      const take = () => this.turns.take(held, (within) => this.taken({ run, signal: within }, roots, of));
      // A database that is away for a moment is no reason to tell people that there is none: all of it is done again.
      await retryWhileUnavailable(take, signal);
      return null;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof FencedError) throw error;
      const msg = `The folder of task ${run.taskId} has no snapshot of this run: ${String(error)}`;
      this.logger.warn({ ...idsOf(run), msg });
      return error;
    }
  }

  private async taken(held: ActiveRun, roots: Roots, of: 'held' | 'cancelled'): Promise<void> {
    const { run, signal } = held;
    const { taskId, workspaceId } = run;
    const [found] = await this.database.work.run(PREVIOUS({ taskId, workspaceId, limits: this.quota.limits }));
    if (found?.leftTooMuch === true)
      throw new LeftTooMuchError('The snapshots of its workspace have left too much behind.');
    const previous = found?.previous ?? null;
    const store = this.store.of(run.workspaceId, signal);
    const captured = await capture(roots, previous, store, signal).catch((error: unknown) => {
      // The folder is here: it is read anew, as if there had been none before.
      if (previous === null || !(error instanceof BytesGoneError)) throw error;
      return capture(roots, null, store, signal);
    });
    if (captured === null) return;
    const { made, manifest, walk } = captured;
    const id = newId();
    // Without a row the next write tells that the run is another's.
    if (made === null) {
      if (previous !== null) await this.writes.tried(held, SAME[of]({ run, id, previous: previous.id }));
      return;
    }
    const objects = [...new Set([...made.objects, manifest])];
    const about = { run, id, files: made.files, bytes: made.bytes, manifest, walk, objects, limits: this.quota.limits };
    const written = await this.writes.tried(held, TAKEN[of](about));
    if (written?.above != null && of === 'held') await this.keepNewest(held, id);
  }

  /**
   * What is stored already is stored: when the workspace is above its limit, the snapshots before this one go, and people are told. What the one of
   * the same turn took is free since.
   */
  private async keepNewest(held: ActiveRun, id: string): Promise<void> {
    const { workspaceId } = held.run;
    const [found] = await this.database.work.run(STILL_ABOVE({ workspaceId, limits: this.quota.limits }));
    if (found?.above == null) return;
    await this.writes.tried(held, NEWEST_ALONE({ run: held.run, id }));
    const message = `${exhaustedText(found.above)}. Of the folder of this task only the newest snapshot is kept.`;
    await this.tell(held, { code: 'storage_exhausted', message });
  }

  private async tell(held: ActiveRun, data: { code: string; message: string }): Promise<void> {
    const parts = [{ type: 'data' as const, name: 'snapshots', id: newId(), data }];
    await this.writes.fenced(held, TOLD({ run: held.run, messageId: newId(), parts }));
  }
}
