// How tasks are paused and resumed. Lock order everywhere: task, then run.
import { type Fragment, int, jsonb, sql, timeOrNull, uuid } from '../../platform/database/sql.js';
import type { StatusReason } from './task-status.js';

const TASK_ID = uuid('taskId');
const RESUME_AT = timeOrNull('resumeAt');
const REASON = jsonb<StatusReason>()('reason');

/**
 * Pauses a task that is not final; the caller holds its lock. No row: it is paused like this already. `runId`: the run that a worker has,
 * which is to stop; null without one.
 */
export const PAUSE = sql`
WITH run AS (UPDATE runs SET status = 'paused' WHERE task_id = ${TASK_ID} AND status = 'queued')
UPDATE tasks t SET paused = true, resumes_at = ${RESUME_AT}, status_reason = ${REASON}, updated_at = now()
WHERE t.id = ${TASK_ID} AND (NOT t.paused OR t.resumes_at IS DISTINCT FROM ${RESUME_AT} OR t.status_reason IS DISTINCT FROM ${REASON})
RETURNING (SELECT r.id FROM runs r WHERE r.task_id = t.id AND r.status = 'running') AS "runId"`.rows<{
  runId: string | null;
}>();

/** Resumes the tasks that are `due`. Their runs have one time, and stand in the queue in the order of their ids, which is that in which they were made. `runId`: the run that waits for a worker now, if any. */
const resume = <P>(due: Fragment<P>) =>
  sql`
WITH due AS (${due}),
run AS (
  UPDATE runs r SET status = 'queued', created_at = now() FROM due WHERE r.task_id = due.id AND r.status = 'paused'
  RETURNING r.id, r.task_id)
UPDATE tasks t SET paused = false, resumes_at = NULL, status_reason = NULL, updated_at = now()
FROM due WHERE t.id = due.id
RETURNING t.id AS "taskId", t.workspace_id AS "workspaceId", (SELECT run.id FROM run WHERE run.task_id = t.id) AS "runId"`.rows<Resumed>();

export interface Resumed {
  taskId: string;
  workspaceId: string;
  runId: string | null;
}

/** One task; the caller holds its lock. No row: it is not paused. */
export const RESUME = resume(sql`SELECT id FROM tasks WHERE id = ${TASK_ID} AND paused`);

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
