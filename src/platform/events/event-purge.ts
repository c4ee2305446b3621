import { Injectable } from '@nestjs/common';
import { Chore } from '../chores/chore.js';
import { inBatches } from '../chores/in-batches.js';
import { Env } from '../config/env.js';
import { Database } from '../database/database.js';
import { LOCKS } from '../database/locks.js';
import { int, raw, sql } from '../database/sql.js';

const BATCH = 500;
const KEPT = sql`make_interval(days => ${int('days')})`;

/** Handlers that no process has had for so long: one that was renamed or removed must not keep the log for ever. */
const FORGET = sql`DELETE FROM event_handlers WHERE seen_at < now() - ${KEPT}`.rows();

// Of the oldest only, in small batches, each a transaction of its own. What a handler has not read stays.
const PURGE = sql`
WITH oldest AS (
  SELECT xid, id, created_at FROM workspace_events ORDER BY xid, id LIMIT ${raw(String(BATCH))} FOR UPDATE SKIP LOCKED)
DELETE FROM workspace_events e USING oldest o
WHERE (e.xid, e.id) = (o.xid, o.id) AND o.created_at < now() - ${KEPT}
  AND NOT EXISTS (SELECT 1 FROM event_handlers h WHERE (h.xid, h.id) < (o.xid, o.id))
RETURNING 1`.rows();

/** Deletes events of the workspaces' log whose time is over (reference §17). Those of a task stay as long as the task. */
@Injectable()
export class EventPurge {
  constructor(
    private readonly database: Database,
    private readonly env: Env,
  ) {}

  /** Resolves with the number of deleted events. */
  @Chore({ every: 600_000, lock: LOCKS.oldEvents })
  async purge(signal?: AbortSignal): Promise<number> {
    const days = this.env.variables.EVENT_RETENTION_DAYS;
    await this.database.work.run(FORGET({ days }));
    return inBatches(BATCH, () => this.database.work.run(PURGE({ days })), signal);
  }
}
