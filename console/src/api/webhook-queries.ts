// What the pages of webhooks read.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, type Webhook, type WebhookDelivery } from './client.ts';
import { all, queryClient } from './queries.ts';

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks', 'list'],
  queryFn: ({ signal }) => all(api.webhooks.list({ limit: 100 }, { signal })),
});

export const webhookQuery = (id: string) =>
  queryOptions<Webhook>({
    queryKey: ['webhooks', 'one', id],
    queryFn: ({ signal }) => api.webhooks.get(id, { signal }),
    placeholderData: () => queryClient.getQueryData(webhooksQuery.queryKey)?.find((webhook) => webhook.id === id),
    // Deliveries change it, and there is no event for them.
    staleTime: 0,
  });

export interface DeliveryFilter {
  status?: string;
  type?: string;
  taskId?: string;
}

export const deliveriesQuery = (webhookId: string, filter: DeliveryFilter) =>
  infiniteQueryOptions({
    queryKey: ['webhooks', 'deliveries', webhookId, filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      api.webhooks.deliveries(webhookId, { ...filter, limit: 50 }, { signal }).page(pageParam),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: 0,
  });

/** Another attempt makes it another one. */
export const deliveryQuery = (webhookId: string, { id, status, attempts }: WebhookDelivery) =>
  queryOptions({
    queryKey: ['webhooks', 'delivery', webhookId, id, status, attempts],
    queryFn: ({ signal }) => api.webhooks.delivery(webhookId, id, { signal }),
  });

/** A changed webhook, in place of what was read before; the list is read again. */
export function changed(webhook: Webhook): void {
  queryClient.setQueryData(webhookQuery(webhook.id).queryKey, webhook);
  void queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
}

/** What deliveries change: the list of them, and the webhook. */
export function readAnew(webhookId: string): void {
  for (const name of ['one', 'deliveries']) {
    void queryClient.invalidateQueries({ queryKey: ['webhooks', name, webhookId] });
  }
}
