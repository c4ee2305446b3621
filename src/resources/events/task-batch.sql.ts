// What a stream of a task reads.
import { visibleTo } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { bytesOrNulls, int, ints, Param, raw, sql, texts, uuid, uuids } from '../../platform/database/sql.js';
import { FILLED, type TaskEventRow } from '../tasks/events/task-events.sql.js';
import { Task } from '../tasks/task.entity.js';
import type { TaskStatus } from '../tasks/task-status.js';
import { POLICY_TEXT, STANDS_OF_ASKED, VIEWER, viewerOf } from './viewer.sql.js';

/** A batch ends early when its events have so many bytes of JSON: it is what waits in memory for a client that reads slowly. */
const BATCH_BYTES = raw(String(256 * 1024));
const AND_BEFORE = raw('ROWS UNBOUNDED PRECEDING');

/** The types that are wanted; null: all. */
export const TYPES = new Param<{ types: readonly string[] | null }>('types', 'text[]', ({ types }) => types);

const TASK = columns(Task, 't', ['id', 'lastEvent', 'status']);
const SEEN = visibleTo(viewerOf('viewer'), 't');

/**
 * What is there of a task after a number, for the viewer: without a row there is no such viewer, or none that sees the task. What the
 * database stores of an event is counted before it is read, for it is only shorter than the JSON; an event has null in its place when
 * those before it are {@link BATCH_BYTES} or more. The first of them always comes.
 */
export const TASK_BATCH = sql`
WITH ${VIEWER},
task AS (
  SELECT ${TASK}, viewer.transparency FROM viewer, tasks t WHERE ${SEEN} AND t.id = ${uuid('taskId')})
SELECT task."lastEvent", task.status, task.transparency, (
  SELECT json_agg(CASE WHEN sized.upto - sized.bytes < ${BATCH_BYTES} THEN sized.event END ORDER BY sized.seq) FROM (
    SELECT seq, event, octet_length(event::text) AS bytes,
      sum(octet_length(event::text)) OVER (ORDER BY seq ${AND_BEFORE}) AS upto
    FROM (
      SELECT e.seq, CASE WHEN e.upto - e.bytes < ${BATCH_BYTES} THEN row_to_json(shown) END AS event
      FROM (
        SELECT e.*, sum(e.bytes) OVER (ORDER BY e.seq ${AND_BEFORE}) AS upto FROM (
          SELECT e.*, CASE e.type
            WHEN 'tool.completed' THEN (
              SELECT coalesce(pg_column_size(v.output), 0) + coalesce(pg_column_size(v.error), 0) FROM tool_invocations v
              WHERE v.message_id = e.ref AND v.tool_call_id = e.data ->> 'toolCallId')
            -- Of a message that was withdrawn there is nothing.
            WHEN 'message.created' THEN coalesce(stored.bytes, 0)
            WHEN 'message.completed' THEN stored.bytes
            ELSE 0 END AS bytes
          FROM (
            SELECT e.* FROM task_events e
            WHERE e.task_id = task.id AND e.seq > ${int('after')} AND (${TYPES} IS NULL OR e.type = ANY(${TYPES}))
            ORDER BY e.seq LIMIT ${int('limit')}) e
          LEFT JOIN LATERAL (
            SELECT pg_column_size(m.parts) + coalesce((
              SELECT sum(pg_column_size(v.input) + CASE e.type WHEN 'message.completed'
                THEN coalesce(pg_column_size(v.output), 0) + coalesce(pg_column_size(v.error), 0) ELSE 0 END)
              FROM tool_invocations v WHERE v.message_id = m.id), 0) AS bytes
            FROM messages m WHERE m.id = e.ref AND e.type LIKE 'message.%') stored ON true) e) e
      CROSS JOIN LATERAL (SELECT ${FILLED}) shown
      OFFSET 0) made) sized) AS events
FROM task`.rows<{
  lastEvent: number;
  status: TaskStatus;
  transparency: string[] | null;
  /** Null: longer than the batch may be. */
  events: (TaskEventRow | null)[] | null;
}>();

const LOOKED = visibleTo(viewerOf('stands'), 't');

/**
 * One look for many streams: of those whose key, task and policy are as before, and whose task has no later event, there is no row.
 * Without a `lastEvent` the stream is over.
 */
export const LOOK_AT_TASKS = sql`
SELECT asked.n, found."lastEvent", found.policy IS DISTINCT FROM asked.policy AS "policyChanged"
FROM unnest(${ints('ns')}, ${uuids('keyIds')}, ${bytesOrNulls('sessions')}, ${uuids('taskIds')}, ${ints('known')}, ${texts('policies')})
  AS asked(n, key_id, session, task_id, known, policy)
LEFT JOIN LATERAL (
  SELECT t.last_event AS "lastEvent", ${POLICY_TEXT('stands')} AS policy
  FROM (${STANDS_OF_ASKED}) stands, tasks t WHERE ${LOOKED} AND t.id = asked.task_id) found ON true
WHERE found."lastEvent" IS NULL OR found."lastEvent" > asked.known OR found.policy <> asked.policy`.rows<{
  n: number;
  lastEvent: number | null;
  policyChanged: boolean;
}>();
