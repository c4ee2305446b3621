import type { List } from './list.js';
import { Collection } from './resources.js';
import type { CallOptions } from './transport.js';
import type { ChangeSecret, CreateSecret, Secret } from './types.js';

/** Values that tasks use and never see (reference §24). No answer has a value. */
export class Secrets extends Collection {
  protected readonly root = '/v1/secrets';

  create(body: CreateSecret, options?: CallOptions): Promise<Secret> {
    return this.one('secret', { method: 'POST', path: this.root, body, ...options });
  }
  get(id: string, options?: CallOptions): Promise<Secret> {
    return this.one('secret', { method: 'GET', path: this.path(id), ...options });
  }
  /** Another value, or other bindings, count from the next request of a task on. */
  update(id: string, body: ChangeSecret, options?: CallOptions): Promise<Secret> {
    return this.one('secret', { method: 'PATCH', path: this.path(id), body, ...options });
  }
  /** Newest first. */
  list(query?: { limit?: number }, options?: CallOptions): List<Secret> {
    return this.all(this.root, 'secrets', query, options);
  }
}
