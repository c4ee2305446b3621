// What the pages of automations and integrations read. Events of the workspace make `['automations', …]` stale (`api/live.ts`).
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, type Automation, type AutomationRun } from './client.ts';
import { automationsQuery, queryClient } from './queries.ts';

export const automationQuery = (id: string) =>
  queryOptions<Automation>({
    queryKey: ['automations', 'one', id],
    queryFn: ({ signal }) => api.automations.get(id, { signal }),
    // While it is read again the list's entry is shown.
    placeholderData: () =>
      queryClient.getQueryData(automationsQuery.queryKey)?.find((automation) => automation.id === id),
  });

export const runsQuery = (automationId: string) =>
  infiniteQueryOptions({
    queryKey: ['automations', 'runs', automationId],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => api.automations.runs(automationId, { limit: 50 }, { signal }).page(pageParam),
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** The tasks that an automation has made, the newest hundred: their status stands beside the runs. */
export const tasksOfAutomationQuery = (automationId: string) =>
  queryOptions({
    queryKey: ['tasks', 'of-automation', automationId],
    queryFn: async ({ signal }) =>
      (await api.tasks.list({ automationId, archived: 'all', limit: 100 }, { signal }).page()).items,
  });

/** A changed automation, in place of what was read before; the list is read again. */
export function changed(automation: Automation): void {
  queryClient.setQueryData(automationQuery(automation.id).queryKey, automation);
  void queryClient.invalidateQueries({ queryKey: automationsQuery.queryKey });
}

export const integrationsQuery = queryOptions({
  queryKey: ['integrations'],
  queryFn: ({ signal }) => api.integrations.list({ signal }),
});

/** One's own, and for owners and admins the workspace's. */
export const connectionsQuery = (slug: string) =>
  queryOptions({
    queryKey: ['integrations', 'connections', slug],
    queryFn: ({ signal }) => api.integrations.connections(slug, { signal }),
  });

export const integrationDeliveriesQuery = (slug: string) =>
  queryOptions({
    queryKey: ['integration-deliveries', slug],
    queryFn: ({ signal }) => api.integrations.deliveries(slug, { signal }),
    // There is no event for new ones.
    staleTime: 0,
  });

export interface RunOfAutomation {
  run: AutomationRun;
  automation: Automation;
}

/** The last runs of the automations that wait for events of an integration, by their id. */
export const runsOfIntegrationQuery = (slug: string) =>
  queryOptions({
    queryKey: ['automations', 'runs-of', slug],
    queryFn: async ({ signal }): Promise<Map<string, RunOfAutomation>> => {
      const automations = await queryClient.ensureQueryData(automationsQuery);
      const bound = automations.filter(({ triggerEvent }) => triggerEvent?.startsWith(`${slug}.`) === true);
      const pages = bound.map(async (automation) => {
        const { items } = await api.automations.runs(automation.id, { limit: 100 }, { signal }).page();
        return items.map((run) => [run.id, { run, automation }] as const);
      });
      return new Map((await Promise.all(pages)).flat());
    },
  });
