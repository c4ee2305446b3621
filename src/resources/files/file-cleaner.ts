import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Database } from '../../platform/database/database.js';
import { BATCH, DELETE_EXPIRED, END_REMOVAL, TAKE_REMOVAL, UNUSED } from './file-cleaner.sql.js';
import { LocalStorage } from './storage/local-storage.js';
import { type Bytes, deleteBytes, deleteLeftOvers, idleBytes } from './storage/unused-bytes.js';

const MINUTE = 60_000;
/** Bytes are stored before the row that points at them: that takes moments, an hour is beyond doubt. Milliseconds. */
const GRACE = 60 * MINUTE;
const LEFT_OVER = 24 * 60 * MINUTE;
// Any fixed number: the lock's name. One process walks through the storage at a time.
export const SWEEP_LOCK = 7_163_011;

/** Removes the bytes of deleted workspaces, expired uploads, bytes that no row points at any more, and what killed processes left half-written. */
@Injectable()
export class FileCleaner implements BeforeApplicationShutdown {
  private readonly logger = new Logger(FileCleaner.name);
  private working: Promise<unknown> = Promise.resolve();
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly storage: LocalStorage,
  ) {}

  @Interval(5 * MINUTE)
  everyFewMinutes(): void {
    this.start(() => this.purgeUploads());
    this.start(() => this.removeStorages());
  }

  @Interval(60 * MINUTE)
  everyHour(): void {
    this.start(() => this.sweep());
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.working;
  }

  /** Removes uploads whose time is over. Resolves with their number. */
  async purgeUploads(): Promise<number> {
    let purged = 0;
    for (let batch = BATCH; batch === BATCH && !this.stopping; purged += batch) {
      batch = (await this.database.work.run(DELETE_EXPIRED())).length;
    }
    return purged;
  }

  /** Removes what is stored of workspaces that were deleted an hour ago. Resolves with their number. */
  async removeStorages(): Promise<number> {
    for (let removed = 0; ; removed++) {
      const [workspace] = await this.database.work.run(TAKE_REMOVAL());
      if (workspace === undefined || this.stopping) return removed;
      await this.storage.removeAll(workspace.id);
      await this.database.work.run(END_REMOVAL({ id: workspace.id }));
    }
  }

  /** Removes unused bytes and left-overs. Resolves with their number, null when another process is at it. */
  async sweep(): Promise<number | null> {
    const client = await this.database.work.connect();
    let broken = true;
    try {
      const { rows } = await client.query<{ mine: boolean }>(`SELECT pg_try_advisory_lock(${SWEEP_LOCK}) AS mine`);
      const mine = rows[0]?.mine === true;
      const swept = mine ? (await deleteLeftOvers(this.storage, LEFT_OVER)) + (await this.sweepBytes()) : null;
      if (mine) await client.query(`SELECT pg_advisory_unlock(${SWEEP_LOCK})`);
      broken = false;
      return swept;
    } finally {
      // Closing the connection gives the lock back too.
      client.release(broken);
    }
  }

  private async sweepBytes(): Promise<number> {
    let deleted = 0;
    let batch: Bytes[] = [];
    const flush = async () => {
      deleted += await deleteBytes(this.storage, await this.unused(batch), GRACE, (bytes) => this.unused(bytes));
      batch = [];
    };
    for await (const bytes of idleBytes(this.storage, GRACE)) {
      if (this.stopping) return deleted;
      batch.push(bytes);
      if (batch.length === BATCH) await flush();
    }
    await flush();
    return deleted;
  }

  private async unused(bytes: Bytes[]): Promise<Bytes[]> {
    if (bytes.length === 0) return [];
    const workspaceIds = bytes.map(({ workspaceId }) => workspaceId);
    const digests = bytes.map(({ sha256 }) => sha256);
    return this.database.work.run(UNUSED({ workspaceIds, digests }));
  }

  // One after the other: both are slow, neither is urgent.
  private start(work: () => Promise<unknown>): void {
    this.working = this.working
      .then(() => (this.stopping ? undefined : work()))
      .catch((error: unknown) => this.logger.warn(`Cleaning up files failed: ${String(error)}`));
  }
}
