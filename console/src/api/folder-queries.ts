// The folder of a task: what its snapshots have. A snapshot never changes, so what was read of one is kept.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, isGone } from './client.ts';
import { all, download, queryClient } from './queries.ts';

const KEPT = { staleTime: Infinity } as const;

/** Newest first; at most 20. */
export const snapshotsQuery = (taskId: string) =>
  queryOptions({
    queryKey: ['snapshots', taskId],
    queryFn: ({ signal }) => all(api.tasks.snapshots(taskId, { limit: 100 }, { signal })),
  });

/** A path in one snapshot of a task: absolute, or relative to `/workdir`. */
export interface Place {
  taskId: string;
  snapshot: string;
  path: string;
}

/** The entries of a folder, page by page. */
export const entriesQuery = ({ taskId, snapshot, path }: Place) =>
  infiniteQueryOptions({
    queryKey: ['folder', taskId, snapshot, path],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      noted(taskId, api.tasks.workdir(taskId, { path, snapshot, limit: 100 }, { signal }).page(pageParam)),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    ...KEPT,
  });

/** A file with its head alone: the reader takes as much of the bytes as it wants. */
export const contentQuery = <T>({ taskId, snapshot, path }: Place, read: (response: Response) => Promise<T>) =>
  queryOptions({
    queryKey: ['folder-file', taskId, snapshot, path],
    queryFn: async ({ signal }) =>
      read(await noted(taskId, api.tasks.workdirContent(taskId, { path, snapshot }, { signal }))),
    ...KEPT,
  });

/** What is not found may be of a snapshot that is gone by now: then the list says so. */
async function noted<T>(taskId: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (isGone(error)) void queryClient.invalidateQueries({ queryKey: snapshotsQuery(taskId).queryKey });
    throw error;
  }
}

export function downloadEntry({ taskId, snapshot, path }: Place, name: string): void {
  const query = new URLSearchParams({ path, snapshot }).toString();
  download(`/v1/tasks/${encodeURIComponent(taskId)}/workdir/content?${query}`, name);
}
