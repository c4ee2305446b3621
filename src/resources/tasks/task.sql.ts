// Pieces of SQL that more than one statement about a task and its run shares. Lock order everywhere: task, then run.
import { seen } from '../../access/auth/visibility.js';

/** Whether the caller sees a task `t`, with the parameters of {@link seen}. */
export const VISIBLE = `t.workspace_id = $1 AND ${seen('t.project_id', 't.created_by')}`;

/**
 * Two CTEs that close the calls without a result, and the messages that hold them, of the tasks that `tasks` selects: on
 * cancel, failure or recovery a call without result gets an `error` result that says so (reference §6).
 */
export const closeOpenCalls = (tasks: string, error: string): string => closeCalls(tasks, `'${error}'`);

/** The same with an error that is an SQL expression on `messages m`. */
export const closeCalls = (tasks: string, error: string): string => `
closed_calls AS (
  UPDATE tool_invocations v SET state = 'error', error = ${error}, finished_at = now()
  FROM messages m WHERE m.id = v.message_id AND m.task_id IN (${tasks}) AND m.status = 'in_progress' AND v.state = 'running'),
closed_messages AS (
  UPDATE messages m SET status = 'complete' WHERE m.task_id IN (${tasks}) AND m.status = 'in_progress')`;

/** Adds the time from the claim (`run.claimed_at`) to `end` to the figures of the task `t`: only running time counts. */
export const addDuration = (end: string): string => {
  const ms = `greatest(extract(epoch FROM ${end} - run.claimed_at) * 1000, 0)::bigint`;
  return `duration_ms = t.duration_ms + ${ms}, turn_duration_ms = t.turn_duration_ms + ${ms}`;
};

export const ADD_DURATION = addDuration('clock_timestamp()');

/**
 * Ends the running run of a task ($1) as it stands, for a message that interrupts it. The caller holds the task's lock and
 * starts the next turn in the same transaction. Status and epoch move together: what the worker still writes touches nothing.
 */
export const INTERRUPT = `
WITH run AS (
  UPDATE runs SET status = 'finished', epoch = epoch + 1, lease_until = NULL, finished_at = now()
  WHERE task_id = $1 AND status = 'running' RETURNING id, claimed_at),
${closeOpenCalls('SELECT $1::uuid', 'Interrupted by a message before this call had a result; it may have run partly.')}
UPDATE tasks t SET ${ADD_DURATION} FROM run WHERE t.id = $1 RETURNING run.id AS "runId"`;
