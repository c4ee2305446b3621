import type { List } from './list.js';
import { Collection } from './resources.js';
import type { CallOptions } from './transport.js';
import type { Agent, AgentStats, AgentVersion, ChangeAgent, CreateAgent, Evaluate, Evaluation } from './types.js';

/** Named ways of working, which tasks and automations take (reference §27.5), each by its slug. None of them is ever deleted. */
export class Agents extends Collection {
  protected readonly root = '/v1/agents';

  create(body: CreateAgent, options?: CallOptions): Promise<Agent> {
    return this.one('agent', { method: 'POST', path: this.root, body, keyed: true, ...options });
  }
  get(slug: string, options?: CallOptions): Promise<Agent> {
    return this.one('agent', { method: 'GET', path: this.path(slug), ...options });
  }
  /** `version` is the newest one as the caller knows it. Another definition is the next version; `archived: true` puts the agent away. */
  update(slug: string, body: ChangeAgent, options?: CallOptions): Promise<Agent> {
    return this.one('agent', { method: 'PATCH', path: this.path(slug), body, keyed: true, ...options });
  }
  /** Newest first; without `archived` those that are not archived. */
  list(query?: { archived?: 'true' | 'false' | 'all'; limit?: number }, options?: CallOptions): List<Agent> {
    return this.all(this.root, 'agents', query, options);
  }
  /** Newest first. */
  versions(slug: string, query?: { limit?: number }, options?: CallOptions): List<AgentVersion> {
    return this.all(this.path(slug, '/versions'), 'versions', query, options);
  }
  version(slug: string, version: number, options?: CallOptions): Promise<AgentVersion> {
    return this.one('version', { method: 'GET', path: this.path(slug, `/versions/${version}`), ...options });
  }
  /** Does the same work in several versions: a task for each case in each of them. */
  evaluate(slug: string, body: Evaluate, options?: CallOptions): Promise<Evaluation> {
    return this.one('evaluation', {
      method: 'POST',
      path: this.path(slug, '/evaluate'),
      body,
      keyed: true,
      ...options,
    });
  }
  evaluation(id: string, options?: CallOptions): Promise<Evaluation> {
    return this.one('evaluation', { method: 'GET', path: `/v1/evaluations/${encodeURIComponent(id)}`, ...options });
  }
  /** What the tasks of each version came to that were made in a period, 30 days without one. */
  stats(slug: string, query: { from?: string; to?: string } = {}, options?: CallOptions): Promise<AgentStats> {
    return this.transport.json({ method: 'GET', path: this.path(slug, '/stats'), query, ...options });
  }
}
