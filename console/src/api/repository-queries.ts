// What the pickers of repositories and branches read, and the connections of a workspace.
import { queryOptions } from '@tanstack/react-query';
import { api, type Repository, type RepositoryConnection } from './client.ts';
import { all, queryClient } from './queries.ts';

export const connectionsQuery = queryOptions({
  queryKey: ['repository-connections'],
  queryFn: ({ signal }) => all(api.repositoryConnections.list({ limit: 100 }, { signal })),
});

/** A changed connection, in place of what was read before; what it leads to is read again. */
export function changedConnection(connection: RepositoryConnection): void {
  queryClient.setQueryData(connectionsQuery.queryKey, (before) =>
    before?.map((one) => (one.id === connection.id ? connection : one)),
  );
  readRepositoriesAnew();
}

export function readRepositoriesAnew(): void {
  for (const name of ['repository-connections', 'repositories', 'repository', 'branches'])
    void queryClient.invalidateQueries({ queryKey: [name] });
}

/** As many as a list to choose from shows: who looks for another one types. */
const SHOWN = 50;
/** So long the service keeps what a host said, in milliseconds. */
const KEPT_MS = 60_000;

/** What the workspace may use with a text in its name: the first page, with what the service says of it. */
export const repositoriesQuery = (q: string, refresh = false) =>
  queryOptions({
    queryKey: ['repositories', q],
    queryFn: ({ signal }) => api.repositories.list(asked(q, refresh), { signal }).page(),
    staleTime: KEPT_MS,
    placeholderData: (before) => before,
  });

export const branchesQuery = (url: string, q: string, refresh = false) =>
  queryOptions({
    queryKey: ['branches', url, q],
    queryFn: ({ signal }) => api.repositories.branches(url, asked(q, refresh), { signal }).page(),
    staleTime: KEPT_MS,
    // Of the same repository alone.
    placeholderData: (before, query) => (query?.queryKey[1] === url ? before : undefined),
  });

const asked = (q: string, refresh: boolean) => ({
  limit: SHOWN,
  ...(q !== '' && { q: q.slice(0, 100) }),
  ...(refresh && { refresh }),
});

/** What the service says of one repository; null when the list does not have it. */
export const repositoryQuery = (url: string) =>
  queryOptions({
    queryKey: ['repository', url],
    queryFn: async ({ signal }): Promise<{ row: Repository | null; partial: boolean }> => {
      const place = placeOf(url);
      if (place === null) return { row: null, partial: false };
      const query = { q: place.path.slice(0, 100), host: place.host, limit: SHOWN };
      const { items, partial = false } = await api.repositories.list(query, { signal }).page();
      return { row: items.find((one) => isSame(one.url, url)) ?? null, partial };
    },
    staleTime: KEPT_MS,
  });

/** Host and path of an https address of a repository; null: it is none. */
export function placeOf(url: string): { host: string; path: string } | null {
  if (!/^https:\/\/[^/]+\/./i.test(url) || !URL.canParse(url)) return null;
  const { host, pathname } = new URL(url);
  const path = decoded(pathname)
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '');
  return path === '' ? null : { host, path };
}

/** Empty when a percent sign stands for nothing, as while somebody writes one. */
function decoded(pathname: string): string {
  try {
    return decodeURI(pathname);
  } catch {
    return '';
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [placeOf(one), placeOf(other)];
  return a !== null && a.host === b?.host && a.path.toLowerCase() === b.path.toLowerCase();
}
