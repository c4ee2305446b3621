import type { UnitOfWork } from '../http/unit-of-work.js';

const BELOW = `
DELETE FROM idempotency_keys
WHERE workspace_id = $1 AND path <> '/v1/tasks' AND path IN ('/v1/tasks/' || $2 || '/messages', '/v1/tasks/' || $2 || '/interaction')`;

const CREATED = `
SELECT user_id AS "userId", method, path, key, body FROM idempotency_keys
WHERE workspace_id = $1 AND location = '/v1/tasks/' || $2 FOR UPDATE`;

const REPLACE = `
UPDATE idempotency_keys SET body = $6 WHERE workspace_id = $1 AND user_id = $2 AND method = $3 AND path = $4 AND key = $5`;

interface StoredAnswer {
  userId: string;
  method: string;
  path: string;
  key: string;
  body: string;
}

/**
 * What a deleted task takes along (reference §8): the stored answers that hold its messages. The one that created it stays,
 * so that the same request makes no second task, but without the title. The caller holds the task's lock.
 */
export async function forgetAnswersOfTask(tx: UnitOfWork, workspaceId: string, taskId: string): Promise<void> {
  await tx.query(BELOW, [workspaceId, taskId]);
  for (const { userId, method, path, key, body } of await tx.query<StoredAnswer>(CREATED, [workspaceId, taskId])) {
    // In place: the rest of the answer stays byte for byte.
    const answer = JSON.parse(body) as { task: { title: string } };
    answer.task.title = '';
    await tx.query(REPLACE, [workspaceId, userId, method, path, key, JSON.stringify(answer)]);
  }
}
