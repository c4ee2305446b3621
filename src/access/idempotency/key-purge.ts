import { Injectable } from '@nestjs/common';
import { Chore } from '../../platform/chores/chore.js';
import { inBatches } from '../../platform/chores/in-batches.js';
import { Database } from '../../platform/database/database.js';
import { LOCKS } from '../../platform/database/locks.js';
import { raw, sql } from '../../platform/database/sql.js';

const BATCH = 500;

// In small batches, each a transaction of its own. A record that is being claimed anew at this moment is locked and stays.
const PURGE = sql`
WITH expired AS (
  SELECT workspace_id, user_id, method, path, key FROM idempotency_keys
  WHERE expires_at <= now() ORDER BY expires_at LIMIT ${raw(String(BATCH))} FOR UPDATE SKIP LOCKED)
DELETE FROM idempotency_keys k USING expired e
WHERE (k.workspace_id, k.user_id, k.method, k.path, k.key) = (e.workspace_id, e.user_id, e.method, e.path, e.key)
RETURNING 1`.rows();

/** Deletes records whose 24 hours are over. They do not count any more: this is about space and about forgetting. */
@Injectable()
export class KeyPurge {
  constructor(private readonly database: Database) {}

  /** Resolves with the number of deleted records. */
  @Chore({ every: 60_000, lock: LOCKS.expiredKeys })
  async purge(signal?: AbortSignal): Promise<number> {
    return inBatches(BATCH, () => this.database.work.run(PURGE()), signal);
  }
}
