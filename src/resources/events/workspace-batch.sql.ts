// What a stream of a workspace reads: the log in the order (xid, id), below the oldest transaction that still writes
// (docs/decisions/0032).
import { visibleTo } from '../../access/auth/visibility.js';
import {
  bigint,
  bytesOrNulls,
  int,
  ints,
  Param,
  raw,
  sql,
  texts,
  uuids,
  uuidOrNull,
} from '../../platform/database/sql.js';
import { STANDS_OF_ASKED, VIEWER, viewerOf } from './viewer.sql.js';
import type { WorkspaceNews } from './event.view.js';

const SETTLED_BELOW = raw('pg_snapshot_xmin(pg_current_snapshot())::text::bigint');
/** Events of the log that one statement goes through for those that the viewer sees. */
const AHEAD = 500;

const XID = bigint('xid');
const ID = bigint('id');
const VIEWER_ROW = viewerOf('viewer');
const PROJECT = uuidOrNull('projectId');

/**
 * An event that neither a task nor an automation stands for says by itself who sees it: that of a task that is gone, and one of an
 * extension without a task.
 */
const STANDS_ALONE = raw(`(e.type = 'task.deleted' OR (e.task_id IS NULL AND e.type NOT LIKE 'automation.%'))`);
/** An id in what an event says; null for what is none: that one would end the stream of everybody. */
const said = (name: string) =>
  raw(`substring(e.data ->> '${name}' FROM '(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$')::uuid`);

/** A place in the log: behind an event, or behind all that was there. */
export interface LogPlace {
  xid: number;
  id: number;
  /** When all before it was there, by the database's clock; null for the beginning, whenever that is. */
  at: string | null;
}

/**
 * The order of a workspace's events, in the words of the index `workspace_events_order`. With `workspace_id = …` and the order (xid, id) the
 * primary key would do as well for the planner, which does not know how few of the events that come next are this workspace's: 100,000 of
 * another one were gone through, 85 ms for each read and 32 for each stream of a look.
 */
const PLACE_IN_LOG = raw('e.workspace_id, e.xid, e.id');
const FROM_LAST = raw('e.workspace_id DESC, e.xid DESC, e.id DESC');

/**
 * What is there after a place, for the viewer: no row when there is none. `expired`: the place is of a time of which events were
 * deleted, or of before a restore, when transaction ids began anew and all events got the id 0 in a new order. `last` is the place of the
 * last event that was looked at.
 */
export const WORKSPACE_BATCH = sql`
WITH ${VIEWER},
ahead AS MATERIALIZED (
  SELECT e.xid, e.id, e.task_id, e.seq, e.event_id, e.type, e.data, e.created_at
  FROM viewer CROSS JOIN LATERAL (
    SELECT * FROM workspace_events e
    WHERE (${PLACE_IN_LOG}) > (viewer.workspace_id, ${XID}, ${ID}) AND e.workspace_id <= viewer.workspace_id AND e.xid < ${SETTLED_BELOW}
    ORDER BY ${PLACE_IN_LOG} LIMIT ${raw(String(AHEAD))}) e),
seen AS MATERIALIZED (
  SELECT e.* FROM viewer, ahead e
  LEFT JOIN tasks t ON e.type NOT LIKE 'automation.%' AND t.id = e.task_id
  LEFT JOIN automations a ON e.type LIKE 'automation.%' AND a.id = (e.data ->> 'automationId')::uuid
  CROSS JOIN LATERAL (SELECT viewer.workspace_id,
    CASE WHEN t.id IS NOT NULL THEN t.project_id WHEN a.id IS NOT NULL THEN a.project_id ELSE ${said('projectId')} END AS project_id,
    CASE WHEN t.id IS NOT NULL THEN t.created_by WHEN a.id IS NOT NULL THEN a.owner_id ELSE ${said('createdBy')} END AS created_by) about
  WHERE e.type = ANY(${texts('types')}) AND (t.id IS NOT NULL OR a.id IS NOT NULL OR ${STANDS_ALONE})
    AND (${PROJECT} IS NULL OR about.project_id = ${PROJECT}) AND ${visibleTo(VIEWER_ROW, 'about')}
  ORDER BY e.xid, e.id LIMIT ${int('limit')}),
ends AS (
  (SELECT xid, id, created_at, false AS all FROM seen WHERE (SELECT count(*) FROM seen) = ${int('limit')} ORDER BY xid DESC, id DESC LIMIT 1)
  UNION ALL
  (SELECT xid, id, created_at, (SELECT count(*) FROM ahead) < ${raw(String(AHEAD))} FROM ahead
   WHERE (SELECT count(*) FROM seen) < ${int('limit')} ORDER BY xid DESC, id DESC LIMIT 1))
SELECT (SELECT json_agg(json_build_object('xid', xid, 'placeId', id, 'id', coalesce(event_id::text, task_id || '-' || seq), 'type', type,
    'seq', seq, 'taskId', task_id, 'createdAt', created_at, 'data', data) ORDER BY xid, id) FROM seen) AS events,
  (SELECT json_build_object('xid', xid, 'id', id, 'at', created_at) FROM ends) AS last,
  coalesce((SELECT ends.all FROM ends), true) AS "caughtUp",
  clock_timestamp()::text AS now,
  (${new Param<{ at: string | null }>('at', 'timestamptz', ({ at }) => at)} < now() - make_interval(days => ${int('days')})
    OR ${XID} >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    OR (${XID} > 0 AND ${ID} <= coalesce((SELECT max(e.id) FROM workspace_events e WHERE e.xid = 0), 0))) IS TRUE AS expired
FROM viewer`.rows<{
  events: (WorkspaceNews & { xid: number; placeId: number })[] | null;
  last: LogPlace | null;
  caughtUp: boolean;
  now: string;
  expired: boolean;
}>();

/** The last place of a workspace's part of the log that can be read now. */
const LAST_PLACE = (workspace: string) => sql`
SELECT e.xid, e.id FROM workspace_events e
WHERE (e.workspace_id, e.xid) < (${raw(workspace)}, ${SETTLED_BELOW}) AND e.workspace_id >= ${raw(workspace)}
ORDER BY ${FROM_LAST} LIMIT 1`;

/** The place behind everything that can be read now. */
export const LATEST = sql`
WITH ${VIEWER}
SELECT coalesce(last.xid, 0)::float8 AS xid, coalesce(last.id, 0)::float8 AS id, clock_timestamp()::text AS at
FROM viewer LEFT JOIN LATERAL (${LAST_PLACE('viewer.workspace_id')}) last ON true`.rows<LogPlace>();

/** A row for each reader whose key and session still stand: the last place of its workspace's part of the log that can be read now, zeros for an empty one. */
export const LOOK_AT_WORKSPACES = sql`
SELECT asked.n, coalesce(last.xid, 0)::float8 AS xid, coalesce(last.id, 0)::float8 AS id
FROM unnest(${ints('ns')}, ${uuids('keyIds')}, ${bytesOrNulls('sessions')}) AS asked(n, key_id, session)
CROSS JOIN LATERAL (${STANDS_OF_ASKED}) found
LEFT JOIN LATERAL (${LAST_PLACE('found.workspace_id')}) last ON true`.rows<{
  n: number;
  xid: number;
  id: number;
}>();
