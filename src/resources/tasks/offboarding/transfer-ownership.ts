import type { EntityManager } from 'typeorm';

// Projects before tasks, tasks before files, as everybody locks them, and the tasks in the order of their ids. A worker goes
// on writing to a task that has a new owner: what it publishes next is the new owner's.
const STEPS = [
  'UPDATE projects SET owner_id = $3, updated_at = now() WHERE workspace_id = $1 AND owner_id = $2',
  `WITH mine AS (SELECT id FROM tasks WHERE workspace_id = $1 AND created_by = $2 ORDER BY id FOR UPDATE)
   UPDATE tasks t SET created_by = $3, updated_at = now() FROM mine WHERE t.id = mine.id`,
  'UPDATE files SET created_by = $3 WHERE workspace_id = $1 AND created_by = $2',
];

/** Gives what a member owns to another one. Messages keep their author, uploads belong to nobody else (reference §3). */
export async function transferOwnership(manager: EntityManager, workspaceId: string, userId: string, heirId: string) {
  for (const step of STEPS) await manager.query(step, [workspaceId, userId, heirId]);
}
