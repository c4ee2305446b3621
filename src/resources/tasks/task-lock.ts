import type { AuthContext } from '../../access/auth/auth-context.js';
import { isUuid } from '../../platform/database/ids.js';
import type { Sql } from '../../platform/database/sql.js';
import { notFound } from '../../platform/http/api-error.js';
import { LOCK, type LockedTask, READ, type TaskRow } from './task.sql.js';

/**
 * The task's row is the mutex of everything that moves the task: a request that decides by its status holds it, and what
 * stands in the next statements is decided on what was committed before. Throws 404 unless the caller sees the task.
 */
export async function lockTask(auth: AuthContext, tx: Sql, id: string): Promise<LockedTask> {
  const [task] = isUuid(id) ? await tx.run(LOCK({ auth, id })) : [];
  if (task === undefined) throw notFound('task');
  return task;
}

/** The task as it stands in the transaction. */
export async function readTask(tx: Sql, id: string): Promise<TaskRow> {
  const [task] = await tx.run(READ({ id }));
  if (task === undefined) throw notFound('task');
  return task;
}
