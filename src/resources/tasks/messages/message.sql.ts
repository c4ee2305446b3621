// How messages are read and sent.
import { visible } from '../../../access/auth/visibility.js';
import type { StoredPart } from '../../../engine/models/conversation.js';
import { columns } from '../../../platform/database/columns.js';
import {
  bool,
  type Fragment,
  int,
  intOrNull,
  type Json,
  jsonb,
  type None,
  raw,
  sql,
  text,
  textOrNull,
  uuid,
  uuidOrNull,
} from '../../../platform/database/sql.js';
import { SETTLED } from '../interactions/settlement.js';
import { statusesBefore, statusOfRun } from '../task-status.js';
import { Message } from './message.entity.js';
import { ToolInvocation } from './tool-invocation.entity.js';

const INVOCATION = columns(ToolInvocation, 'v', [
  'idx',
  'toolCallId',
  'name',
  'input',
  'state',
  'output',
  'error',
  'stage',
]);
export type InvocationRow = typeof INVOCATION.row;

/** Invocations of an assistant's `messages m` as JSON, in the order of their calls; null for a person's message. */
export const INVOCATIONS: Fragment<None> = sql`
CASE m.role WHEN 'assistant' THEN (
  SELECT json_agg(call ORDER BY call.idx) FROM (
    SELECT ${INVOCATION} FROM tool_invocations v WHERE v.message_id = m.id) call) END AS invocations`;

export const MESSAGE = columns(Message, 'm', [
  'id',
  'seq',
  'turn',
  'role',
  'status',
  'createdById',
  'parts',
  'createdAt',
  'readAt',
]);

/** A message as its sender gets it back. */
type SentRow = Json<typeof MESSAGE.row>;

/** A message with its sender's name and its tool invocations. */
export type MessageRow = SentRow & { createdByName: string | null; invocations: InvocationRow[] | null };

const AFTER = uuidOrNull('after');
const SEQ = intOrNull('seq');

/**
 * Bytes of JSON after which a page ends early: a longer answer would keep the main thread from other tenants while it is read and
 * written. 100 messages of 200,000 characters were 0.1 to 0.7 s.
 */
const PAGE_BYTES = raw(String(1024 * 1024));
const AND_BEFORE = raw('ROWS UNBOUNDED PRECEDING');

/**
 * The task, the message `after` and the page in one round trip: without a row there is no such task for the caller, without a
 * floor there never was such a message: one that was withdrawn has left its place. `seq` is that of the last message before the page. The page is one JSON value for the
 * reason that `jsonRows` gives. It has null in place of each message before which there are {@link PAGE_BYTES} or more. What the
 * database stores is counted first, without reading it, because compressed texts are only longer than that. `OFFSET 0` keeps the
 * JSON from being made once for each place that names it.
 */
const page = <A, B>(order: Fragment<None>, floor: Fragment<A>, follows: Fragment<B>) =>
  sql`
WITH task AS (
  SELECT t.id, ${floor} AS floor
  FROM tasks t WHERE ${visible('t')} AND t.id = ${uuid('taskId')})
SELECT task.floor, (
  SELECT json_agg(CASE WHEN sized.upto - sized.bytes < ${PAGE_BYTES} THEN sized.message END ORDER BY sized.seq ${order}) FROM (
    SELECT seq, message, octet_length(message::text) AS bytes,
      sum(octet_length(message::text)) OVER (ORDER BY seq ${order} ${AND_BEFORE}) AS upto
    FROM (
      SELECT m.seq, CASE WHEN m.upto - m.bytes < ${PAGE_BYTES} THEN row_to_json(shown) END AS message
      FROM (
        SELECT m.*, pg_column_size(m.parts) AS bytes,
          sum(pg_column_size(m.parts)) OVER (ORDER BY m.seq ${order} ${AND_BEFORE}) AS upto
        FROM messages m
        WHERE m.task_id = task.id AND m.seq > task.floor AND ${follows}
        ORDER BY m.seq ${order} LIMIT ${int('limit')}) m
      CROSS JOIN LATERAL (
        SELECT ${MESSAGE}, (SELECT name FROM users WHERE id = m.created_by) AS "createdByName", ${INVOCATIONS}) shown
      OFFSET 0) made) sized) AS messages
FROM task`.rows<{ floor: number | null; messages: (MessageRow | null)[] | null }>();

const FLOOR = sql`CASE WHEN ${AFTER} IS NULL THEN 0 ELSE coalesce(
  (SELECT seq FROM messages WHERE task_id = t.id AND id = ${AFTER}),
  (SELECT (e.data ->> 'place')::int FROM task_events e WHERE e.task_id = t.id AND e.type = 'message.withdrawn' AND e.ref = ${AFTER})) END`;
const followed = (by: '>' | '<') => sql`(${SEQ} IS NULL OR m.seq ${raw(by)} ${SEQ})`;

/**
 * A page of a task's messages, oldest first and newest first. The first page is a statement of its own: one for both has parts that a null
 * takes away, so the server thought each plan for given values cheaper and made one at each call, for 260 µs of 380.
 */
export const PAGE = {
  asc: { first: page(raw('asc'), raw('0'), raw('true')), further: page(raw('asc'), FLOOR, followed('>')) },
  desc: { first: page(raw('desc'), raw('0'), raw('true')), further: page(raw('desc'), FLOOR, followed('<')) },
};

const READ_NOW = bool('readNow');
const KIND = textOrNull('kind');
const MESSAGE_ID = uuid('messageId');
const USER = uuid('userId');

/** Characters of text that wait to be read, in one task: what a model, or the reader of a runbook, gets at once. */
export const MAX_UNREAD = 1_000_000;
const TASK_ID = uuid('taskId');
const UNREAD = sql`
SELECT coalesce(sum(char_length(words #>> '{}')), 0) FROM messages w,
  LATERAL (SELECT jsonb_path_query(w.parts, '$[*].text') UNION ALL SELECT jsonb_path_query(w.parts, '$[*].data.quote')
    UNION ALL SELECT jsonb_path_query(w.parts, '$[*].data.text')) said(words)
WHERE w.task_id = ${TASK_ID} AND w.status = 'queued'`;

/**
 * Inserts a person's message, and the run that it starts. `kind` and `runId` are those of the run; without a kind work is
 * under way, and the message waits. `readNow`: it is read at once, because it answers a question. `waits`: others are
 * read before it; there is no row when they and its `characters` are more than {@link MAX_UNREAD}. `settled`: the interaction
 * that it settles, or null. The time is that of the lock, not of the transaction: messages have times in the order of their places. The caller holds the task's lock.
 */
export const SEND = sql`
WITH task AS (
  SELECT id, workspace_id, last_seq, last_event, turn, paused FROM tasks
  WHERE id = ${TASK_ID} AND (NOT ${bool('waits')} OR (${UNREAD}) + ${int('characters')} <= ${raw(String(MAX_UNREAD))})),
message AS (
  INSERT INTO messages AS m (id, task_id, seq, read_seq, turn, role, status, created_by, parts, mode, created_at, read_at)
  SELECT ${MESSAGE_ID}, task.id, task.last_seq + 1, CASE WHEN ${READ_NOW} THEN task.last_seq + 1 END,
    CASE WHEN ${READ_NOW} THEN task.turn END, 'user', CASE WHEN ${READ_NOW} THEN 'complete' ELSE 'queued' END,
    ${USER}, ${jsonb<StoredPart[]>()('parts')}, ${text('mode')}, clock.at, CASE WHEN ${READ_NOW} THEN clock.at END
  FROM task, (SELECT clock_timestamp() AS at) clock
  RETURNING ${MESSAGE}),
run AS (
  INSERT INTO runs (id, task_id, workspace_id, kind, status, traceparent)
  SELECT ${uuid('runId')}, task.id, task.workspace_id, ${KIND}, ${statusOfRun('task')}, ${textOrNull('traceparent')} FROM task WHERE ${KIND} IS NOT NULL),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref, data)
  SELECT task.id, task.last_event + 1, CASE WHEN ${READ_NOW} THEN 'message.completed' ELSE 'message.created' END, ${MESSAGE_ID}, NULL
  FROM task
  UNION ALL SELECT task.id, task.last_event + 2, 'interaction.settled', ${SETTLED.id}, ${SETTLED.data} FROM task
  WHERE ${SETTLED.id} IS NOT NULL),
touched AS (
  UPDATE tasks t SET last_seq = t.last_seq + 1, last_event = t.last_event + 1 + (${SETTLED.id} IS NOT NULL)::int,
    message_count = t.message_count + 1, updated_at = now(), archived = false,
    status = CASE WHEN ${KIND} IS NULL THEN t.status ELSE 'queued' END,
    result_text = CASE WHEN ${KIND} = 'turn' THEN NULL ELSE t.result_text END,
    result_file_ids = CASE WHEN ${KIND} = 'turn' THEN NULL ELSE t.result_file_ids END,
    result_output = CASE WHEN ${KIND} = 'turn' THEN NULL ELSE t.result_output END,
    status_reason = CASE WHEN ${KIND} = 'turn' AND NOT t.paused THEN NULL ELSE t.status_reason END,
    finished_at = CASE WHEN ${KIND} = 'turn' THEN NULL ELSE t.finished_at END,
    read_upto = CASE WHEN ${KIND} = 'turn' THEN t.last_seq + 1 ELSE t.read_upto END
  FROM task WHERE t.id = task.id AND (${KIND} IS NULL OR t.status IN (${statusesBefore('queued')})))
SELECT row_to_json(message) AS row FROM message`.rows<{ row: SentRow }>();
