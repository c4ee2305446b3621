// GitLab: git and /api/v4 of one origin (docs.gitlab.com/api/rest).
import {
  type ApiAnswer,
  type ApiRequest,
  CodeHost,
  commitOf,
  type Credential,
  pageOf,
  type PullRequestRow,
  type RepositoryRow,
} from './code-host.js';

const LEVELS = { read: 20, write: 30 } as const;
const NOT_FOUND = refusal(404, '404 Project Not Found');

export class FakeGitLab extends CodeHost {
  private constructor(token: string, account: string) {
    super('gitlab', token, account, '/api/v4');
  }

  static start(token: string, account = 'acme', port = 0): Promise<FakeGitLab> {
    return new FakeGitLab(token, account).listen(port);
  }

  protected tooMany(): ApiAnswer {
    return { status: 429, body: 'Retry later\n', headers: { 'retry-after': String(this.retryAfterSeconds) } };
  }

  protected answer(request: ApiRequest): ApiAnswer {
    const { token, path, method } = request;
    const credential = this.credential(token);
    if (token !== null && credential === null) return refusal(401, '401 Unauthorized');
    if (path === '/user') {
      if (credential === null) return refusal(401, '401 Unauthorized');
      return { status: 200, body: this.user(credential.account) };
    }
    if (path === '/projects') return this.projects(request, credential);
    const [, id = '', more = ''] = /^\/projects\/([^/]+)(?:\/(.*))?$/.exec(path) ?? [];
    const at = decodeURIComponent(id);
    const moved = this.renamed.get(at);
    if (moved !== undefined) {
      const location = `${this.apiUrl}/projects/${encodeURIComponent(moved)}`;
      return { ...refusal(301, '301 Moved Permanently'), headers: { location } };
    }
    const row = /^\d+$/.test(at) ? this.repositories.find((one) => one.id === Number(at)) : this.at(at);
    const may = row === undefined ? null : this.may(credential, row);
    if (row === undefined || may === null) return NOT_FOUND;
    if (method === 'GET') return this.read(request, row, credential, more);
    if (method !== 'POST' || more !== 'merge_requests') return refusal(404, '404 Not Found');
    return may === 'write' ? this.open(request, row) : refusal(403, '403 Forbidden');
  }

  private projects({ query, path }: ApiRequest, credential: Credential | null): ApiAnswer {
    const [search, level] = [(query.get('search') ?? '').toLowerCase(), Number(query.get('min_access_level'))];
    const all = this.repositories.filter((row) => {
      const may = this.may(credential, row);
      const member = credential !== null && row.members[credential.account] !== undefined;
      return (
        may !== null &&
        (member || query.get('membership') !== 'true') &&
        (!level || (member && LEVELS[may] >= level)) &&
        row.path.toLowerCase().includes(search)
      );
    });
    const by = query.get('order_by') ?? 'created_at';
    const up = query.get('sort') === 'asc';
    const keyOf = (row: RepositoryRow) => (by === 'last_activity_at' ? (row.pushedAt ?? '') : row.id);
    const sorted = all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1) * (up ? 1 : -1));
    const show = (row: RepositoryRow) => this.shown(row, credential);
    if (query.get('pagination') !== 'keyset') return this.paged(path, query, sorted, show);
    // Only by id, and the next page has no number.
    if (by !== 'id') return refusal(405, '405 Method Not Allowed');
    const after = Number(query.get('id_after') ?? query.get('id_before') ?? (up ? 0 : Infinity));
    const left = sorted.filter(({ id }) => (up ? id > after : id < after));
    const size = Math.min(100, Number(query.get('per_page')) || 20);
    const rows = left.slice(0, size);
    const other = new URLSearchParams(query);
    other.set(up ? 'id_after' : 'id_before', String(rows.at(-1)?.id));
    const headers = { link: `<${this.apiUrl}${path}?${other.toString()}>; rel="next"` };
    return { status: 200, body: rows.map(show), ...(left.length > size ? { headers } : {}) };
  }

  private read(
    { query, path }: ApiRequest,
    row: RepositoryRow,
    credential: Credential | null,
    more: string,
  ): ApiAnswer {
    if (more === '') return { status: 200, body: this.shown(row, credential) };
    const show = ([name, id]: [string, string]) => ({
      name,
      commit: { id, short_id: id.slice(0, 8) },
      ...{ default: name === row.defaultBranch, protected: false, merged: false },
      can_push: this.may(credential, row) === 'write',
    });
    const branches = this.branches(row);
    if (more === 'repository/branches') {
      return this.paged(
        path,
        query,
        branches.filter(([name]) => searched(name, query.get('search') ?? '')),
        show,
      );
    }
    const [, one] = /^repository\/branches\/(.+)$/.exec(more) ?? [];
    if (one !== undefined) {
      const found = branches.find(([name]) => name === decodeURIComponent(one));
      return found === undefined ? refusal(404, '404 Branch Not Found') : { status: 200, body: show(found) };
    }
    const requests = this.pullRequests.filter((request) => request.path === row.path);
    if (more === 'merge_requests') {
      const [branch, state] = [query.get('source_branch'), query.get('state') ?? 'all'];
      const asked = requests.filter(
        (request) => (state === 'all' || stateOf(request) === state) && (branch === null || request.branch === branch),
      );
      return this.paged(path, query, asked, (request) => this.request(request, row));
    }
    const request = requests.find(({ number }) => more === `merge_requests/${number}`);
    return request === undefined ? refusal(404, '404 Not found') : { status: 200, body: this.request(request, row) };
  }

  private open({ body }: ApiRequest, row: RepositoryRow): ApiAnswer {
    const [branch, base] = [String(body['source_branch']), String(body['target_branch'])];
    const { path } = row;
    if (this.pullRequests.some((one) => one.path === path && one.state === 'open' && one.branch === branch)) {
      return refusal(409, ['Another open merge request already exists for this source branch']);
    }
    const draft = String(body['title']).startsWith('Draft: ');
    const about = { title: String(body['title']).replace('Draft: ', ''), body: String(body['description']), draft };
    const made = { path, number: this.pullRequests.length + 1, branch, base, ...about, state: 'open' as const };
    this.pullRequests.push(made);
    return { status: 201, body: this.request(made, row) };
  }

  private paged<T>(path: string, query: URLSearchParams, all: readonly T[], show: (row: T) => object): ApiAnswer {
    const { rows, page, pages, size, next } = pageOf(all, query, 20);
    const other = new URLSearchParams(query);
    other.set('page', String(next));
    const headers = {
      ...{ 'x-page': String(page), 'x-per-page': String(size), 'x-next-page': String(next ?? '') },
      ...{ 'x-total': String(all.length), 'x-total-pages': String(pages) },
      ...(next === null ? {} : { link: `<${this.apiUrl}${path}?${other.toString()}>; rel="next"` }),
    };
    return { status: 200, body: rows.map(show), headers };
  }

  private shown(row: RepositoryRow, credential: Credential | null): object {
    const name = row.path.split('/').at(-1);
    const member = credential === null ? undefined : row.members[credential.account];
    const level = member === undefined ? null : { access_level: LEVELS[member], notification_level: 3 };
    const urls = { web_url: `${this.origin}/${row.path}`, http_url_to_repo: this.url(row.path) };
    const about = { id: row.id, name, path: name, path_with_namespace: row.path, archived: row.archived };
    const more = { default_branch: row.defaultBranch, last_activity_at: row.pushedAt };
    const permissions = { project_access: level, group_access: null };
    const visibility = row.private ? 'private' : 'public';
    return { ...about, ...urls, ...more, visibility, ...(credential === null ? {} : { permissions }) };
  }

  private request(request: PullRequestRow, { id, path }: RepositoryRow): object {
    const { number: iid, branch, base, title, draft, body: description } = request;
    const web_url = `${this.origin}/${path}/-/merge_requests/${iid}`;
    const projects = { project_id: id, source_project_id: id, target_project_id: id };
    const refs = { source_branch: branch, target_branch: base, sha: commitOf(branch) };
    return { id: iid, iid, state: stateOf(request), draft, title, description, web_url, ...refs, ...projects };
  }

  private user(username: string): object {
    return { id: Number.parseInt(commitOf(username).slice(0, 6), 16), username, name: username, state: 'active' };
  }
}

function stateOf({ state }: PullRequestRow): string {
  return state === 'open' ? 'opened' : state;
}

/** `^` binds the search to the beginning of the name, `$` to its end. */
function searched(name: string, search: string): boolean {
  const text = search.replace(/^\^|\$$/g, '').toLowerCase();
  const at = name.toLowerCase();
  if (search.startsWith('^') && !at.startsWith(text)) return false;
  return search.endsWith('$') ? at.endsWith(text) : at.includes(text);
}

function refusal(status: number, message: unknown): ApiAnswer {
  return { status, body: { message } };
}
