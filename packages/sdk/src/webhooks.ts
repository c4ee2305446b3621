import type { List } from './list.js';
import { Collection, segment } from './resources.js';
import type { CallOptions } from './transport.js';
import type { ChangeWebhook, CreateWebhook, Webhook, WebhookDelivery, WholeWebhookDelivery } from './types.js';
import { unwrap } from './unwrap.js';

export class Webhooks extends Collection {
  protected readonly root = '/v1/webhooks';

  /** The secret is shown here and by {@link rotateSecret} alone. */
  create(body: CreateWebhook, options?: CallOptions): Promise<{ webhook: Webhook; secret: string }> {
    return this.transport.json({ method: 'POST', path: this.root, body, ...options });
  }
  get(id: string, options?: CallOptions): Promise<Webhook> {
    return this.one('webhook', { method: 'GET', path: this.path(id), ...options });
  }
  update(id: string, body: ChangeWebhook, options?: CallOptions): Promise<Webhook> {
    return this.one('webhook', { method: 'PATCH', path: this.path(id), body, ...options });
  }
  list(query?: { limit?: number }, options?: CallOptions): List<Webhook> {
    return this.all(this.root, 'webhooks', query, options);
  }
  rotateSecret(
    id: string,
    body: { overlapSeconds?: number } = {},
    options?: CallOptions,
  ): Promise<{ webhook: Webhook; secret: string }> {
    return this.transport.json({ ...this.post(id, '/secret', options), body });
  }
  /** Sends `webhook.test`, once. */
  test(id: string, options?: CallOptions): Promise<WebhookDelivery> {
    return this.one('delivery', this.post(id, '/test', options));
  }
  /** Sends again what was not delivered since then; resolves with how many events that are. */
  recover(id: string, body: { since: string; types?: string[] }, options?: CallOptions): Promise<number> {
    return this.one('count', { ...this.post(id, '/recover', options), body });
  }
  deliveries(
    id: string,
    query?: { status?: string; type?: string; taskId?: string; limit?: number },
    options?: CallOptions,
  ): List<WebhookDelivery> {
    return this.all(this.path(id, '/deliveries'), 'deliveries', query, options);
  }
  delivery(id: string, deliveryId: string, options?: CallOptions): Promise<WholeWebhookDelivery> {
    return this.one('delivery', {
      method: 'GET',
      path: this.path(id, `/deliveries/${segment(deliveryId)}`),
      ...options,
    });
  }
  redeliver(id: string, deliveryId: string, options?: CallOptions): Promise<WebhookDelivery> {
    return this.one('delivery', this.post(id, `/deliveries/${segment(deliveryId)}/redeliver`, options));
  }
  /** {@link unwrap}, which needs no client. */
  readonly unwrap = unwrap;
}
