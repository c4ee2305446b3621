// What GitHub and GitLab have in common here: one origin over HTTPS with a certificate of its own, git below it, repositories, accounts
// and what they may do. A test sets all of it, and reads what was asked.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { git, RepositoryFolder } from '../repositories.js';
import { serveGit } from './git-backend.js';

const tls = (name: string) => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url));
export const CERTIFICATE = tls('certificate.pem');

export type Permission = 'read' | 'write';

export interface RepositoryRow {
  id: number;
  /** `acme/api`. */
  path: string;
  private: boolean;
  archived: boolean;
  defaultBranch: string;
  /** Null: nobody has pushed yet. */
  pushedAt: string | null;
  /** By the logins of accounts. */
  members: Record<string, Permission>;
  /** Name → commit; null: those of the repository of git(1). */
  branches: Record<string, string> | null;
}

export interface Credential {
  /** The login of an account, or of an App with `[bot]`. */
  account: string;
  /** Paths; null: all of the account's. */
  repositories: readonly string[] | null;
  /** The most that it may do. */
  permission: Permission;
  /** Milliseconds; null: never. */
  expiresAt: number | null;
}

export interface PullRequestRow {
  /** Of its repository. */
  path: string;
  number: number;
  branch: string;
  base: string;
  title: string;
  body: string;
  draft: boolean;
  state: 'open' | 'closed' | 'merged';
}

/** A request to the API, read. */
export interface ApiRequest {
  method: string;
  /** Behind the address of the API: `/user/repos`. */
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  /** As it was sent; null: none. */
  token: string | null;
}

export interface ApiAnswer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** What a test may do with a request before it is answered: nothing, or answer it itself (true). */
type Before = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

export abstract class CodeHost {
  readonly folder = new RepositoryFolder();
  readonly repositories: RepositoryRow[] = [];
  readonly credentials = new Map<string, Credential>();
  /** Path that is no more → the one that it has now. */
  readonly renamed = new Map<string, string>();
  readonly pullRequests: PullRequestRow[] = [];
  /** `GET /acme/api.git/info/refs?service=…` of requests that were let in. */
  readonly gitRequests: string[] = [];
  /** `GET /user/repos?page=1`, of all requests to the API, behind its address. */
  readonly apiRequests: string[] = [];
  /** Requests that the API answers before it says that there were too many; null: without end. */
  remaining: number | null = null;
  /** Of the answer that says so. */
  retryAfterSeconds = 60;
  before: Before = () => false;
  /** What is to be waited for when a request is carried out and before it is answered. */
  after: (request: IncomingMessage) => void | Promise<void> = () => undefined;
  private readonly server: Server;

  protected constructor(
    readonly kind: 'github' | 'gitlab',
    /** The first credential: it may write to all that `account` may. */
    readonly token: string,
    readonly account: string,
    private readonly apiPath: string,
  ) {
    this.credentials.set(token, { account, repositories: null, permission: 'write', expiresAt: null });
    const pair = { key: readFileSync(tls('key.pem')), cert: readFileSync(CERTIFICATE) };
    this.server = createServer(pair, (request, response) => {
      this.serve(request, response).catch(() => response.destroy());
    });
  }

  protected abstract answer(request: ApiRequest): ApiAnswer;
  protected abstract tooMany(): ApiAnswer;
  /** Headers of each answer of the API. */
  protected limits(): Record<string, string> {
    return {};
  }

  async listen(port = 0): Promise<this> {
    await new Promise<void>((done) => this.server.listen(port, '127.0.0.1', done));
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
    this.folder.remove();
  }

  /** Of `repositories` in CONFIG_FILE: what workspaces may do with all of `acme`. */
  entry(tokenEnv: string, ...workspaces: string[]): Record<string, object> {
    const allowed = { workspaces, paths: ['acme/*'], push: ['millwright/*'] };
    return { [this.name]: { tokenEnv, ...allowed, ...this.known()[this.name] } };
  }

  /** An entry that says what the host is, and gives nobody access. */
  known(): Record<string, object> {
    const { kind, apiUrl: api } = this;
    return { [this.name]: { kind, api, caFile: CERTIFICATE } };
  }

  /** Host and port. */
  get name(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get origin(): string {
    return `https://${this.name}`;
  }

  get apiUrl(): string {
    return `${this.origin}${this.apiPath}`;
  }

  url(path = 'acme/api'): string {
    return `${this.origin}/${path}.git`;
  }

  /** A repository of which git(1) has nothing. It has the branch `main`, and the host's account may write to it. */
  add(path: string, more: Partial<Omit<RepositoryRow, 'id' | 'path'>> = {}): RepositoryRow {
    const row: RepositoryRow = {
      ...{ id: this.repositories.length + 1, path, private: true, archived: false, defaultBranch: 'main' },
      ...{ pushedAt: '2026-01-02T03:04:05Z', members: { [this.account]: 'write' }, branches: { main: commitOf(path) } },
      ...more,
    };
    this.repositories.push(row);
    return row;
  }

  /** The bare repository behind a path, made of one with these files on its branch `main`. */
  make(path: string, files: Record<string, string | Buffer>, more: Parameters<CodeHost['add']>[1] = {}): string {
    this.add(path, { branches: null, ...more });
    const source = this.folder.make(`${path}-source`, files);
    const bare = join(this.folder.path, `${path}.git`);
    mkdirSync(join(bare, '..'), { recursive: true });
    git(this.folder.path, 'clone', '--quiet', '--bare', '--template=', source, bare);
    return bare;
  }

  /** How many requests to the API began so, such as `GET /user/repos`. */
  count(beginning: string): number {
    return this.apiRequests.filter((one) => one.startsWith(beginning)).length;
  }

  at(path: string): RepositoryRow | undefined {
    return this.repositories.find((row) => row.path.toLowerCase() === path.toLowerCase());
  }

  /** Null: no such credential, or it has expired. */
  credential(token: string | null): Credential | null {
    const found = token === null ? undefined : this.credentials.get(token);
    return found === undefined || (found.expiresAt ?? Infinity) <= Date.now() ? null : found;
  }

  /** What a credential may do with a repository; null: it does not know of it. */
  may(credential: Credential | null, row: RepositoryRow): Permission | null {
    const outside = credential?.repositories != null && !credential.repositories.includes(row.path);
    const member = credential === null || outside ? undefined : row.members[credential.account];
    if (member === undefined) return row.private ? null : 'read';
    return member === 'write' && credential?.permission === 'write' && !row.archived ? 'write' : 'read';
  }

  /** By their names, name → commit. */
  branches(row: RepositoryRow): [string, string][] {
    const bare = join(this.folder.path, `${row.path}.git`);
    if (row.branches !== null || !existsSync(bare)) return Object.entries(row.branches ?? {}).sort();
    const printed = git(bare, 'for-each-ref', '--format=%(refname:lstrip=2) %(objectname)', 'refs/heads/');
    return printed.split('\n').flatMap((line): [string, string][] => {
      const [name, commit] = line.split(' ');
      return name && commit ? [[name, commit]] : [];
    });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'https://host');
    const api = url.pathname.startsWith(`${this.apiPath}/`);
    if (api) this.apiRequests.push(`${request.method} ${url.pathname.slice(this.apiPath.length)}${url.search}`);
    if (await this.before(request, response)) return;
    await (api ? this.serveApi(request, response, url) : this.serveRepository(request, response, url));
  }

  private async serveApi(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const { method = 'GET', headers } = request;
    const { 'private-token': key, authorization = '' } = headers;
    const token = typeof key === 'string' ? key : (/^(?:token|bearer) (.+)$/i.exec(authorization)?.[1] ?? null);
    const path = url.pathname.slice(this.apiPath.length);
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    const refused = this.remaining === 0;
    if (this.remaining !== null) this.remaining = Math.max(0, this.remaining - 1);
    const asked = { method, path, query: url.searchParams, headers, body, token };
    const answer = refused ? this.tooMany() : this.answer(asked);
    await this.after(request);
    const type = typeof answer.body === 'string' ? 'text/plain' : 'application/json; charset=utf-8';
    response.writeHead(answer.status, { 'content-type': type, ...this.limits(), ...answer.headers });
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {}));
  }

  private async serveRepository(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const [, path = '', more = ''] = /^\/(.+?)(?:\.git)?\/(info\/refs|git-[a-z]+-pack)$/.exec(url.pathname) ?? [];
    const moved = this.renamed.get(path);
    if (moved !== undefined) {
      return void response.writeHead(301, { location: `${this.url(moved)}/${more}${url.search}` }).end();
    }
    const [, sent = ''] = /^Basic (.+)$/i.exec(request.headers.authorization ?? '') ?? [];
    const token =
      sent === ''
        ? null
        : Buffer.from(sent, 'base64')
            .toString()
            .replace(/^[^:]*:/, '');
    const [credential, row] = [this.credential(token), this.at(path)];
    const may = row === undefined || (token !== null && credential === null) ? null : this.may(credential, row);
    const writes = `${more}${url.search}`.includes('git-receive-pack');
    if (credential === null && (may === null || writes)) {
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    }
    if (row === undefined || may === null) return void response.writeHead(404).end('Repository not found.');
    if (writes && may !== 'write') return void response.writeHead(403).end('Write access to repository not granted.');
    this.gitRequests.push(`${request.method} ${url.pathname}${url.search}`);
    const at = { pathname: `/${row.path}.git/${more}`, search: url.search };
    await serveGit(this.folder.path, at, request, response, () => this.after(request));
  }
}

/** What a list answers with: a page of it, and the number of the next one. */
export function pageOf<T>(rows: readonly T[], query: URLSearchParams, usual: number) {
  const size = Math.max(1, Math.min(100, Number(query.get('per_page')) || usual));
  const page = Math.max(1, Number(query.get('page')) || 1);
  const pages = Math.ceil(rows.length / size);
  return { rows: rows.slice((page - 1) * size, page * size), size, page, pages, next: page < pages ? page + 1 : null };
}

/** A commit of a repository that git(1) does not have. */
export function commitOf(name: string): string {
  return createHash('sha1').update(name).digest('hex');
}
