import { columns } from '../../../platform/database/columns.js';
import { sql, uuid } from '../../../platform/database/sql.js';
import { newestFirst } from '../../../platform/http/pages.js';
import { TaskCheck } from './task-check.entity.js';

const CHECK = columns(TaskCheck, 'c', ['id', 'turn', 'round', 'phase', 'name', 'command', 'required', 'status', 'exitCode', 'durationMs', 'output', 'outputBytes', 'protectedChanged', 'createdAt']); // prettier-ignore
export type TaskCheckRow = typeof CHECK.row;

/** One page of a task that the caller has seen. */
export const PAGE = sql`
SELECT ${CHECK} FROM task_checks c WHERE c.task_id = ${uuid('taskId')} ${newestFirst('c')}`.rows<TaskCheckRow>();
