// Repositories of a workspace, and its connections to their hosts (reference §15).
import type { List } from './list.js';
import { Collection, Resource } from './resources.js';
import type { CallOptions } from './transport.js';
import type {
  ChangeRepositoryConnection,
  CreateRepositoryConnection,
  Repository,
  RepositoryBranch,
  RepositoryConnection,
} from './types.js';

export class Repositories extends Resource {
  /** What the workspace may use, last used ones first. */
  list(
    query?: { q?: string; host?: string; refresh?: boolean; limit?: number },
    options?: CallOptions,
  ): List<Repository> {
    return this.all('/v1/repositories', 'repositories', query, options);
  }
  /** Of the repository at a URL, the default branch first. */
  branches(
    url: string,
    query: { q?: string; refresh?: boolean; limit?: number } = {},
    options?: CallOptions,
  ): List<RepositoryBranch> {
    return this.all('/v1/repositories/branches', 'branches', { url, ...query }, options);
  }
}

export class RepositoryConnections extends Collection {
  protected readonly root = '/v1/repository-connections';

  /** With a token, or with a GitHub App. The host is not asked; {@link test} does that. */
  create(body: CreateRepositoryConnection, options?: CallOptions): Promise<RepositoryConnection> {
    return this.one('connection', { method: 'POST', path: this.root, body, ...options });
  }
  get(id: string, options?: CallOptions): Promise<RepositoryConnection> {
    return this.one('connection', { method: 'GET', path: this.path(id), ...options });
  }
  update(id: string, body: ChangeRepositoryConnection, options?: CallOptions): Promise<RepositoryConnection> {
    return this.one('connection', { method: 'PATCH', path: this.path(id), body, ...options });
  }
  /** Newest first. */
  list(query?: { limit?: number }, options?: CallOptions): List<RepositoryConnection> {
    return this.all(this.root, 'connections', query, options);
  }
  /** Asks the host who the credential is. A refusal is no error: `status` and `lastError` say it. */
  test(id: string, options?: CallOptions): Promise<RepositoryConnection> {
    return this.one('connection', this.post(id, '/test', options));
  }
}
