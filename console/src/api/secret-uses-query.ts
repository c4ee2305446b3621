import { queryOptions } from '@tanstack/react-query';
import { api } from './client.ts';

/** What a task did with secrets, by name and host. */
export const secretUsesQuery = (taskId: string) =>
  queryOptions({
    queryKey: ['secret-uses', taskId],
    queryFn: ({ signal }) => api.tasks.secretUses(taskId, { signal }),
    staleTime: 0,
  });
