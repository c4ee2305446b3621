// How the branch of a task is recorded: only after a turn of a task that names one.
import type { AgentEvent } from '../../engine/agent/agent-engine.js';
import type { PushRecord } from '../../engine/repositories/push-record.js';
import { jsonb, type Query, sql, uuid } from '../../platform/database/sql.js';
import type { ClaimedRun } from './claimed-run.js';
import { HOLD, PARTS, TASK_ID, type Written } from './run-recorder.sql.js';

/** What is given replaces what is there. */
const PUSH = sql`
WITH ${HOLD}
UPDATE tasks t SET updated_at = now(),
  repository = jsonb_set(t.repository, '{push}', (t.repository -> 'push') || ${jsonb<Partial<PushRecord>>()('record')})
FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

const MESSAGE_ID = uuid('messageId');

/**
 * A message that tells people why nothing was pushed, or why there is no patch. The model never reads it: it has no place in the
 * reading order. A run that takes the turn up again after its worker was lost tells the same no second time.
 */
const TOLD = sql`
WITH ${HOLD},
message AS (
  INSERT INTO messages (id, task_id, seq, turn, role, status, parts, created_at)
  SELECT ${MESSAGE_ID}, task.id, task.last_seq + 1, task.turn, 'assistant', 'complete', ${PARTS}, clock_timestamp()
  FROM task, run
  WHERE NOT EXISTS (
    SELECT 1 FROM messages o WHERE o.task_id = task.id AND o.turn = task.turn
      AND o.parts -> 0 ->> 'name' = ${PARTS} -> 0 ->> 'name' AND o.parts -> 0 -> 'data' = ${PARTS} -> 0 -> 'data')
  RETURNING id),
recorded AS (
  INSERT INTO task_events (task_id, seq, type, ref)
  SELECT task.id, task.last_event + 1, 'message.completed', message.id FROM task, message),
told AS (SELECT count(*)::int AS n FROM message)
UPDATE tasks t SET last_seq = t.last_seq + told.n, last_event = t.last_event + told.n,
  message_count = t.message_count + told.n, updated_at = now()
FROM run, told WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`.rows<Written>();

export function pushQuery(
  run: ClaimedRun,
  event: Extract<AgentEvent, { type: 'push' | 'push_failed' | 'patch_omitted' }>,
): Query<Written> {
  if (event.type === 'push') return PUSH({ run, record: event.record });
  return TOLD({ run, messageId: event.messageId, parts: event.parts });
}
