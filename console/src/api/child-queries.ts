// The tasks that the agent of a task has made.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, type Task } from './client.ts';
import { taskQuery } from './queries.ts';

/** The reason of a task that goes on when the tasks that it has made have ended. */
export const WAITS_FOR_TASKS = 'waiting_for_tasks';

/** Those of one task, oldest first. Events of the workspace read it anew, as all that begins with `tasks`. */
export const childrenQuery = (taskId: string) =>
  queryOptions({
    queryKey: ['tasks', 'children', taskId],
    queryFn: async ({ signal }) => {
      const page = await api.tasks.list({ parentTaskId: taskId, archived: 'all', limit: 100 }, { signal }).page();
      return page.items.reverse();
    },
  });

/** How many are below it; a service of before has no such field. */
export const childrenOf = (task: Task): number => (task as Partial<Task>).children?.tasks ?? 0;
/** The task whose agent has made it. */
export const parentOf = (task: Task): string | null => (task as Partial<Task>).parentTaskId ?? null;

/** The same, with its title once that is known: it may be gone, or not be seen. Null: nobody's part. */
export function useParent(task: Task | undefined): { id: string; title: string | undefined } | null {
  const id = task === undefined ? null : parentOf(task);
  const { data } = useQuery({ ...taskQuery(id ?? ''), enabled: id !== null });
  return id === null ? null : { id, title: data?.title };
}
