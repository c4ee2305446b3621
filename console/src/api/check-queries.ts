// What the service found out about a task by itself.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, type Task, type TaskEvent } from './client.ts';

/** Each has the end of what it wrote. */
const AT_ONCE = 32;

/** Newest first; a check that still runs is not among them. */
export const checksQuery = (taskId: string) =>
  infiniteQueryOptions({
    queryKey: ['checks', taskId, 'list'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => api.tasks.checks(taskId, { limit: AT_ONCE }, { signal }).page(pageParam),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: 0,
  });

type Started = Extract<TaskEvent, { type: 'check.started' }>;

/** The check that began last and has not ended, by the log of the task; null for none. */
export const checkNowQuery = (taskId: string) =>
  queryOptions({
    queryKey: ['checks', taskId, 'now'],
    queryFn: async ({ signal }): Promise<Started | null> => {
      let last: TaskEvent | null = null;
      for await (const event of api.tasks.history(taskId, { types: ['check.started', 'check.completed'], signal }))
        last = event;
      return last?.type === 'check.started' ? last : null;
    },
    staleTime: 0,
  });

const NONE: Task['checks'] = { status: 'none', passed: 0, failed: 0, repairs: 0 };
/** A service of before has no such field. */
export const checksOf = (task: Task): Task['checks'] => (task as Partial<Task>).checks ?? NONE;
