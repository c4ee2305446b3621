import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { HostReader } from '../../engine/repositories/host-reader.js';
import type { HostReads } from '../../engine/repositories/hosting/host-client.js';
import { HostError } from '../../engine/repositories/hosting/host-error.js';
import type { RepositoryAccess } from '../../engine/repositories/repository-access.js';
import { pathAt, RepositoryRules } from '../../engine/repositories/repository-rules.js';
import { Database } from '../../platform/database/database.js';
import { ApiError } from '../../platform/http/api-error.js';
import type { PageRequest } from '../../platform/http/pages.js';
import { type Fill, HostLists, type Known } from './host-lists.js';
import type { ListBranchesQuery } from './repository-list.dto.js';
import type { BranchView } from './repository-list.view.js';

/** Pages of a host, of a hundred rows each: what has more is searched by the host. */
const MAX_PAGES = 10;

@Injectable()
export class BranchListService {
  constructor(
    private readonly database: Database,
    private readonly hosts: HostReader,
    private readonly lists: HostLists,
    private readonly rules: RepositoryRules,
  ) {}

  /** Throws 400 for what is no https URL of a repository, and 404 when its host has none that the workspace may read. */
  async list(auth: AuthContext, page: PageRequest<ListBranchesQuery>) {
    const { q = null, refresh } = page.query;
    const url = await this.checked(page.query.url);
    const access = await this.rules.access(this.database.read, url, auth.workspace.slug);
    const { rows, whole, failure } = await this.known(auth, access, url, q, refresh === 'true' && page.after === null);
    if (failure !== null && rows.length === 0 && !['unreachable', 'unreadable', 'limited'].includes(failure.code)) {
      throw new ApiError('not_found', `${url.host} has no repository ${pathAt(url)} that this workspace may read.`);
    }
    const text = q?.toLowerCase() ?? '';
    const found = new Map(rows.map((row) => [row.name, row]));
    const sorted = [...found.values()]
      .filter(({ name }) => name.toLowerCase().includes(text))
      .sort((a, b) => order(placeOf(a), placeOf(b)));
    const [after] = page.after ?? [];
    const left = after === undefined ? sorted : sorted.filter((row) => placeOf(row) > after);
    return { ...page.cut(left, (row) => [placeOf(row)]), partial: !whole };
  }

  private async checked(text: string): Promise<URL> {
    try {
      const { type, url } = await this.rules.source(text);
      if (type === 'https') return url;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new ApiError('invalid_query', error.message.replace('repository.url', 'url'), { param: 'url' });
    }
    throw new ApiError('invalid_query', 'url must begin with https://.', { param: 'url' });
  }

  private async known(
    auth: AuthContext,
    access: RepositoryAccess | null,
    url: URL,
    q: string | null,
    refresh: boolean,
  ): Promise<Known<BranchView>> {
    const { id, slug } = auth.workspace;
    const path = pathAt(url);
    const key = JSON.stringify([access?.connectionId ?? null, access?.credential, url.host, path]);
    if (access === null || access.hosting === null) {
      return this.lists.read<BranchView>(id, key, refresh, async (add, signal) => {
        const { branches, defaultBranch, whole } = await this.hosts.branches(access, slug, url, signal);
        add(branches.map((one) => ({ ...one, default: one.name === defaultBranch })));
        return whole;
      });
    }
    const ask = <T>(signal: AbortSignal, read: (reads: HostReads) => Promise<T>) =>
      this.hosts.ask(access, slug, path, signal, read);
    const fill: Fill<BranchView> = async (add, signal) => {
      const { defaultBranch } = await ask(signal, (reads) => reads.repository(path));
      // The first of the list, whatever number of others there is.
      if (defaultBranch !== null) add(await ask(signal, (reads) => defaultOf(reads, path, defaultBranch)));
      for (let n = 1; n <= MAX_PAGES; n++) {
        const { rows, more } = await ask(signal, (reads) => reads.branches(path, n));
        add(rows.filter(({ name }) => name !== defaultBranch).map((one) => ({ ...one, default: false })));
        if (!more) return true;
      }
      return false;
    };
    const listed = await this.lists.read(id, key, refresh, fill);
    if (q === null || listed.whole || listed.failure !== null) return listed;
    const found = await this.lists.read<BranchView>(id, `${key}${q}`, refresh, async (add, signal) => {
      const { rows, more } = await ask(signal, (reads) => reads.searchBranches(path, q));
      add(rows.map((one) => ({ ...one, default: false })));
      return !more;
    });
    // What the list says of a branch counts: it knows the default one.
    return { ...found, rows: [...found.rows, ...listed.rows] };
  }
}

/** A repository without a commit has the name of a default branch, and no branch. */
async function defaultOf(reads: HostReads, path: string, name: string): Promise<BranchView[]> {
  try {
    return [{ ...(await reads.branch(path, name)), default: true }];
  } catch (error) {
    if (error instanceof HostError && error.code === 'not_found') return [];
    throw error;
  }
}

/** The default branch first. */
function placeOf({ name, default: first }: BranchView): string {
  return `${first ? 0 : 1}${name}`;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
