import type { UnitOfWork } from '../../platform/database/unit-of-work.js';

// The expression of the index `idempotency_keys_object`. A locked row is being claimed anew, after its time, by a request that
// waits for the deleter's lock on the task: waiting for it in turn would be a deadlock, and nobody can replay it.
const FORGET = `
DELETE FROM idempotency_keys WHERE ctid IN (
  SELECT ctid FROM idempotency_keys WHERE coalesce(location, path) = ANY($2) AND workspace_id = $1 FOR UPDATE SKIP LOCKED)`;
const CREATED = `
SELECT ctid::text AS place, body FROM idempotency_keys
WHERE coalesce(location, path) = $2 AND workspace_id = $1 AND path = '/v1/tasks' FOR UPDATE`;

/**
 * What a deleted task takes along (reference §8): the stored answers that hold its messages. The one that created it stays,
 * so that the same request makes no second task, but without the title, which is the beginning of what was written. The
 * caller deletes the task in the same transaction and holds its lock.
 */
export async function forgetAnswersOfTask(tx: UnitOfWork, workspaceId: string, taskId: string): Promise<void> {
  const path = `/v1/tasks/${taskId}`;
  await tx.query(FORGET, [workspaceId, [`${path}/messages`, `${path}/interaction`]]);
  for (const { place, body } of await tx.query<{ place: string; body: string }>(CREATED, [workspaceId, path])) {
    // In place: the rest of the answer stays byte for byte.
    const answer = JSON.parse(body) as { task: { title: string } };
    answer.task.title = '';
    await tx.query('UPDATE idempotency_keys SET body = $2 WHERE ctid = $1::tid', [place, JSON.stringify(answer)]);
  }
}
