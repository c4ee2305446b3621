// GitHub as GitHub Enterprise Server shows it: git and /api/v3 of one origin (docs.github.com/en/rest).
import { type KeyObject, randomBytes, verify } from 'node:crypto';
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

/** An App and where it is installed. */
export interface GitHubApp {
  id: number;
  slug: string;
  publicKey: KeyObject;
  installations: {
    id: number;
    /** Whose repositories they are. */
    account: string;
    /** Paths. */
    repositories: string[];
    contents: 'read' | 'write';
    suspended: boolean;
  }[];
}

const NOT_FOUND = refusal(404, 'Not Found');
const HOUR = 3_600_000;

export class FakeGitHub extends CodeHost {
  readonly apps: GitHubApp[] = [];
  /** How long a token of an installation lasts, in milliseconds. */
  tokenLife = HOUR;
  private readonly reset = Math.floor(Date.now() / 1000) + 3600;

  private constructor(token: string, account: string) {
    super('github', token, account, '/api/v3');
  }

  static start(token: string, account = 'acme', port = 0): Promise<FakeGitHub> {
    return new FakeGitHub(token, account).listen(port);
  }

  protected override limits(): Record<string, string> {
    const [limit, remaining] = [5000, this.remaining ?? 4999];
    const numbers = { limit, remaining, used: limit - remaining, reset: this.reset };
    return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [`x-ratelimit-${name}`, String(value)]));
  }

  protected tooMany(): ApiAnswer {
    const answer = refusal(403, 'You have exceeded a secondary rate limit. Please wait a few minutes.');
    return { ...answer, headers: { 'retry-after': String(this.retryAfterSeconds) } };
  }

  protected answer(request: ApiRequest): ApiAnswer {
    const { token, path, method } = request;
    if (path.startsWith('/app/') || path === '/app') return this.ofApp(request);
    const credential = this.credential(token);
    if (token !== null && credential === null) return refusal(401, 'Bad credentials');
    const installed = credential?.account.endsWith('[bot]') === true;
    if (path === '/user' || path === '/user/repos') {
      if (credential === null) return refusal(401, 'Requires authentication');
      if (installed) return refusal(403, 'Resource not accessible by integration');
      return path === '/user' ? ok(this.user(credential.account)) : this.listed(request, this.own(credential));
    }
    if (path === '/installation/repositories') {
      if (credential === null) return refusal(401, 'Requires authentication');
      if (!installed) return refusal(403, 'You must authenticate with an installation access token.');
      const found = this.own(credential);
      const { body, ...answer } = this.listed(request, found);
      return { ...answer, body: { total_count: found.length, repositories: body } };
    }
    if (path === '/search/repositories') return this.found(request, credential);
    const [, owner = '', name = '', more = ''] = /^\/repos\/([^/]+)\/([^/]+)(?:\/(.*))?$/.exec(path) ?? [];
    const at = `${decodeURIComponent(owner)}/${decodeURIComponent(name)}`;
    const moved = this.at(this.renamed.get(at) ?? '');
    if (moved !== undefined) {
      const url = `${this.apiUrl}/repositories/${moved.id}`;
      return { ...refusal(301, 'Moved Permanently', { url }), headers: { location: url } };
    }
    const row = this.at(at);
    const may = row === undefined ? null : this.may(credential, row);
    if (row === undefined || may === null) return NOT_FOUND;
    if (method === 'GET') return this.read(request, row, credential, more);
    if (method !== 'POST' || more !== 'pulls') return NOT_FOUND;
    return may === 'write'
      ? this.openPull(request, row)
      : refusal(403, 'Resource not accessible by personal access token');
  }

  private read(
    { query, path }: ApiRequest,
    row: RepositoryRow,
    credential: Credential | null,
    more: string,
  ): ApiAnswer {
    const branches = this.branches(row);
    if (more === '') return ok(this.shown(row, credential));
    if (more === 'branches') return this.paged(path, query, branches, ([name, sha]) => this.branch(row, name, sha));
    const [, one] = /^branches\/(.+)$/.exec(more) ?? [];
    if (one !== undefined) {
      const found = branches.find(([name]) => name === decodeURIComponent(one));
      return found === undefined ? refusal(404, 'Branch not found') : ok(this.branch(row, ...found));
    }
    const [, prefix] = /^git\/matching-refs\/heads\/(.*)$/.exec(more) ?? [];
    if (prefix !== undefined) {
      const found = branches.filter(([name]) => name.startsWith(decodeURIComponent(prefix)));
      return ok(found.map(([name, sha]) => ({ ref: `refs/heads/${name}`, object: { type: 'commit', sha } })));
    }
    const pulls = this.pullRequests.filter((pull) => pull.path === row.path);
    if (more === 'pulls') {
      const [head, state] = [query.get('head')?.split(':')[1], query.get('state') ?? 'open'];
      const asked = pulls.filter(
        (pull) =>
          (state === 'all' || (pull.state === 'open') === (state === 'open')) &&
          (head === undefined || pull.branch === head),
      );
      return this.paged(path, query, asked, (pull) => this.pull(pull));
    }
    const pull = pulls.find(({ number }) => more === `pulls/${number}`);
    return pull === undefined ? NOT_FOUND : ok(this.pull(pull));
  }

  private openPull({ body }: ApiRequest, { path }: RepositoryRow): ApiAnswer {
    const [branch, base, title] = [String(body['head']), String(body['base']), String(body['title'])];
    if (this.pullRequests.some((one) => one.path === path && one.state === 'open' && one.branch === branch)) {
      const errors = [{ resource: 'PullRequest', message: `A pull request already exists for ${branch}.` }];
      return refusal(422, 'Validation Failed', { errors });
    }
    const about = { title, body: typeof body['body'] === 'string' ? body['body'] : '', draft: body['draft'] === true };
    const made = { path, number: this.pullRequests.length + 1, branch, base, ...about, state: 'open' as const };
    this.pullRequests.push(made);
    return { status: 201, body: this.pull(made) };
  }

  private ofApp({ token, path, method, body }: ApiRequest): ApiAnswer {
    const app = this.apps.find((one) => token !== null && signed(token, one));
    if (app === undefined) return refusal(401, 'A JSON web token could not be decoded');
    const { id, slug } = app;
    if (path === '/app') return ok({ id, slug, name: slug });
    const [, number, more] = /^\/app\/installations\/(\d+)(\/access_tokens)?$/.exec(path) ?? [];
    const found = app.installations.find((one) => String(one.id) === number);
    if (found === undefined) return NOT_FOUND;
    const permissions = { contents: found.contents, pull_requests: found.contents, metadata: 'read' };
    if (more === undefined && method === 'GET') {
      const suspended_at = found.suspended ? '2026-01-01T00:00:00Z' : null;
      const about = { app_id: id, app_slug: slug, repository_selection: 'selected', permissions, suspended_at };
      return ok({ id: found.id, account: { ...this.user(found.account), type: 'Organization' }, ...about });
    }
    if (more === undefined || method !== 'POST') return NOT_FOUND;
    if (found.suspended) return refusal(403, 'This installation has been suspended');
    const names = body['repositories'];
    const wanted = Array.isArray(names) ? names.map((name) => `${found.account}/${String(name)}`) : null;
    const asked = (body['permissions'] ?? permissions) as Record<string, string>;
    if (wanted !== null && (wanted.length === 0 || wanted.some((one) => !found.repositories.includes(one)))) {
      return refusal(422, 'There is at least one repository that does not exist or is not accessible.');
    }
    if (Object.values(asked).includes('write') && found.contents === 'read') {
      return refusal(422, 'The permissions requested are not granted to this installation.');
    }
    const [secret, expiresAt] = [`ghs_${randomBytes(18).toString('hex')}`, Date.now() + this.tokenLife];
    const permission = asked['contents'] === 'write' ? 'write' : 'read';
    const account = `${slug}[bot]`;
    this.credentials.set(secret, { account, repositories: wanted ?? found.repositories, permission, expiresAt });
    for (const row of this.repositories) if (found.repositories.includes(row.path)) row.members[account] = 'write';
    const expires_at = new Date(expiresAt).toISOString().replace(/\.\d+/, '');
    return { status: 201, body: { token: secret, expires_at, permissions: asked, repository_selection: 'selected' } };
  }

  /** Of which the credential's account is a member. */
  private own(credential: Credential): RepositoryRow[] {
    const { account, repositories } = credential;
    return this.repositories.filter(
      (row) => row.members[account] !== undefined && (repositories === null || repositories.includes(row.path)),
    );
  }

  private listed({ query, path, token }: ApiRequest, rows: RepositoryRow[]): ApiAnswer {
    const by = query.get('sort') ?? 'full_name';
    const down = (query.get('direction') ?? (by === 'full_name' ? 'asc' : 'desc')) === 'desc';
    const keyOf = (row: RepositoryRow) => (by === 'full_name' ? row.path : (row.pushedAt ?? ''));
    const sorted = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1) * (down ? -1 : 1));
    return this.paged(path, query, sorted, (row) => this.shown(row, this.credential(token)));
  }

  private found({ query, path }: ApiRequest, credential: Credential | null): ApiAnswer {
    const words = (query.get('q') ?? '').split(/[\s+]+/).filter((word) => word !== '');
    if (words.length === 0) return refusal(422, 'Validation Failed', { errors: [{ field: 'q', code: 'missing' }] });
    const owners = words.flatMap((word) => /^(?:user|org):(.+)$/.exec(word)?.[1] ?? []);
    const texts = words.filter((word) => !word.includes(':')).map((word) => word.toLowerCase());
    const seen = this.repositories.filter(
      (row) =>
        this.may(credential, row) !== null &&
        (owners.length === 0 || owners.includes(row.path.split('/')[0] ?? '')) &&
        texts.every((text) => row.path.split('/')[1]?.toLowerCase().includes(text)),
    );
    const { body, ...answer } = this.paged(path, query, seen, (row) => this.shown(row, credential));
    return { ...answer, body: { total_count: seen.length, incomplete_results: false, items: body } };
  }

  private paged<T>(path: string, query: URLSearchParams, all: readonly T[], show: (row: T) => object): ApiAnswer {
    const { rows, page, pages, next } = pageOf(all, query, 30);
    const link = (to: number, rel: string) => {
      const other = new URLSearchParams(query);
      other.set('page', String(to));
      return `<${this.apiUrl}${path}?${other.toString()}>; rel="${rel}"`;
    };
    const links = [
      ...(page > 1 ? [link(page - 1, 'prev'), link(1, 'first')] : []),
      ...(next === null ? [] : [link(next, 'next'), link(pages, 'last')]),
    ];
    return { ...ok(rows.map(show)), headers: links.length === 0 ? {} : { link: links.join(', ') } };
  }

  private shown(row: RepositoryRow, credential: Credential | null): object {
    const [owner = '', name = ''] = row.path.split('/');
    const may = this.may(credential, row);
    // For an installation GitHub says of no repository what it may do.
    const person = credential !== null && !credential.account.endsWith('[bot]');
    const permissions = { admin: false, push: person && may === 'write', pull: person && may !== null };
    const { id, archived, pushedAt: pushed_at, defaultBranch: default_branch } = row;
    const urls = { html_url: `${this.origin}/${row.path}`, clone_url: this.url(row.path) };
    const about = { id, name, full_name: row.path, owner: this.user(owner), private: row.private, archived };
    const more = { default_branch, pushed_at, visibility: row.private ? 'private' : 'public' };
    return { ...about, ...urls, ...more, ...(credential === null ? {} : { permissions }) };
  }

  private branch({ path }: RepositoryRow, name: string, sha: string): object {
    return { name, commit: { sha, url: `${this.apiUrl}/repos/${path}/commits/${sha}` }, protected: false };
  }

  private pull({ path, number, branch, base, title, body, draft, state }: PullRequestRow): object {
    const user = this.user(path.split('/')[0] ?? '');
    const merged = state === 'merged';
    const merged_at = merged ? '2026-01-03T00:00:00Z' : null;
    const refs = { head: { ref: branch, sha: commitOf(branch), user }, base: { ref: base } };
    const about = { number, title, body, draft, state: state === 'open' ? 'open' : 'closed', merged, merged_at };
    return { ...about, html_url: `${this.origin}/${path}/pull/${number}`, ...refs };
  }

  private user(login: string): object {
    return {
      login,
      id: Number.parseInt(commitOf(login).slice(0, 6), 16),
      type: 'User',
      html_url: `${this.origin}/${login}`,
    };
  }
}

/** A JSON web token of an App: RS256, at most ten minutes long (docs.github.com, "Generating a JSON Web Token"). */
function signed(token: string, { id, publicKey }: GitHubApp): boolean {
  try {
    const [head = '', body = '', signature = ''] = token.split('.');
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
    const { iss, iat, exp } = read(body);
    const now = Date.now() / 1000;
    const timely = Number(iat) <= now + 60 && Number(exp) > now && Number(exp) <= now + 601;
    const right = verify('RSA-SHA256', Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url'));
    return read(head)['alg'] === 'RS256' && String(iss) === String(id) && timely && right;
  } catch {
    return false;
  }
}

function ok(body: unknown): ApiAnswer {
  return { status: 200, body };
}

function refusal(status: number, message: string, more: object = {}): ApiAnswer {
  return {
    status,
    body: { message, ...more, documentation_url: 'https://docs.github.com/rest', status: String(status) },
  };
}
