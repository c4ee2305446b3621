import { Injectable } from '@nestjs/common';
import { SandboxSelector } from '../../engine/sandbox/sandbox-selector.js';
import { capture } from '../../engine/snapshots/snapshots.js';
import { Database } from '../../platform/database/database.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { exhaustedText, StorageQuota } from '../../resources/files/storage-quota.js';
import { SnapshotStore } from '../../resources/snapshots/snapshot-store.js';
import { SnapshotTurns, type Turn } from '../runs/snapshot-turns.js';
import { BuildError } from './build-maker.js';
import { ABOVE_WITH, type BuildToMake, READY, REPLACE } from './builds.sql.js';
import { type BuiltFolders, moveFolders, PreparedFolders } from './prepared-folders.js';

/** Of PostgreSQL. */
const UNIQUE_VIOLATION = '23505';

/** A build whose folders are made. */
interface Made {
  build: BuildToMake;
  key: string;
  driver: string;
  log: string;
  fence: { buildId: string; jobId: string; attempt: number };
}

/** A build that tasks begin from. */
export interface ReadyBuild {
  id: string;
  manifest: string;
  /** The sum of the sizes of its files. */
  bytes: number;
}

/** Keeps builds: as snapshots in the storage, which all machines read, and as folders on this one, which are there at once. */
@Injectable()
export class BuildStore {
  /** Builds that are being brought to this machine. */
  private readonly coming = new Map<string, Promise<void>>();

  constructor(
    private readonly sandboxes: SandboxSelector,
    private readonly snapshots: SnapshotStore,
    private readonly turns: SnapshotTurns,
    private readonly prepared: PreparedFolders,
    private readonly quota: StorageQuota,
    private readonly database: Database,
    private readonly transactions: Transactions,
    private readonly metrics: Metrics,
  ) {}

  /** Stores the folders of a build; it is ready then. Rejects with {@link BuildError} when the workspace has no room for it. */
  async keep({ build, key, driver, log, fence }: Made, signal: AbortSignal): Promise<void> {
    const folders = await this.sandboxes.current.folders(build.id);
    if (folders === null) throw new BuildError('The sandbox of this service keeps no folders, so it has no builds.');
    const { workdir = '', home = '' } = folders;
    const { workspaceId } = build;
    await this.turns.take({ run: { workspaceId }, signal }, async (within) => {
      const captured = await capture({ workdir, home }, null, this.snapshots.of(workspaceId, within), within);
      if (captured?.made == null) throw new BuildError('The setup has removed its own folder.');
      const { made, manifest } = captured;
      const objects = [...new Set([...made.objects, manifest])];
      const [found] = await this.database.work.run(ABOVE_WITH({ workspaceId, objects, limits: this.quota.limits }));
      if (found?.above != null) throw new BuildError(`${exhaustedText(found.above)} when this build counts.`);
      const { environmentId, version } = build;
      const about = { ...fence, key, driver, log, manifest, files: made.files, bytes: made.bytes, objects };
      await this.ready(about, { environmentId, version, key, driver, buildId: build.id });
      if (await this.prepared.hasRoomFor(made.bytes))
        await this.prepared.keep(build.id, (to) => Promise.resolve(moveFolders({ workdir, home }, to)));
    });
  }

  /**
   * Fills the empty folders of a task. They come from a spare copy on this machine, from a copy that is made now, or from the storage: then the build
   * stays here for the next task, where there is room.
   */
  async fill(held: Turn, build: ReadyBuild, to: BuiltFolders, owner: number | null): Promise<void> {
    const { signal } = held;
    if (!(await this.prepared.has(build.id)) && (await this.prepared.hasRoomFor(build.bytes)))
      await this.bring(held, build);
    if (await this.prepared.takeSpare(build.id, to, owner, signal)) return this.begun('spare');
    await this.turns.take(held, async (within) => {
      // What others have made meanwhile is quicker.
      if (await this.prepared.takeSpare(build.id, to, owner, within)) return this.begun('spare');
      if (await this.prepared.copy(build.id, to, owner, within)) return this.begun('copy');
      await this.turns.restore(held.run.workspaceId, build.manifest, { ...to }, owner, within);
      this.begun('storage');
    });
  }

  /** Of several tasks of this process that want it at once one restores it. */
  private async bring(held: Turn, { id, manifest }: ReadyBuild): Promise<void> {
    const coming = this.coming.get(id);
    // When another task's run ends meanwhile, this one is restored from the storage.
    if (coming !== undefined) return coming.catch(() => held.signal.throwIfAborted());
    const made = this.prepared.keep(id, (to) =>
      this.turns.take(held, (within) => this.turns.restore(held.run.workspaceId, manifest, { ...to }, null, within)),
    );
    this.coming.set(id, made);
    await made.finally(() => this.coming.delete(id));
  }

  private begun(way: 'spare' | 'copy' | 'storage'): void {
    this.metrics.environmentStarts.inc({ way });
  }

  /** A build of the same key may begin between the two statements: the second time they see it. */
  private async ready(about: Parameters<typeof READY>[0], old: Parameters<typeof REPLACE>[0]): Promise<void> {
    const write = () =>
      this.transactions.open(async (tx) => {
        await tx.run(REPLACE(old));
        const rows = await tx.run(READY(about));
        if (rows.length === 0) throw new Error(`Build ${old.buildId} is made by another attempt.`);
      });
    await write().catch((error: unknown) => {
      if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
      return write();
    });
  }
}
