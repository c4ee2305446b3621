import { type Call, jsonOf, Refused } from './call.js';
import type { InnerAnswer } from './inner-request.js';

/** The longest that the route of a task's events waits, in seconds. */
const LONGEST = 30;
/** What says that nobody may wait now: too many do, the scope is missing, the process stops. */
const NO_PLACE = [403, 429, 503];

interface TaskAnswer {
  task: { id: string; status: string };
}

/** Whether a task's turn goes on by itself. */
export function isWorking({ task }: TaskAnswer): boolean {
  return task.status === 'queued' || task.status === 'running';
}

/**
 * The answer of the task's route once its turn has ended or asks, or at the end of the time; null where it cannot wait at all, and an error of
 * the route where the task is not seen any more. It waits on the events of the task, so it counts as a stream, and each look is a request of its
 * own: with key, membership, role and visibility as they are then.
 */
export async function waitFor(call: Call, taskId: string, seconds: number): Promise<InnerAnswer | null> {
  if (!call.auth.scopes.includes('tasks:read')) return null;
  const path = `/v1/tasks/${taskId}`;
  const end = performance.now() + seconds * 1000;
  let known: InnerAnswer | null = null;
  // The position comes before the look at the task: what happens in between is news.
  let query = 'after=latest';
  for (;;) {
    const news = await placed(call, `${path}/events?types=task.*&${query}`);
    if (news === null) return known;
    if (news.status >= 400) return news;
    known = await call.send({ method: 'GET', path });
    const left = (end - performance.now()) / 1000;
    if (known.status >= 400 || left <= 0 || !isWorking(jsonOf(known) as unknown as TaskAnswer)) return known;
    query = `after=${String(jsonOf(news)['position'])}&wait=${Math.min(LONGEST, Math.ceil(left))}`;
  }
}

/** News of a task; null where nobody may wait for them. */
async function placed(call: Call, path: string): Promise<InnerAnswer | null> {
  try {
    const news = await call.send({ method: 'GET', path });
    return NO_PLACE.includes(news.status) ? null : news;
  } catch (error) {
    if (error instanceof Refused && NO_PLACE.includes(error.answer.status)) return null;
    throw error;
  }
}
