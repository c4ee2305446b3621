import { columns } from '../../../platform/database/columns.js';
import { int, sql, uuid } from '../../../platform/database/sql.js';
import { newestFirst } from '../../../platform/http/pages.js';
import { TaskCommand } from './task-command.entity.js';

const COMMAND = columns(TaskCommand, 'c', ['id', 'number', 'toolCallId', 'command', 'terminal', 'status', 'exitCode', 'output', 'outputBytes', 'createdAt', 'endedAt']); // prettier-ignore
export type TaskCommandRow = typeof COMMAND.row;

/** One page of a task that the caller has seen. */
export const PAGE = sql`
SELECT ${COMMAND} FROM task_commands c WHERE c.task_id = ${uuid('taskId')} ${newestFirst('c')}`.rows<TaskCommandRow>();

const ONE = sql`c.task_id = ${uuid('taskId')} AND c.number = ${int('number')}`;

/** Asks for the end of one that runs; the caller holds the task's lock. No row: it does not run, or there is none. */
export const ASK_TO_STOP = sql`
UPDATE task_commands c SET stop_asked = true WHERE ${ONE} AND c.status = 'running' RETURNING ${COMMAND}`.rows<TaskCommandRow>();

export const FIND = sql`SELECT ${COMMAND} FROM task_commands c WHERE ${ONE}`.rows<TaskCommandRow>();
