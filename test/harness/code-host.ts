// A host of repositories: git over HTTPS with a certificate of its own, and the API of GitHub or GitLab, with one token for both.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { git, RepositoryFolder } from './repositories.js';

const tls = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));
const CERTIFICATE = tls('certificate.pem');

export interface PullRequestRow {
  number: number;
  branch: string;
  base: string;
  title: string;
  body: string;
  draft: boolean;
  open: boolean;
}

/** What a test may do with a request before it is answered: nothing, or answer it itself (true). */
type Before = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

export class CodeHost {
  readonly folder = new RepositoryFolder();
  readonly pullRequests: PullRequestRow[] = [];
  /** Method and path of each request with the right token. */
  readonly gitRequests: string[] = [];
  readonly apiRequests: string[] = [];
  before: Before = () => false;
  /** What is to be waited for when a request is carried out and before it is answered. */
  after: (request: IncomingMessage) => void | Promise<void> = () => undefined;
  private readonly git: Server;
  private readonly api: Server;

  private constructor(
    readonly kind: 'github' | 'gitlab',
    readonly token: string,
  ) {
    const pair = { key: readFileSync(tls('key.pem')), cert: readFileSync(CERTIFICATE) };
    this.git = createHttpsServer(
      pair,
      this.answering((...both) => this.serveGit(...both)),
    );
    this.api = createHttpServer(this.answering((...both) => this.serveApi(...both)));
  }

  static async start(kind: CodeHost['kind'], token: string): Promise<CodeHost> {
    const host = new CodeHost(kind, token);
    for (const server of [host.git, host.api]) {
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    }
    return host;
  }

  async stop(): Promise<void> {
    for (const server of [this.git, this.api]) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
    this.folder.remove();
  }

  /** Of `repositories` in CONFIG_FILE: what a workspace may do with all of `acme`. */
  entry(tokenEnv: string, workspace: string): Record<string, object> {
    const { kind, apiUrl: api } = this;
    const allowed = { workspaces: [workspace], paths: ['acme/*'], push: ['millwright/*'] };
    return { [this.name]: { tokenEnv, ...allowed, kind, api, caFile: CERTIFICATE } };
  }

  get name(): string {
    return `127.0.0.1:${portOf(this.git)}`;
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${portOf(this.api)}/api/${this.kind === 'github' ? 'v3' : 'v4'}`;
  }

  url(path = 'acme/api'): string {
    return `https://${this.name}/${path}.git`;
  }

  /** The bare repository behind a path, made of one with these files on its branch `main`. */
  make(path: string, files: Record<string, string | Buffer>): string {
    const source = this.folder.make(`${path}-source`, files);
    const bare = join(this.folder.path, `${path}.git`);
    mkdirSync(join(bare, '..'), { recursive: true });
    git(this.folder.path, 'clone', '--quiet', '--bare', '--template=', source, bare);
    return bare;
  }

  private answering(serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
    return (request: IncomingMessage, response: ServerResponse) => {
      const answered = async () => {
        if (!(await this.before(request, response))) await serve(request, response);
      };
      answered().catch(() => response.destroy());
    };
  }

  /** git-http-backend(1) as a CGI program. */
  private async serveGit(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const expected = `Basic ${Buffer.from(`x-access-token:${this.token}`).toString('base64')}`;
    if (request.headers.authorization !== expected) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    const { pathname, search } = new URL(request.url ?? '', 'https://host');
    this.gitRequests.push(`${request.method} ${pathname}${search}`);
    const child = spawn('git', ['http-backend'], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: this.folder.path,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        REMOTE_USER: 'millwright',
        REQUEST_METHOD: request.method,
        PATH_INFO: decodeURIComponent(pathname),
        QUERY_STRING: search.slice(1),
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      },
    });
    request.pipe(child.stdin);
    child.stdin.on('error', () => undefined);
    const chunks: Buffer[] = [];
    for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
    const printed = Buffer.concat(chunks);
    const end = printed.indexOf('\r\n\r\n');
    const headers = printed
      .subarray(0, end)
      .toString()
      .split('\r\n')
      .map((line) => line.split(': '));
    const status = headers.find(([name]) => name === 'Status')?.[1];
    await this.after(request);
    for (const [name, value] of headers) if (name && value && name !== 'Status') response.setHeader(name, value);
    response.writeHead(status === undefined ? 200 : Number.parseInt(status, 10)).end(printed.subarray(end + 4));
  }

  private async serveApi(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization = '', 'private-token': key } = request.headers;
    const trusted = this.kind === 'github' ? authorization === `token ${this.token}` : key === this.token;
    const url = new URL(request.url ?? '', 'http://host');
    if (!trusted) return json(response, 401, { message: 'Bad credentials' });
    this.apiRequests.push(`${request.method} ${url.pathname}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>);
    const [, path = '', more] =
      this.kind === 'github'
        ? (/^\/api\/v3\/repos\/([^/]+\/[^/]+)(\/pulls)?$/.exec(url.pathname) ?? [])
        : (/^\/api\/v4\/projects\/([^/]+)(\/merge_requests)?$/.exec(url.pathname) ?? []);
    const project = decodeURIComponent(path);
    if (project !== 'acme/api') return json(response, 404, { message: 'Not Found' });
    if (more === undefined) return json(response, 200, { id: 1, default_branch: 'main' });
    if (request.method === 'GET') {
      const branch =
        this.kind === 'github' ? url.searchParams.get('head')?.split(':')[1] : url.searchParams.get('source_branch');
      const found = this.pullRequests.filter((one) => one.open && one.branch === branch);
      return json(
        response,
        200,
        found.map((one) => this.shown(one)),
      );
    }
    const row = this.kind === 'github' ? githubRow(body) : gitlabRow(body);
    if (this.pullRequests.some(({ open, branch }) => open && branch === row.branch)) {
      return json(response, this.kind === 'github' ? 422 : 409, {
        message: ['Another open merge request already exists'],
      });
    }
    const made = { ...row, number: this.pullRequests.length + 1, open: true };
    this.pullRequests.push(made);
    await this.after(request);
    json(response, 201, this.shown(made));
  }

  /** As the API shows it: as much of it as a client needs. */
  private shown({ number, branch, base, title, draft }: PullRequestRow): object {
    const web = `https://${this.name}/acme/api`;
    return this.kind === 'github'
      ? {
          number,
          html_url: `${web}/pull/${number}`,
          head: { ref: branch, user: { login: 'acme' } },
          base: { ref: base },
          title,
          draft,
        }
      : {
          iid: number,
          web_url: `${web}/-/merge_requests/${number}`,
          source_branch: branch,
          source_project_id: 1,
          target_project_id: 1,
        };
  }
}

type Row = Omit<PullRequestRow, 'number' | 'open'>;

function githubRow({ head, base, title, body, draft }: Record<string, unknown>): Row {
  return { branch: String(head), base: String(base), title: String(title), body: String(body), draft: draft === true };
}

function gitlabRow({ source_branch, target_branch, title, description }: Record<string, unknown>): Row {
  const draft = String(title).startsWith('Draft: ');
  const about = { branch: String(source_branch), base: String(target_branch), body: String(description), draft };
  return { ...about, title: String(title).replace('Draft: ', '') };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
