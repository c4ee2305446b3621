// Where a turn of a task begins and ends among its events.
import { visible } from '../../access/auth/visibility.js';
import { columns } from '../../platform/database/columns.js';
import { type Fragment, int, sql, uuid } from '../../platform/database/sql.js';
import { Task } from '../tasks/task.entity.js';
import { UNBEGUN_TURN } from '../tasks/task-status.js';

const TASK = columns(Task, 't', ['status']);
const TASK_ID = uuid('taskId');

/** The number of the turn. A run that was not claimed yet begins the next one: so the claim will count. */
const TURN = sql`(t.turn + EXISTS (${UNBEGUN_TURN})::int)`;

/** The number of the event before a turn, which begins by reading a message. Null: it has not begun. */
const before = <P>(turn: Fragment<P>) => sql`(
  SELECT min(e.seq) - 1 FROM messages m JOIN task_events e ON e.task_id = m.task_id AND e.ref = m.id
  WHERE m.task_id = t.id AND m.turn = ${turn} AND e.type = 'message.completed')`;

/** The last turn, for who sees the task, and the event behind which it begins. */
export const LAST_TURN = sql`
SELECT ${TASK}, ${TURN} AS turn, coalesce(${before(TURN)}, t.last_event) AS after
FROM tasks t WHERE ${visible('t')} AND t.id = ${TASK_ID}`.rows<typeof TASK.row & { turn: number; after: number }>();

/** One row when another turn has taken the place of this one: `until` is the last event before it, null while it has none. */
export const TURN_AFTER = sql`
SELECT ${before(sql`${int('turn')} + 1`)} AS until
FROM tasks t WHERE t.id = ${TASK_ID} AND ${TURN} > ${int('turn')}`.rows<{ until: number | null }>();
