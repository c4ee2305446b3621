// What the list of tasks, the form of a new one and the palette read.
import { queryOptions } from '@tanstack/react-query';
import { api, type Task, type TaskStatus } from './client.ts';

/** The newest tasks with these words, archived ones too; without words the newest that changed. */
export const foundQuery = (words: string) =>
  queryOptions({
    queryKey: ['tasks', 'found', words],
    queryFn: async ({ signal }) => {
      const query = {
        limit: 8,
        ...(words === '' ? { sort: 'updatedAt' as const } : { q: words, archived: 'all' as const }),
      };
      return (await api.tasks.list(query, { signal }).page()).items;
    },
    placeholderData: (before) => before,
  });

/** The newest tasks that have ended, with these words or all; archived ones too. */
export const endedQuery = (words: string) =>
  queryOptions({
    queryKey: ['tasks', 'ended', words],
    queryFn: async ({ signal }) => {
      const status: TaskStatus[] = ['completed', 'failed', 'cancelled'];
      const query = { limit: 50, archived: 'all' as const, status, ...(words !== '' && { q: words }) };
      return (await api.tasks.list(query, { signal }).page()).items;
    },
    placeholderData: (before) => before,
  });

/** At the same time; a browser has six connections to one service. */
const TOGETHER = 4;

export interface Refusal {
  task: Task;
  error: unknown;
}

/** Does it with each of them, a few at a time. What the service refuses does not keep the others from being done. */
export async function withEach(tasks: readonly Task[], act: (task: Task) => Promise<unknown>): Promise<Refusal[]> {
  const waiting = [...tasks];
  const refused: Refusal[] = [];
  const work = async () => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      try {
        await act(task);
      } catch (error) {
        refused.push({ task, error });
      }
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  return refused;
}
