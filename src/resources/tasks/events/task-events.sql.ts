// How the events of a task are read: thin rows, filled in from what they tell of.
import type { StoredPart } from '../../../engine/models/conversation.js';
import { columns } from '../../../platform/database/columns.js';
import { type Fragment, int, type Json, type None, sql, uuid } from '../../../platform/database/sql.js';
import { FILE, type FileRow } from '../../files/files.sql.js';
import { INVOCATIONS, type InvocationRow, MESSAGE, type MessageRow } from '../messages/message.sql.js';
import { ToolInvocation } from '../messages/tool-invocation.entity.js';
import { INTERACTION, type InteractionRow, TOOL_CALL } from '../task.sql.js';
import { TaskEvent } from './task-event.entity.js';

const EVENT = columns(TaskEvent, 'e', ['taskId', 'seq', 'type', 'ref', 'data', 'createdAt']);
const CALL = columns(ToolInvocation, 'v', ['idx', 'toolCallId', 'name', 'input', 'state', 'output', 'error', 'stage']);
const STARTED = columns(ToolInvocation, 'v', ['idx', 'toolCallId', 'name', 'input', 'stage']);

/** An event with what its `ref` names; the others are null. */
export type TaskEventRow = Json<typeof EVENT.row> & {
  message: MessageRow | null;
  /** The result of a `tool.completed`, with the parts of its message as they are now when it added some. */
  call: (InvocationRow & { parts: StoredPart[] | null }) | null;
  file: Json<FileRow> | null;
  interaction: InteractionRow | null;
  /** The name of the one who settled an interaction or withdrew a message. */
  byName: string | null;
};

/** A message `e.ref` with these invocations. */
const message = (invocations: Fragment<None>): Fragment<None> => sql`(
  SELECT row_to_json(r) FROM (
    SELECT ${MESSAGE}, u.name AS "createdByName", ${invocations}
    FROM messages m LEFT JOIN users u ON u.id = m.created_by WHERE m.id = e.ref) r)`;

/** Calls as they were before they had results. */
const CALLS_ALONE = sql`
CASE m.role WHEN 'assistant' THEN (
  SELECT json_agg(call ORDER BY call.idx) FROM (
    SELECT ${STARTED}, 'running' AS state, NULL::jsonb AS output, NULL::text AS error
    FROM tool_invocations v WHERE v.message_id = m.id) call) END AS invocations`;

/** What {@link TaskEventRow} has, of an event `e`. */
export const FILLED = sql`
${EVENT},
  CASE e.type WHEN 'message.created' THEN ${message(CALLS_ALONE)} WHEN 'message.completed' THEN ${message(INVOCATIONS)} END AS message,
  CASE e.type WHEN 'tool.completed' THEN (
    SELECT row_to_json(r) FROM (
      SELECT ${CALL}, CASE WHEN e.data ? 'parts' THEN (SELECT m.parts FROM messages m WHERE m.id = e.ref) END AS parts
      FROM tool_invocations v WHERE v.message_id = e.ref AND v.tool_call_id = e.data ->> 'toolCallId') r) END AS call,
  CASE e.type WHEN 'file.published' THEN (
    SELECT row_to_json(r) FROM (
      SELECT ${FILE}, u.name AS "createdByName" FROM files f JOIN users u ON u.id = f.created_by WHERE f.id = e.ref) r) END AS file,
  CASE e.type WHEN 'interaction.created' THEN (
    SELECT row_to_json(r) FROM (
      SELECT ${INTERACTION}, ${TOOL_CALL} FROM interactions i WHERE i.id = e.ref) r) END AS interaction,
  CASE WHEN e.type IN ('interaction.settled', 'message.withdrawn') THEN (
    SELECT u.name FROM users u WHERE u.id = (e.data ->> 'by')::uuid) END AS "byName"`;

/** The events of a task after a number, in their order. */
export const READ = sql`
SELECT ${FILLED} FROM task_events e
WHERE e.task_id = ${uuid('taskId')} AND e.seq > ${int('after')} ORDER BY e.seq LIMIT ${int('limit')}`.jsonRows<TaskEventRow>();
