// How statements write the events of a task (reference §17). The triggers on tasks write those of the task's own row
// (record-task-event.function.ts); what stands here goes before them, in the statement that makes the change: a round trip less, and nothing between.
import { type Fragment, type None, raw, sql } from '../../../platform/database/sql.js';

/** The order of events of one commit. The status comes last, by the trigger. */
export const PLACE = { file: raw('1'), tool: raw('2'), message: raw('3'), interaction: raw('4') };

/**
 * Two CTEs that write `news`, rows (task_id, place, nth, type, ref, data), as the next events of their tasks. The statement has
 * a CTE `task` (id, last_event) of the tasks as they are locked, and sets {@link COUNT_NEWS} on each that has news.
 */
export const recordNews = <P>(news: Fragment<P>) => sql`
news AS (
  SELECT n.*, row_number() OVER (PARTITION BY n.task_id ORDER BY n.place, n.nth)::int AS number FROM (${news}) n),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref, data)
  SELECT task.id, task.last_event + news.number, news.type, news.ref, news.data FROM task JOIN news ON news.task_id = task.id)`;

/** The assignment of an `UPDATE tasks t` beside {@link recordNews}. */
export const COUNT_NEWS: Fragment<None> = raw(
  'last_event = t.last_event + (SELECT count(*)::int FROM news WHERE news.task_id = t.id)',
);

/** News of calls (task_id, message_id, idx, tool_call_id) that have their result, and of messages (task_id, id, seq) that are complete. */
export const closedNews = (calls: Fragment<None>, messages: Fragment<None>): Fragment<None> => sql`
SELECT c.task_id, ${PLACE.tool} AS place, c.idx AS nth, 'tool.completed' AS type, c.message_id AS ref,
  jsonb_build_object('toolCallId', c.tool_call_id) AS data FROM ${calls} c
UNION ALL
SELECT m.task_id, ${PLACE.message}, m.seq, 'message.completed', m.id, NULL FROM ${messages} m`;
