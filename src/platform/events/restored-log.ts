import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LOCKS } from '../database/locks.js';
import { raw, sql } from '../database/sql.js';
import { Transactions } from '../database/transactions.js';

const NEXT_XID = raw('pg_snapshot_xmax(pg_current_snapshot())::text::bigint');

const LIES_AHEAD = sql`
SELECT EXISTS (SELECT 1 FROM workspace_events WHERE xid >= ${NEXT_XID}) OR EXISTS (
  SELECT 1 FROM event_handlers WHERE xid > ${NEXT_XID}) AS ahead`.rows<{ ahead: boolean }>();

const LOCK = [
  sql`SELECT pg_advisory_xact_lock(${raw(String(LOCKS.restoredLog))})`.rows(),
  sql`LOCK TABLE workspace_events, event_handlers IN SHARE ROW EXCLUSIVE MODE`.rows(),
];

/** The order stays, by new ids; each handler stays behind the event that it has handled last. */
const MOVE_BACK = sql`
WITH renewed AS (
  SELECT o.xid, o.id, nextval('workspace_events_id_seq') AS new
  FROM (SELECT xid, id FROM workspace_events WHERE xid > 0 ORDER BY xid, id) o),
moved AS (
  UPDATE workspace_events e SET xid = 0, id = r.new FROM renewed r WHERE (e.xid, e.id) = (r.xid, r.id))
UPDATE event_handlers h SET xid = 0, id = coalesce(
  (SELECT max(r.new) FROM renewed r WHERE (r.xid, r.id) <= (h.xid, h.id)),
  CASE h.xid WHEN 0 THEN h.id ELSE (SELECT max(e.id) FROM workspace_events e WHERE e.xid = 0) END,
  0)`.rows();

/**
 * The log is in the order of transaction ids, which begin anew when a dump is restored into another server. Events and handlers
 * that lie ahead of them would keep new events from being read, so they get the id 0, before anything is written.
 */
@Injectable()
export class RestoredLog implements OnModuleInit {
  private readonly logger = new Logger('Events');

  constructor(private readonly transactions: Transactions) {}

  async onModuleInit(): Promise<void> {
    const [found] = await this.transactions.run(LIES_AHEAD());
    if (found?.ahead !== true) return;
    await this.transactions.open(async (tx) => {
      for (const lock of LOCK) await tx.run(lock());
      const [still] = await tx.run(LIES_AHEAD());
      if (still?.ahead === true) await tx.run(MOVE_BACK());
    });
    this.logger.log('The database was restored into another server: the log of events goes on there.');
  }
}
