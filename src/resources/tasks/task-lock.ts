import type { AuthContext } from '../../access/auth/auth-context.js';
import { isUuid } from '../../platform/database/ids.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import type { Sql } from '../../platform/database/sql.js';
import { notFound } from '../../platform/http/api-error.js';
import type { BilledWork } from '../billing/billing-provider.js';
import type { Billing } from '../billing/billing.service.js';
import { LOCK, LOCK_TO_WORK, type LockedTask, READ, type TaskRow } from './task.sql.js';

/**
 * The task's row is the mutex of everything that moves the task: a request that decides by its status holds it, and what
 * stands in the next statements is decided on what was committed before. Throws 404 unless the caller sees the task.
 */
export async function lockTask(auth: AuthContext, tx: Sql, id: string): Promise<LockedTask> {
  const [task] = isUuid(id) ? await tx.run(LOCK({ auth, id })) : [];
  if (task === undefined) throw notFound('task');
  return task;
}

/**
 * As {@link lockTask}, for what gives the task work: `work` is for {@link Billing.authorize}, after the fields that are looked up and before
 * what depends on the status.
 */
export async function lockToWork(
  auth: AuthContext,
  tx: UnitOfWork,
  { rules }: Billing,
  id: string,
): Promise<{ task: LockedTask; work: BilledWork }> {
  const [found] = isUuid(id) ? await tx.run(LOCK_TO_WORK({ auth, id, rules })) : [];
  if (found === undefined) throw notFound('task');
  const { exhausted, ...task } = found;
  return { task, work: { workspaceId: auth.workspaceId, userId: auth.userId, model: task.model, exhausted } };
}

/** The task as it stands in the transaction. */
export async function readTask(tx: Sql, id: string): Promise<TaskRow> {
  const [task] = await tx.run(READ({ id }));
  if (task === undefined) throw notFound('task');
  return task;
}
