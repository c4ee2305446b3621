// One project, its files, and what deleted projects have left.
import { queryOptions } from '@tanstack/react-query';
import { api } from './client.ts';
import { all } from './queries.ts';

export const projectQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['project', projectId],
    queryFn: ({ signal }) => api.projects.get(projectId, { signal }),
  });

export const projectFilesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['project-files', projectId],
    queryFn: ({ signal }) => all(api.projects.files(projectId, { limit: 100 }, { signal })),
  });

export const orphansQuery = queryOptions({
  queryKey: ['project-files', 'none'],
  queryFn: ({ signal }) => all(api.files.list({ project: 'none', limit: 100 }, { signal })),
});

/** The last few tasks of a project. Below `tasks`, so that events keep it up. */
export const projectTasksQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['tasks', 'of-project', projectId],
    queryFn: async ({ signal }) =>
      (await api.tasks.list({ projectId, limit: 6, sort: 'updatedAt' }, { signal }).page()).items,
  });
