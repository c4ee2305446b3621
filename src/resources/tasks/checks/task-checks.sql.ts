import { columns } from '../../../platform/database/columns.js';
import { sql, textOrNull, uuid } from '../../../platform/database/sql.js';
import { newestFirst } from '../../../platform/http/pages.js';
import { statusesBefore, statusOfRun } from '../task-status.js';
import { TaskCheck } from './task-check.entity.js';

const CHECK = columns(TaskCheck, 'c', ['id', 'turn', 'round', 'phase', 'name', 'command', 'required', 'status', 'exitCode', 'durationMs', 'output', 'outputBytes', 'outputFileId', 'protectedChanged', 'createdAt']); // prettier-ignore
export type TaskCheckRow = typeof CHECK.row;

/** One page of a task that the caller has seen. */
export const PAGE = sql`
SELECT ${CHECK} FROM task_checks c WHERE c.task_id = ${uuid('taskId')} ${newestFirst('c')}`.rows<TaskCheckRow>();

/**
 * A run of the checks alone, in the turn that has ended. What waits to be read by then goes on waiting when it ends (`COMPLETED`).
 * No row: the task has none, or none of its turns has begun. The caller holds the task's lock.
 */
export const AGAIN = sql`
WITH task AS (
  UPDATE tasks SET status = 'queued', status_reason = NULL, finished_at = NULL, checked = NULL, updated_at = now(), archived = false,
    read_upto = last_seq
  WHERE id = ${uuid('taskId')} AND checks IS NOT NULL AND turn > 0 AND status IN (${statusesBefore('queued')})
  RETURNING id, workspace_id, paused)
INSERT INTO runs (id, task_id, workspace_id, kind, status, traceparent)
SELECT ${uuid('runId')}, id, workspace_id, 'checks', ${statusOfRun('task')}, ${textOrNull('traceparent')} FROM task
RETURNING id`.rows<{ id: string }>();
