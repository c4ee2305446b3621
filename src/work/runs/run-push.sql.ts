// How the branch of a task is recorded: only after a turn of a task that names one.
import type { AgentEvent } from '../../engine/agent/agent-engine.js';
import type { PushRecord } from '../../engine/repositories/push-record.js';
import { newId } from '../../platform/database/ids.js';
import { jsonb, type Query, sql, text, uuid } from '../../platform/database/sql.js';
import { firstJob, keyOf, PULL_REQUESTS, type PullRequestJob } from '../pull-requests/pull-request-job.js';
import type { ClaimedRun } from './claimed-run.js';
import { HOLD, PARTS, TASK_ID, type Written } from './run-recorder.sql.js';

const RECORD = jsonb<Partial<PushRecord>>()('record');
/** What is given replaces what is there. */
const RECORDED = sql`
UPDATE tasks t SET updated_at = now(), repository = jsonb_set(t.repository, '{push}', (t.repository -> 'push') || ${RECORD})
FROM run WHERE t.id = ${TASK_ID} RETURNING NULL AS steer`;
const PUSH = sql`WITH ${HOLD} ${RECORDED}`.rows<Written>();

/** The same of a pull request, and the first job that asks how it stands: a crash leaves both or neither. */
const PULL_REQUEST = sql`
WITH ${HOLD},
job AS (
  INSERT INTO jobs (id, queue, share, key, data)
  SELECT ${uuid('jobId')}, ${text('queue')}, run.workspace_id, ${text('key')}, ${jsonb<PullRequestJob>()('data')} FROM run
  ON CONFLICT (queue, key) WHERE key IS NOT NULL AND status <> 'failed' DO NOTHING)
${RECORDED}`.rows<Written>();

const MESSAGE_ID = uuid('messageId');

/**
 * A message that tells people why nothing was pushed, why there is no patch, or why older snapshots are gone. The model never reads it: it has no place in the
 * reading order. A run that takes the turn up again after its worker was lost tells the same no second time.
 */
export const TOLD = sql`
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
  if (event.type !== 'push') return TOLD({ run, messageId: event.messageId, parts: event.parts });
  const { record } = event;
  if (record.pullRequestUrl == null) return PUSH({ run, record });
  const data = firstJob(run.taskId);
  return PULL_REQUEST({ run, record, jobId: newId(), queue: PULL_REQUESTS, key: keyOf(data), data });
}
