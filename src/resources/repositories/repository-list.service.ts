import { Injectable } from '@nestjs/common';
import type { AuthContext } from '../../access/auth/auth-context.js';
import { HostReader } from '../../engine/repositories/host-reader.js';
import type { HostReads, HostRepository } from '../../engine/repositories/hosting/host-client.js';
import { allows, type RepositoryAccess } from '../../engine/repositories/repository-access.js';
import { pathAt, RepositoryRules } from '../../engine/repositories/repository-rules.js';
import { Database } from '../../platform/database/database.js';
import type { PageRequest } from '../../platform/http/pages.js';
import { type Fill, HostLists, type Known } from './host-lists.js';
import type { ListRepositoriesQuery } from './repository-list.dto.js';
import { LAST_USED } from './repository-list.sql.js';
import type { RepositoryView } from './repository-list.view.js';

/** Pages of a host, of a hundred rows each: what has more is searched by the host. */
const MAX_PAGES = 10;
/** So long paths are compared with patterns, which tenants write; the rest is left out, and `partial`. */
const COMPARE_MS = 200;
/** GitHub takes 256 characters. */
const MAX_OWNERS = 4;

interface Row extends RepositoryView {
  usedAt: Date | null;
}

@Injectable()
export class RepositoryListService {
  constructor(
    private readonly database: Database,
    private readonly hosts: HostReader,
    private readonly lists: HostLists,
    private readonly rules: RepositoryRules,
  ) {}

  async list(auth: AuthContext, page: PageRequest<ListRepositoriesQuery>) {
    const { q = null, host, refresh } = page.query;
    const all = await this.rules.accesses(this.database.read, auth.workspace.slug);
    // What is before an access in the list of all has the repository, when both are for it.
    const accesses = all.filter((access) => host === undefined || access.host === host);
    const now = refresh === 'true' && page.after === null;
    const [used, ...known] = await Promise.all([
      this.database.read.run(LAST_USED({ auth })),
      ...accesses.map((access) => this.known(auth, access, q, now)),
    ]);
    const usedAt = new Map(used.map((one) => [keyOf(one.url), one.usedAt]));
    const end = performance.now() + COMPARE_MS;
    let late = false;
    const rows = accesses.flatMap((access, n) => {
      const mine = (path: string) => {
        late ||= performance.now() > end;
        return !late && accesses.find((one) => isFor(one, access.host, path)) === access;
      };
      const found = (known[n]?.rows ?? []).filter(({ path }) => mine(path)).map((one) => shown(access, one));
      // Of a host that cannot say what there is, what tasks work on is known.
      const more = known[n]?.whole === true ? [] : used.flatMap(({ url }) => usedOf(access, url));
      return [...found, ...more.filter(({ path }) => mine(path)).map((one) => shown(access, one))];
    });
    const text = q?.toLowerCase() ?? '';
    const kept = new Map<string, Row>();
    for (const row of rows) {
      const key = keyOf(row.url);
      if (kept.has(key) || !row.name.toLowerCase().includes(text)) continue;
      kept.set(key, { ...row, usedAt: usedAt.get(key) ?? null });
    }
    const sorted = [...kept.values()].sort((a, b) => compared(placeOf(a), placeOf(b)));
    const after = page.after;
    const left = after === null ? sorted : sorted.filter((row) => compared(placeOf(row), after) > 0);
    const { rows: cut, nextCursor } = page.cut(left, placeOf);
    const partial = late || accesses.some(({ hosting }, n) => hosting !== null && known[n]?.whole !== true);
    return { rows: cut.map(({ usedAt: _usedAt, ...view }) => view), nextCursor, partial };
  }

  private async known(
    auth: AuthContext,
    access: RepositoryAccess,
    q: string | null,
    refresh: boolean,
  ): Promise<Known<HostRepository>> {
    const { hosting, connectionId, credential, host, paths } = access;
    if (hosting === null) {
      const rows = paths.filter((path) => !path.includes('*')).map(unknown);
      return { rows, whole: false, failure: null };
    }
    const { id, slug } = auth.workspace;
    const key = JSON.stringify([connectionId ?? host, credential]);
    const fill: Fill<HostRepository> = async (add, signal) => {
      for (let n = 1; n <= MAX_PAGES; n++) {
        const { rows, more } = await this.hosts.ask(access, slug, null, signal, (reads) => reads.repositories(n));
        add(rows);
        if (!more) return true;
      }
      return false;
    };
    const listed = await this.lists.read(id, key, refresh, fill);
    if (q === null || listed.whole || listed.failure !== null) return listed;
    const owners = ownersOf(paths);
    if (hosting.kind === 'github' && owners === null) return listed;
    const found = await this.lists.read<HostRepository>(
      id,
      `${key}${q.toLowerCase()}`,
      refresh,
      async (add, signal) => {
        const ask = (reads: HostReads) => reads.search(q, owners ?? []);
        const { rows, more } = await this.hosts.ask(access, slug, null, signal, ask);
        add(rows);
        return !more;
      },
    );
    return { ...found, rows: [...listed.rows, ...found.rows] };
  }
}

/** The first names of paths; null when they are not known, or too many. */
function ownersOf(paths: readonly string[]): string[] | null {
  const owners = [...new Set(paths.map((path) => path.split('/')[0] ?? ''))];
  return owners.length > MAX_OWNERS || owners.some((owner) => owner === '' || owner.includes('*')) ? null : owners;
}

function isFor({ host, paths }: RepositoryAccess, at: string, path: string): boolean {
  return host === at && allows(paths, path);
}

function unknown(path: string): HostRepository {
  return { path, private: null, defaultBranch: null, mayPush: true, pushedAt: null };
}

/** What a task works on, when it lies at the host of an access. */
function usedOf({ host }: RepositoryAccess, text: string): HostRepository[] {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url?.protocol === 'https:' && url.host === host ? [unknown(pathAt(url))] : [];
}

function shown({ host, push }: RepositoryAccess, row: HostRepository): Row {
  const { path, defaultBranch, mayPush, pushedAt } = row;
  const url = `https://${host}/${path}.git`;
  return {
    url,
    name: path,
    private: row.private,
    defaultBranch,
    pushable: mayPush && push.length > 0,
    pushedAt,
    usedAt: null,
  };
}

/** One for all spellings of an address. */
function keyOf(url: string): string {
  return url
    .replace(/\/$/, '')
    .replace(/\.git$/, '')
    .toLowerCase();
}

/** Times sort as their text does; what has none comes last. */
function placeOf({ usedAt, pushedAt, url }: Row): [string, string, string] {
  return [usedAt?.toISOString() ?? '', pushedAt ?? '', url];
}

/** The later first, then by address. */
function compared(a: readonly string[], b: readonly string[]): number {
  const [[used = '', pushed = '', url = ''], [otherUsed = '', otherPushed = '', otherUrl = '']] = [a, b];
  return order(otherUsed, used) || order(otherPushed, pushed) || order(url, otherUrl);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
