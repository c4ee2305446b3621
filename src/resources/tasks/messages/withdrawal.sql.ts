// How a message is taken back before it is read. The caller holds the task's lock, as everything does that reads messages.
import { columns } from '../../../platform/database/columns.js';
import { sql, uuid } from '../../../platform/database/sql.js';
import { UNBEGUN_TURN } from '../task-status.js';
import { Message } from './message.entity.js';

const TASK_ID = uuid('taskId');
const MESSAGE_ID = uuid('messageId');

const FOUND = columns(Message, 'm', ['id', 'status', 'createdById']);
/** The message, if the task has it. */
export const FIND = sql`
SELECT ${FOUND} FROM messages m WHERE m.task_id = ${TASK_ID} AND m.id = ${MESSAGE_ID}`.rows<typeof FOUND.row>();

/**
 * Deletes a message that waits, with the files that were attached to it; the trigger on files counts their bytes out. Its events stay, without
 * what they told of, and one more says who took it back and keeps its place, for clients who page by it; a search finds no more of it than the title that was made of it. `idle`: the turn
 * that was to read it has nothing to read now.
 */
export const WITHDRAW = sql`
WITH message AS (
  DELETE FROM messages WHERE id = ${MESSAGE_ID} AND task_id = ${TASK_ID} AND status = 'queued' RETURNING id, seq, parts),
detached AS (
  DELETE FROM files f USING message, jsonb_array_elements(message.parts) part
  WHERE part ->> 'type' = 'file' AND f.id = (part ->> 'fileId')::uuid AND f.task_id = ${TASK_ID} AND f.origin = 'attachment'),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref, data)
  SELECT t.id, t.last_event + 1, 'message.withdrawn', message.id, jsonb_build_object('place', message.seq, 'by', ${uuid('userId')})
  FROM message, tasks t WHERE t.id = ${TASK_ID})
UPDATE tasks t SET last_event = t.last_event + 1, message_count = t.message_count - 1, updated_at = now(),
  opening = CASE message.seq WHEN 1 THEN '' ELSE t.opening END
FROM message WHERE t.id = ${TASK_ID}
RETURNING EXISTS (${UNBEGUN_TURN}) AND NOT EXISTS (
  SELECT 1 FROM messages w WHERE w.task_id = t.id AND w.status = 'queued' AND w.id <> message.id) AS idle`.rows<{
  idle: boolean;
}>();
