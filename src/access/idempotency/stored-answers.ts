import type { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { FORGET, LOCK_CREATION, REPLACE_BODY } from './stored-answers.sql.js';

/**
 * What a deleted task takes along (reference §8): the stored answers that hold its messages. The one that created it stays,
 * so that the same request makes no second task, but without the title, which is the beginning of what was written. The
 * caller deletes the task in the same transaction and holds its lock.
 */
export async function forgetAnswersOfTask(tx: UnitOfWork, workspaceId: string, taskId: string): Promise<void> {
  const path = `/v1/tasks/${taskId}`;
  await tx.run(FORGET({ workspaceId, paths: [`${path}/messages`, `${path}/interaction`] }));
  for (const { place, body } of await tx.run(LOCK_CREATION({ workspaceId, path }))) {
    // In place: the rest of the answer stays byte for byte.
    const answer = JSON.parse(body) as { task: { title: string } };
    answer.task.title = '';
    await tx.run(REPLACE_BODY({ place, body: JSON.stringify(answer) }));
  }
}
