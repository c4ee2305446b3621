// How a write of the recorder gives the messages to the agent that steer it: pieces of run-recorder.sql.ts.
import { columns } from '../../platform/database/columns.js';
import { type Fragment, type None, raw, sql } from '../../platform/database/sql.js';
import { Message } from '../../resources/tasks/messages/message.entity.js';

const HANDED = columns(Message, 'm', ['id', 'parts', 'readSeq']);
export type Steering = typeof HANDED.row;

export const WAITS_TO_STEER = raw(`status = 'queued' AND mode = 'steer'`);

/** What a statement with the CTEs `task` and `run` has of it. */
export interface Steer {
  /** The CTEs, each with a comma behind it. */
  ctes: Fragment<None>;
  /** Rows for the insert into task_events; `before` is how many events of the statement stand before them. */
  events: <P>(before: Fragment<P>) => Fragment<P>;
  /** How many messages are handed over. */
  n: Fragment<None>;
  /** What the UPDATE of the task names beside `task` and `run`. */
  from: Fragment<None>;
  messages: Fragment<None>;
}

/**
 * Gives the waiting messages of mode `steer` to the agent and marks them as read, in the same write. `after` is how
 * many places of the reading order the write takes for itself. A message that is committed while the write waits for the task's
 * lock is not in its snapshot: the next write, or the end of the turn, finds it. One that is withdrawn meanwhile is, so the messages
 * are locked behind the task, which passes over it, before they get their numbers.
 */
export const STEER = (after: '0' | '1'): Steer => ({
  ctes: sql`
steer AS (
  UPDATE messages m SET status = 'complete', turn = task.turn, read_seq = task.last_seq + ${raw(after)} + w.n,
    read_at = clock_timestamp()
  FROM task, run, (
    SELECT id, row_number() OVER (ORDER BY seq)::int AS n FROM (
      SELECT id, seq FROM messages WHERE task_id = (SELECT task.id FROM task, run) AND ${WAITS_TO_STEER} FOR UPDATE) there) w
  WHERE m.id = w.id
  RETURNING ${HANDED}),
handed AS (
  SELECT count(*)::int AS n, json_agg(steer ORDER BY steer."readSeq") AS messages FROM steer),`,
  events: <P>(before: Fragment<P>) =>
    sql`
  UNION ALL SELECT task.id, task.last_event + ${before} + steer."readSeq" - task.last_seq - ${raw(after)}, 'message.completed',
    steer.id, NULL FROM task, steer` as Fragment<unknown> as Fragment<P>,
  n: raw('handed.n'),
  from: raw(', handed'),
  messages: raw('handed.messages'),
});

/** For a statement that writes nothing when a message waits to steer. */
export const NONE_STEERS: Steer = {
  ctes: raw(''),
  events: <P>() => raw('') as Fragment<unknown> as Fragment<P>,
  n: raw('0'),
  from: raw(''),
  messages: raw('NULL::json'),
};
