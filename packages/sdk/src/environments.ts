import type { List } from './list.js';
import { Collection } from './resources.js';
import type { CallOptions } from './transport.js';
import type {
  ChangeEnvironment,
  CreateEnvironment,
  Environment,
  EnvironmentBuild,
  EnvironmentTest,
  EnvironmentVersion,
} from './types.js';

/** Beside the client's own time: a command may take a minute, and a worker has to come to it. Milliseconds. */
const TEST_MS = 110_000;

/** Named descriptions of the box that tasks work in (reference §25), each by its slug. */
export class Environments extends Collection {
  protected readonly root = '/v1/environments';

  create(body: CreateEnvironment, options?: CallOptions): Promise<Environment> {
    return this.one('environment', { method: 'POST', path: this.root, body, keyed: true, ...options });
  }
  get(slug: string, options?: CallOptions): Promise<Environment> {
    return this.one('environment', { method: 'GET', path: this.path(slug), ...options });
  }
  /** Another definition is the next version. */
  update(slug: string, body: ChangeEnvironment, options?: CallOptions): Promise<Environment> {
    return this.one('environment', { method: 'PATCH', path: this.path(slug), body, ...options });
  }
  /** Newest first. */
  list(query?: { limit?: number }, options?: CallOptions): List<Environment> {
    return this.all(this.root, 'environments', query, options);
  }
  /** Newest first. */
  versions(slug: string, query?: { limit?: number }, options?: CallOptions): List<EnvironmentVersion> {
    return this.all(this.path(slug, '/versions'), 'versions', query, options);
  }
  version(slug: string, version: number, options?: CallOptions): Promise<EnvironmentVersion> {
    return this.one('version', { method: 'GET', path: this.path(slug, `/versions/${version}`), ...options });
  }
  /** Newest first, each with the last of what its commands wrote. */
  builds(slug: string, query?: { limit?: number }, options?: CallOptions): List<EnvironmentBuild> {
    return this.all(this.path(slug, '/builds'), 'builds', query, options);
  }
  /** Begins to build the newest version; one that is being made already is that one. */
  build(slug: string, options?: CallOptions): Promise<EnvironmentBuild> {
    return this.one('build', this.post(slug, '/build', options));
  }
  /** Runs one command in a copy of the last build of the newest version, and waits for its end. */
  test(slug: string, command: string, options?: CallOptions): Promise<EnvironmentTest> {
    return this.transport.json({ ...this.post(slug, '/test', options), body: { command }, moreTime: TEST_MS });
  }
}
