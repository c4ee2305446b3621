// How handlers read the log. The order is (xid, id), below the oldest transaction that still writes: an event that commits later
// has a later place than all that was read (docs/decisions/0032).
import { columns } from '../database/columns.js';
import { bigint, int, raw, sql, text, texts } from '../database/sql.js';
import { WorkspaceEvent } from './workspace-event.entity.js';

const NAME = text('name');
const NAMES = texts('names');
const SETTLED_BELOW = raw('pg_snapshot_xmin(pg_current_snapshot())::text::bigint');

/**
 * Makes the handlers known. A new one begins behind what was committed before the oldest open transaction of the PostgreSQL server:
 * it may get events that were committed while that one was open.
 */
export const REGISTER = sql`
INSERT INTO event_handlers (name, xid, id) SELECT name, ${SETTLED_BELOW}, 0 FROM unnest(${NAMES}) AS n(name)
ON CONFLICT (name) DO UPDATE SET seen_at = now()`.rows();

/**
 * The handlers that have something to read and do not rest: the next event after their place is settled. By its order the look goes by
 * the index; with EXISTS alone PostgreSQL read the log from its beginning.
 */
export const BEHIND = sql`
SELECT h.name FROM event_handlers h
WHERE h.name = ANY(${NAMES}) AND (h.retry_at IS NULL OR h.retry_at <= clock_timestamp()) AND (
  SELECT e.xid FROM workspace_events e WHERE (e.xid, e.id) > (h.xid, h.id) ORDER BY e.xid, e.id LIMIT 1) < ${SETTLED_BELOW}`.rows<{
  name: string;
}>();

const EVENT = columns(WorkspaceEvent, 'e', [
  'xid',
  'id',
  'workspaceId',
  'taskId',
  'seq',
  'eventId',
  'type',
  'data',
  'createdAt',
]);

export type Taken = typeof EVENT.row & { matches: boolean; fromXid: number; fromId: number };

/**
 * Locks the handler, unless another process has it, and answers its next events, in order; when none of the next 500 is for it, the
 * last of them, with `matches` false. `fromXid` and `fromId` are the place of the handler. Each LATERAL makes a place in the log a condition
 * of the index: as a join, PostgreSQL read 53,000 events of all workspaces for a step, in 15 to 37 ms.
 */
export const NEXT = sql`
WITH handler AS (
  SELECT h.xid, h.id FROM event_handlers h
  WHERE h.name = ${NAME} AND (h.retry_at IS NULL OR h.retry_at <= clock_timestamp()) FOR UPDATE SKIP LOCKED),
ahead AS MATERIALIZED (
  SELECT e.* FROM handler CROSS JOIN LATERAL (
    SELECT e.xid, e.id, e.type = ANY(${texts('types')}) AS matches FROM workspace_events e
    WHERE (e.xid, e.id) > (handler.xid, handler.id) AND e.xid < ${SETTLED_BELOW} ORDER BY e.xid, e.id LIMIT 500) e),
chosen AS (
  (SELECT * FROM ahead WHERE matches ORDER BY xid, id LIMIT ${int('limit')})
  UNION ALL
  (SELECT * FROM ahead WHERE NOT EXISTS (SELECT 1 FROM ahead WHERE matches) ORDER BY xid DESC, id DESC LIMIT 1))
SELECT ${EVENT}, chosen.matches, handler.xid::float8 AS "fromXid", handler.id::float8 AS "fromId"
FROM handler, chosen CROSS JOIN LATERAL (
  SELECT * FROM workspace_events WHERE (xid, id) = (chosen.xid, chosen.id) OFFSET 0) e
ORDER BY e.xid, e.id`.rows<Taken>();

const XID = bigint('xid');
const ID = bigint('id');

/** The handler has handled the event at this place. The caller holds its lock. */
export const ADVANCE = sql`
UPDATE event_handlers SET xid = ${XID}, id = ${ID}, failures = 0, retry_at = NULL, seen_at = now()
WHERE name = ${NAME}`.rows();

/**
 * Counts a failure at the event of this place, of a handler that is still where it was: it rests for 1 to 30 seconds, or, after the
 * last try, steps over the event.
 */
export const FAIL = sql`
UPDATE event_handlers h SET
  failures = CASE WHEN gives_up THEN 0 ELSE failures + 1 END,
  retry_at = CASE WHEN NOT gives_up THEN clock_timestamp() + make_interval(secs => least(30, 2 ^ failures)) END,
  xid = CASE WHEN gives_up THEN ${XID} ELSE xid END,
  id = CASE WHEN gives_up THEN ${ID} ELSE id END
FROM (SELECT name AS handler, failures + 1 >= ${int('tries')} AS gives_up FROM event_handlers WHERE name = ${NAME}) g
WHERE h.name = g.handler AND h.xid = ${bigint('fromXid')} AND h.id = ${bigint('fromId')}
RETURNING gives_up AS "givesUp"`.rows<{ givesUp: boolean }>();
