import type { AuthContext } from '../../access/auth/auth-context.js';
import { type JsonRow, jsonRows } from '../../platform/database/json-rows.js';
import { notFound } from '../../platform/http/api-error.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { isUuid } from '../../platform/database/ids.js';
import { MEMBER, scope } from '../../access/auth/visibility.js';
import { TASK_SELECT, type TaskRow } from './task.row.js';
import { VISIBLE } from './task.sql.js';
import type { TaskStatus } from './task-status.js';

const LOCK = `
WITH ${MEMBER}
SELECT t.id, t.status, t.created_by AS "createdById" FROM member, tasks t WHERE ${VISIBLE} AND t.id = $4 FOR UPDATE OF t`;

const READ = jsonRows(`${TASK_SELECT} WHERE t.id = $1`);

export interface LockedTask {
  id: string;
  status: TaskStatus;
  createdById: string;
}

/**
 * The task's row is the mutex of everything that moves the task: whoever decides by its status holds it, and what stands
 * in the next statements is decided on what was committed before. Throws 404 unless the caller sees the task.
 */
export async function lockTask(auth: AuthContext, tx: UnitOfWork, id: string): Promise<LockedTask> {
  const [task] = isUuid(id) ? await tx.query<LockedTask>(LOCK, [...scope(auth), id]) : [];
  if (task === undefined) throw notFound('task');
  return task;
}

/** The task as it stands in the transaction. */
export async function readTask(tx: UnitOfWork, id: string): Promise<TaskRow> {
  const [found] = await tx.query<JsonRow<TaskRow>>(READ, [id]);
  if (found === undefined) throw notFound('task');
  return found.row;
}
