import { type Sql, sql, uuid } from '../../../platform/database/sql.js';

const WORKSPACE = uuid('workspaceId');
const FROM = uuid('userId');
const TO = uuid('heirId');

// Projects, automations, tasks, files: as everybody locks them, and those that are held in the order of their ids. A worker goes
// on writing to a task that has a new owner: what it publishes next is the new owner's.
const TASKS = sql`
WITH mine AS (SELECT id FROM tasks WHERE workspace_id = ${WORKSPACE} AND created_by = ${FROM} ORDER BY id FOR UPDATE)
UPDATE tasks t SET created_by = ${TO}, updated_at = now() FROM mine WHERE t.id = mine.id`;
const STEPS = [
  sql`UPDATE projects SET owner_id = ${TO}, updated_at = now() WHERE workspace_id = ${WORKSPACE} AND owner_id = ${FROM}`,
  sql`
WITH mine AS (SELECT id FROM automations WHERE workspace_id = ${WORKSPACE} AND owner_id = ${FROM} ORDER BY id FOR UPDATE)
UPDATE automations a SET owner_id = ${TO}, updated_at = now() FROM mine WHERE a.id = mine.id`,
  TASKS,
  // What one of them has made while the first statement waited for it.
  TASKS,
  sql`UPDATE files SET created_by = ${TO} WHERE workspace_id = ${WORKSPACE} AND created_by = ${FROM}`,
].map((step) => step.rows());

/** Gives what a member owns to another one. Messages keep their author, uploads belong to nobody else (reference §3). */
export async function transferOwnership(tx: Sql, workspaceId: string, userId: string, heirId: string): Promise<void> {
  for (const step of STEPS) await tx.run(step({ workspaceId, userId, heirId }));
}
