import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Database } from '../../platform/database/database.js';
import { raw, sql } from '../../platform/database/sql.js';

const BATCH = 500;
// Any fixed number: the lock's name. One process of an installation purges at a time.
export const PURGE_LOCK = 7_163_012;

// In small batches, each a transaction of its own. A record that is being claimed anew at this moment is locked and stays.
const PURGE = sql`
WITH lock AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${raw(String(PURGE_LOCK))}) AS mine),
expired AS (
  SELECT workspace_id, user_id, method, path, key FROM idempotency_keys
  WHERE (SELECT mine FROM lock) AND expires_at <= now() ORDER BY expires_at LIMIT ${raw(String(BATCH))} FOR UPDATE SKIP LOCKED)
DELETE FROM idempotency_keys k USING expired e
WHERE (k.workspace_id, k.user_id, k.method, k.path, k.key) = (e.workspace_id, e.user_id, e.method, e.path, e.key)
RETURNING 1`.rows();

/** Deletes records whose 24 hours are over. They do not count any more: this is about space and about forgetting. */
@Injectable()
export class KeyPurge implements BeforeApplicationShutdown {
  private readonly logger = new Logger(KeyPurge.name);
  private working: Promise<unknown> | null = null;
  private stopping = false;

  constructor(private readonly database: Database) {}

  @Interval(60_000)
  tick(): void {
    this.working ??= this.purge()
      .catch((error: unknown) => this.logger.warn(`Expired keys were not deleted: ${String(error)}`))
      .finally(() => (this.working = null));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.working;
  }

  /** Resolves with the number of deleted records; 0 while another process is at it. */
  async purge(): Promise<number> {
    let purged = 0;
    for (let batch = BATCH; batch === BATCH && !this.stopping; purged += batch) {
      batch = (await this.database.work.run(PURGE())).length;
    }
    return purged;
  }
}
