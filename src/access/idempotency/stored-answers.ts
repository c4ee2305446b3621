import { sql, text, texts, uuid } from '../../platform/database/sql.js';
import type { UnitOfWork } from '../../platform/database/unit-of-work.js';

// The task that is deleted is locked first, then these records.

// `coalesce(location, path)` is the expression of the index `idempotency_keys_object`.

/**
 * The records about some paths. A record that is locked stays: a request claims it anew, after its time, and waits for the
 * deleter's lock on the task. To wait for that request in turn would be a deadlock, and nobody can replay the record.
 */
const FORGET = sql`
DELETE FROM idempotency_keys WHERE ctid IN (
  SELECT ctid FROM idempotency_keys
  WHERE coalesce(location, path) = ANY(${texts('paths')}) AND workspace_id = ${uuid('workspaceId')} FOR UPDATE SKIP LOCKED)`.rows();

/** The records of the creation of the task at `path`, also as a fork. `place` is good until the transaction ends. */
const LOCK_CREATION = sql`
SELECT ctid::text AS place, body FROM idempotency_keys
WHERE coalesce(location, path) = ${text('path')} AND workspace_id = ${uuid('workspaceId')}
  AND (path = '/v1/tasks' OR path LIKE '/v1/tasks/%/fork')
FOR UPDATE`.rows<{ place: string; body: string }>();
const REPLACE_BODY = sql`
UPDATE idempotency_keys SET body = ${text('body')} WHERE ctid = ${text('place')}::tid`.rows();

/**
 * What a deleted task takes along (reference §8): the stored answers that hold its messages. The one that created it stays,
 * so that the same request makes no second task, but without its texts: the title, which is the beginning of what was written,
 * metadata and tags, and the result that a fork begins with. The caller deletes the task in the same transaction and holds its lock.
 */
export async function forgetAnswersOfTask(tx: UnitOfWork, workspaceId: string, taskId: string): Promise<void> {
  const path = `/v1/tasks/${taskId}`;
  await tx.run(FORGET({ workspaceId, paths: [`${path}/messages`, `${path}/interaction`] }));
  for (const { place, body } of await tx.run(LOCK_CREATION({ workspaceId, path }))) {
    // In place: the rest of the answer stays byte for byte.
    const { task } = JSON.parse(body) as { task: { result: object | null } };
    const result = task.result === null ? null : { ...task.result, text: '', output: null };
    Object.assign(task, { title: '', result, metadata: {}, tags: [] });
    await tx.run(REPLACE_BODY({ place, body: JSON.stringify({ task }) }));
  }
}
