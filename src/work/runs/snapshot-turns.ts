import { Injectable } from '@nestjs/common';
import { restore, type Roots } from '../../engine/snapshots/snapshots.js';
import { DiskSpace } from '../../platform/disk/disk-space.js';
import { SNAPSHOTS } from '../../platform/fairness/shares.js';
import { WorkspaceSemaphore } from '../../platform/fairness/workspace-semaphore.js';
import { SnapshotStore } from '../../resources/snapshots/snapshot-store.js';
import type { ActiveRun } from './claimed-run.js';

/** The longest time for one snapshot, and for its restoring. Milliseconds. */
const LONGEST_MS = 10 * 60_000;

/** For whom, and what ends the wait and the work. */
export interface Turn {
  run: Pick<ActiveRun['run'], 'workspaceId'>;
  signal: AbortSignal;
}

/** Whose turn it is to read or write a folder: each is a program with memory of its own. */
@Injectable()
export class SnapshotTurns {
  private readonly turns = new WorkspaceSemaphore(SNAPSHOTS);

  constructor(
    private readonly store: SnapshotStore,
    private readonly space: DiskSpace,
  ) {}

  /** @param work is given a signal that ends it after ten minutes, and with the run. */
  async take({ run, signal }: Turn, work: (within: AbortSignal) => Promise<void>): Promise<void> {
    const release = await this.turns.acquire(run.workspaceId, signal);
    try {
      await work(AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]));
    } finally {
      release();
    }
  }

  /**
   * Fills empty folders from a snapshot of the workspace, in a turn that the caller has. It ends where the disk is nearly full.
   * @param owner whose the files are to be; null: those of the user of the process.
   */
  async restore(
    workspaceId: string,
    manifest: string,
    roots: Roots,
    owner: number | null,
    within: AbortSignal,
  ): Promise<void> {
    const full = new AbortController();
    const look = () => this.space.state === 'critical' && full.abort(new Error('The disk is nearly full.'));
    this.space.listen(look);
    try {
      const signal = AbortSignal.any([within, full.signal]);
      await restore(roots, manifest, this.store.of(workspaceId, signal), owner, signal);
    } finally {
      this.space.unlisten(look);
    }
  }
}
