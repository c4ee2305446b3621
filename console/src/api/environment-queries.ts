// Environments, their versions and builds.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, type Environment } from './client.ts';
import { all, queryClient } from './queries.ts';

export const environmentsQuery = queryOptions({
  queryKey: ['environments', 'list'],
  queryFn: ({ signal }) => all(api.environments.list({ limit: 100 }, { signal })),
});

export const environmentQuery = (slug: string) =>
  queryOptions<Environment>({
    queryKey: ['environments', 'one', slug],
    queryFn: ({ signal }) => api.environments.get(slug, { signal }),
    placeholderData: () => queryClient.getQueryData(environmentsQuery.queryKey)?.find((one) => one.slug === slug),
    staleTime: 0,
  });

export const versionsQuery = (slug: string) =>
  queryOptions({
    queryKey: ['environments', 'versions', slug],
    queryFn: ({ signal }) => all(api.environments.versions(slug, { limit: 100 }, { signal })),
  });

/** So often the log of a build that is made is read, in milliseconds: there is no event for it. */
const LOG_MS = 2000;

export const buildsQuery = (slug: string) =>
  infiniteQueryOptions({
    queryKey: ['environments', 'builds', slug],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => api.environments.builds(slug, { limit: 20 }, { signal }).page(pageParam),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: 0,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ items }) => items.some(({ state }) => state === 'building')) === true && LOG_MS,
  });

/** A changed environment, in place of what was read before. */
export function changedEnvironment(environment: Environment): void {
  queryClient.setQueryData(environmentQuery(environment.slug).queryKey, environment);
  for (const name of ['list', 'versions']) void queryClient.invalidateQueries({ queryKey: ['environments', name] });
}

export function removedEnvironment(slug: string): void {
  for (const name of ['one', 'versions', 'builds'])
    queryClient.removeQueries({ queryKey: ['environments', name, slug] });
  void queryClient.invalidateQueries({ queryKey: environmentsQuery.queryKey });
  // Its name stands in these.
  void queryClient.invalidateQueries({ queryKey: ['projects'] });
}
