// What a workspace has used, and the keys of who is signed in.
import { queryOptions } from '@tanstack/react-query';
import { api, failureOf, observed } from './client.ts';

export type UsageGroup = 'day' | 'model' | 'project' | 'user' | 'automation';

/** From a day of UTC until now. Below the name of the summary: when a task ends, both are read anew. */
export const usageQuery = (from: string, groupBy: UsageGroup) =>
  queryOptions({
    queryKey: ['billing', 'usage', from, groupBy],
    queryFn: ({ signal }) => api.billing.usage({ from, groupBy }, { signal }),
  });

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => api.keys.list({ signal }),
});

export const noticesQuery = queryOptions({
  queryKey: ['notices'],
  queryFn: ({ signal }) => api.notices.get({ signal }),
});

export const serviceKeysQuery = (accountId: string) =>
  queryOptions({
    queryKey: ['service-keys', accountId],
    queryFn: ({ signal }) => api.serviceAccounts.keys(accountId, { signal }),
  });

interface Bucket {
  capacity: number;
  windowSeconds: number;
}
interface PlanLimits {
  global: Bucket;
  policies: Record<string, Bucket>;
}

export interface RateLimits {
  free: PlanLimits;
  paid: PlanLimits;
}

/** What everybody may read: it is no part of the API of a workspace, so the SDK does not have it. */
export const rateLimitsQuery = queryOptions({
  queryKey: ['rate-limits'],
  queryFn: async ({ signal }): Promise<RateLimits> => {
    const response = await observed('/developer-api/rate-limits', { signal });
    if (!response.ok) throw await failureOf(response);
    return (await response.json()) as RateLimits;
  },
  staleTime: Infinity,
});
