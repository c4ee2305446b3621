// How a cut of the context is recorded: one round trip, and only when there is one.
import type { Compaction } from '../../engine/agent/context/compaction.js';
import { field, type Fragment, raw, sql } from '../../platform/database/sql.js';
import { CALL, EXHAUSTED_NOW, METER } from '../../resources/billing/meter.sql.js';
import { PARTS, PROGRESS, TASK_ID, type Written } from './run-recorder.sql.js';
import { SPENT, USAGE } from './run-usage.sql.js';

const cut = field<Compaction>();

/**
 * The cut, and a message that tells people of it. The model never reads that message: it has no place in the reading order. The step
 * before it no longer says how long the conversation is.
 */
const record = <M, U, S, E>(metered: Fragment<M>, usage: Fragment<U>, spent: Fragment<S>, exhausted: Fragment<E>) =>
  sql`
WITH ${PROGRESS},
message AS (
  INSERT INTO messages (id, task_id, seq, turn, role, status, parts, created_at)
  SELECT ${CALL.messageId}, task.id, task.last_seq + 1, task.turn, 'assistant', 'complete', ${PARTS}, clock_timestamp()
  FROM task, run),
cut AS (
  INSERT INTO context_cuts (task_id, seq, kind, upto_message_id, upto_calls, summary, through_message_id, tokens_after)
  SELECT task.id, task.last_seq + 1, ${cut('cut', 'kind', 'text')}, ${cut('cut', 'uptoMessageId', 'uuid')},
    ${cut('cut', 'uptoCalls', 'int')}, ${cut('cut', 'summary', 'text')}, ${cut('cut', 'throughMessageId', 'uuid')},
    ${cut('cut', 'tokensAfter', 'bigint')}
  FROM task, run),
${metered}
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref, data)
  SELECT task.id, task.last_event + 1, 'message.completed', ${CALL.messageId}, ${usage} FROM task, run)
UPDATE tasks t SET last_seq = t.last_seq + 1, last_event = t.last_event + 1, message_count = t.message_count + 1,
  updated_at = now(), context_tokens = NULL${spent}
FROM run, task WHERE t.id = ${TASK_ID} RETURNING NULL AS steer${exhausted}`.rows<Written>();

/** A cut that needed no model. */
export const CUT = record(raw(''), raw('NULL::jsonb'), raw(''), raw(''));

/** A cut for which a model wrote a summary: metered as a step is. */
export const SUMMARY = record(
  sql`${METER},`,
  sql`jsonb_build_object('usage', ${USAGE})`,
  sql`, ${SPENT}`,
  sql`, ${EXHAUSTED_NOW} AS exhausted`,
);
