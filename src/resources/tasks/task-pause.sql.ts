// How tasks are paused and resumed. Lock order everywhere: task, then run.
import { type Fragment, int, jsonb, raw, sql, timeOrNull, uuid, uuids } from '../../platform/database/sql.js';
import { WAITING_FOR_TASKS, WAITS_FOR_TASKS } from './children/children.sql.js';
import type { StatusReason } from './task-status.js';

/** What a task says that somebody has paused. */
export const PAUSED: StatusReason = { code: 'paused', message: 'Paused on request.', retryable: true };

const TASK_ID = uuid('taskId');
const RESUME_AT = timeOrNull('resumeAt');
const REASON = jsonb<StatusReason>()('reason');

const TASK_IDS = uuids('taskIds');

/** Of a task that waits for others, the time of a pause does not count: what it has waited until then does, and it waits anew from its end. */
const STOP_CLOCK = raw(`turn_duration_ms = t.turn_duration_ms + CASE WHEN t.paused OR t.waiting_since IS NULL THEN 0
    ELSE greatest(extract(epoch FROM clock_timestamp() - t.waiting_since) * 1000, 0)::bigint END`);

/** As {@link PAUSE}, of the tasks below one; the caller holds their locks. */
export const PAUSE_BELOW = sql`
WITH run AS (UPDATE runs SET status = 'paused' WHERE task_id = ANY(${TASK_IDS}) AND status = 'queued')
UPDATE tasks t SET paused = true, resumes_at = ${RESUME_AT}, status_reason = ${REASON}, updated_at = now(), ${STOP_CLOCK}
WHERE t.id = ANY(${TASK_IDS}) AND NOT t.paused
RETURNING t.id AS "taskId", (SELECT r.id FROM runs r WHERE r.task_id = t.id AND r.status = 'running') AS "runId"`.rows<{
  taskId: string;
  runId: string | null;
}>();

/**
 * Pauses a task that is not final; the caller holds its lock. No row: it is paused like this already. `runId`: the run that a worker has,
 * which is to stop; null without one.
 */
export const PAUSE = sql`
WITH run AS (UPDATE runs SET status = 'paused' WHERE task_id = ${TASK_ID} AND status = 'queued')
UPDATE tasks t SET paused = true, resumes_at = ${RESUME_AT}, status_reason = ${REASON}, updated_at = now(), ${STOP_CLOCK}
WHERE t.id = ${TASK_ID} AND (NOT t.paused OR t.resumes_at IS DISTINCT FROM ${RESUME_AT} OR t.status_reason IS DISTINCT FROM ${REASON})
RETURNING (SELECT r.id FROM runs r WHERE r.task_id = t.id AND r.status = 'running') AS "runId"`.rows<{
  runId: string | null;
}>();

/** Resumes the tasks that are `due`. One that waits for tasks of its own waits on. Their runs have one time, and stand in the queue in the order of their ids, which is that in which they were made. `runId`: the run that waits for a worker now, if any. */
const resume = <P>(tasks: Fragment<P>) =>
  sql`
WITH chosen AS (${tasks}),
due AS (SELECT t.id, ${WAITS_FOR_TASKS} AS waits FROM tasks t WHERE t.id IN (SELECT id FROM chosen)),
run AS (
  UPDATE runs r SET status = 'queued', created_at = now() FROM due WHERE r.task_id = due.id AND r.status = 'paused' AND NOT due.waits
  RETURNING r.id, r.task_id)
UPDATE tasks t SET paused = false, resumes_at = NULL, updated_at = now(),
  waiting_since = CASE WHEN t.waiting_since IS NOT NULL THEN clock_timestamp() END,
  status_reason = CASE WHEN due.waits THEN ${raw(`'${JSON.stringify(WAITING_FOR_TASKS)}'::jsonb`)} END
FROM due WHERE t.id = due.id
RETURNING t.id AS "taskId", t.workspace_id AS "workspaceId", (SELECT run.id FROM run WHERE run.task_id = t.id) AS "runId"`.rows<Resumed>();

export interface Resumed {
  taskId: string;
  workspaceId: string;
  runId: string | null;
}

/** One task; the caller holds its lock. No row: it is not paused. */
export const RESUME = resume(sql`SELECT id FROM tasks WHERE id = ${TASK_ID} AND paused`);

/** Those that were paused with the one above them; the caller holds their locks. */
export const RESUME_BELOW = resume(
  sql`SELECT id FROM tasks WHERE id = ANY(${TASK_IDS}) AND paused AND status_reason ->> 'code' = 'paused'`,
);

/** Some of those that wait for a build of their environment, in the order of their ids. It passes over those that somebody has locked. */
export const WAKE_AFTER_BUILD = resume(
  sql`SELECT id FROM tasks
    WHERE environment_build_id = ${uuid('buildId')} AND paused AND status_reason ->> 'code' = 'environment_building'
    ORDER BY id LIMIT ${int('limit')} FOR UPDATE SKIP LOCKED`,
);

/** Some of the tasks whose time has come, the first ones first. It passes over those that somebody has locked. */
export const WAKE = resume(
  sql`SELECT id FROM tasks WHERE resumes_at <= now() ORDER BY resumes_at, id LIMIT ${int('limit')} FOR UPDATE SKIP LOCKED`,
);
