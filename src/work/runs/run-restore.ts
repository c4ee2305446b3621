import { Injectable, Logger } from '@nestjs/common';
import type { AgentOutcome } from '../../engine/agent/agent-engine.js';
import { aboveStorage } from '../../engine/agent/turn-outcomes.js';
import type { ConversationMessage } from '../../engine/models/conversation.js';
import { SandboxBusyError } from '../../engine/sandbox/sandbox.js';
import { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';
import type { Roots } from '../../engine/snapshots/snapshots.js';
import { Database } from '../../platform/database/database.js';
import { isPassing } from '../../platform/database/database-errors.js';
import { newId } from '../../platform/database/ids.js';
import { Machine } from '../machines/machine.js';
import { type ActiveRun, type ClaimedRun, FencedError, idsOf } from './claimed-run.js';
import { BuildStore, type ReadyBuild } from '../environments/build-store.js';
import { FencedWrites } from './fenced-writes.js';
import { partsOfLoss, readLoss } from './lost-work.js';
import { TRACELESS } from '../../engine/agent/tools/traceless.js';
import { HERE, HERE_WITH_LOSS, type LostCall, LOST } from './run-snapshots.sql.js';
import { SnapshotTurns } from './snapshot-turns.js';

const NOT_RESTORED: AgentOutcome = {
  type: 'failed',
  code: 'sandbox_unavailable',
  message: 'The folder of this task could not be restored from its snapshot; the log of the server says why.',
  retryable: true,
};

/** A folder that does not count to what the workspace stores is not made while that is above its limit. */
class NoRoomError extends Error {}

/** How a run begins: with a further message of what is gone, if anything is, or not at all. */
export type Restored = { told: ConversationMessage | null } | { failed: AgentOutcome };

/** Makes the folders of a task where its next run is (reference §22, §23). */
@Injectable()
export class RunRestore {
  private readonly logger = new Logger(RunRestore.name);

  constructor(
    private readonly sandboxes: SandboxSelector,
    private readonly turns: SnapshotTurns,
    private readonly database: Database,
    private readonly writes: FencedWrites,
    private readonly machine: Machine,
    private readonly builds: BuildStore,
  ) {}

  /**
   * Makes the folders of the task as its last snapshot has them, or without one as a build has them, when they are not on this machine. What lies here from before the task went to
   * another machine goes first; this machine has the folders when they are restored, not before. Where they are older than
   * the history, the task is told what is gone. Throws the reason of the signal.
   * @param manifest of the last snapshot; null: there is none.
   * @param build that they begin as; null: as none.
   * @param noRoom why the workspace has no room for a folder that is missing; null: it has, or the folder counts already.
   */
  async restore(
    held: ActiveRun,
    manifest: string | null,
    build: ReadyBuild | null,
    noRoom: string | null,
  ): Promise<Restored> {
    const { run, signal } = held;
    const moves = this.machine.lacks(run);
    try {
      // A folder that the task left here when it moved is older than its history. A sandbox whose folders lie on no machine keeps them.
      if (moves && (await this.sandboxes.current.folders(run.taskId)) !== null)
        await this.sandboxes.current.remove(run.taskId);
      if (manifest !== null || build !== null)
        await this.sandboxes.current.restore(run.taskId, (roots, owner) => {
          if (noRoom !== null) return Promise.reject(new NoRoomError(noRoom));
          if (manifest !== null) return this.fill(held, manifest, roots, owner);
          const { workdir = '', home = '' } = roots;
          return build === null ? Promise.resolve() : this.builds.fill(held, build, { workdir, home }, owner);
        });
      return { told: moves ? await this.moved(held) : null };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NoRoomError) return { failed: aboveStorage(error.message) };
      if (error instanceof SandboxBusyError || error instanceof FencedError || isPassing(error)) throw error;
      this.logger.error({ ...idsOf(run), msg: `The folder of task ${run.taskId} was not restored: ${String(error)}` });
      return { failed: NOT_RESTORED };
    }
  }

  /** The folders are here. Resolves with what the agent is to read of that. */
  private async moved(held: ActiveRun): Promise<ConversationMessage | null> {
    const { run } = held;
    const about = { run, machineId: this.machine.id };
    const [first, ...others] = await this.lost(run);
    const messageId = newId();
    const parts = first === undefined ? null : partsOfLoss([first, ...others]);
    await this.writes.fenced(held, parts === null ? HERE(about) : HERE_WITH_LOSS({ ...about, messageId, parts }));
    run.folderAt = this.machine.id;
    return parts === null ? null : readLoss(messageId, parts);
  }

  /** Folders that lie on no machine are lost with none. */
  private async lost({ taskId }: ClaimedRun): Promise<LostCall[]> {
    if ((await this.sandboxes.current.folders(taskId)) === null) return [];
    return this.database.work.run(LOST({ taskId, traceless: TRACELESS }));
  }

  private fill(held: ActiveRun, manifest: string, roots: Roots, owner: number | null): Promise<void> {
    const { workspaceId } = held.run;
    return this.turns.take(held, (within) => this.turns.restore(workspaceId, manifest, roots, owner, within));
  }
}
