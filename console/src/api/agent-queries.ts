// Agents, their versions, and what their tasks came to.
import { queryOptions } from '@tanstack/react-query';
import { api, type Agent } from './client.ts';
import { all, queryClient } from './queries.ts';

/** With those that are archived. */
export const agentsQuery = queryOptions({
  queryKey: ['agents', 'list'],
  queryFn: ({ signal }) => all(api.agents.list({ archived: 'all', limit: 100 }, { signal })),
});

export const agentQuery = (slug: string) =>
  queryOptions<Agent>({
    queryKey: ['agents', 'one', slug],
    queryFn: ({ signal }) => api.agents.get(slug, { signal }),
    placeholderData: () => queryClient.getQueryData(agentsQuery.queryKey)?.find((one) => one.slug === slug),
    staleTime: 0,
  });

export const agentVersionsQuery = (slug: string) =>
  queryOptions({
    queryKey: ['agents', 'versions', slug],
    queryFn: ({ signal }) => all(api.agents.versions(slug, { limit: 100 }, { signal })),
  });

export const agentStatsQuery = (slug: string) =>
  queryOptions({
    queryKey: ['agents', 'stats', slug],
    queryFn: ({ signal }) => api.agents.stats(slug, {}, { signal }),
    staleTime: 0,
  });

/** A changed agent, in place of what was read before. */
export function changedAgent(agent: Agent): void {
  queryClient.setQueryData(agentQuery(agent.slug).queryKey, agent);
  for (const name of ['list', 'versions', 'stats']) void queryClient.invalidateQueries({ queryKey: ['agents', name] });
}

const LOOK_MS = 3_000;

/** It is read again until the last of its tasks has ended. */
export const evaluationQuery = (id: string) =>
  queryOptions({
    queryKey: ['agents', 'evaluation', id],
    queryFn: ({ signal }) => api.agents.evaluation(id, { signal }),
    staleTime: 0,
    refetchInterval: ({ state: { data } }) => (data?.status === 'running' ? LOOK_MS : false),
  });
