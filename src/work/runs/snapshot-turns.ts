import { Injectable } from '@nestjs/common';
import { SNAPSHOTS } from '../../platform/fairness/shares.js';
import { WorkspaceSemaphore } from '../../platform/fairness/workspace-semaphore.js';
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

  /** @param work is given a signal that ends it after ten minutes, and with the run. */
  async take({ run, signal }: Turn, work: (within: AbortSignal) => Promise<void>): Promise<void> {
    const release = await this.turns.acquire(run.workspaceId, signal);
    try {
      await work(AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]));
    } finally {
      release();
    }
  }
}
