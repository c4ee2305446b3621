import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeCaller } from '../harness/callers.js';
import { type Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { CERTIFICATE } from '../harness/code-hosts/code-host.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { FakeGitLab } from '../harness/code-hosts/gitlab.js';
import { ModelServer } from '../harness/model-server.js';
import { git } from '../harness/repositories.js';
import { call, createTask, finishedLater, readMessages, readResults, script, type TaskBody } from '../harness/tasks.js';

interface Connection {
  id: string;
  host: string;
  hosting: string;
  kind: string;
  account: string | null;
  paths: string[];
  push: string[];
  status: string;
  lastError: string | null;
  createdBy: { id: string; name: string };
  createdAt: string;
}
type Body = TaskBody & {
  repository: { push: { url: string | null } | null } | null;
  pullRequest: { url: string } | null;
};

const PATH = '/v1/repository-connections';
const TOKENS = { github: 'canary-token-github-4711', gitlab: 'canary-token-gitlab-4712' };
const DONE = { text: 'Done.' };
const edit = (text: string) => call('bash', { command: `cd repo && echo ${text} >> a.txt` });
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = keys.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const LONG_PATTERNS = Array.from({ length: 11 }, (_, n) => `${n}`.padEnd(190, 'x'));
const INSTALLATION = {
  ...{ id: 55, account: 'acme', repositories: ['acme/api', 'acme/web'] },
  ...{ contents: 'write' as const, suspended: false },
};

describe('Repository connections (reference §15)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'connections-'));
  let model: ModelServer;
  let github: FakeGitHub;
  let gitlab: FakeGitLab;
  let workspaces = 0;
  let branches = 0;

  const service = useService(async () => {
    model = await ModelServer.start();
    github = await FakeGitHub.start(TOKENS.github);
    gitlab = await FakeGitLab.start(TOKENS.gitlab);
    const known = ({ name, kind, apiUrl }: FakeGitHub | FakeGitLab) => ({
      [name]: { kind, api: apiUrl, caFile: CERTIFICATE },
    });
    const repositories = {
      ...{ ...known(github), ...known(gitlab) },
      'operator.example': { tokenEnv: 'OPERATORS', workspaces: ['nobody'], paths: ['*/*'] },
    };
    writeFileSync(
      join(folder, 'config.json'),
      JSON.stringify({ repositories, repositoryNetworks: ['127.0.0.1/32', '127.0.0.2/32'] }),
    );
    return bootWorker({
      env: {
        OPENAI_COMPATIBLE_URL: model.url,
        CONFIG_FILE: join(folder, 'config.json'),
        OPERATORS: 'a-token-of-the-operator',
      },
    });
  });
  beforeAll(() => {
    for (const host of [github, gitlab]) {
      host.make('acme/api', { 'a.txt': 'one\n' });
      host.make('acme/web', { 'a.txt': 'two\n' });
    }
    gitlab.make('acme/group/deep', { 'a.txt': 'three\n' });
    github.apps.push({ id: 9, slug: 'helper', publicKey: keys.publicKey, installations: [INSTALLATION] });
  });
  beforeEach(() => {
    github.before = () => false;
    github.tokenLife = 3_600_000;
    INSTALLATION.suspended = false;
  });
  afterAll(async () => {
    await model.stop();
    await github.stop();
    await gitlab.stop();
    rmSync(folder, { recursive: true });
  });

  const newWorkspace = async () => {
    const n = ++workspaces;
    const workspace = await service.app
      .get(WorkspacesService)
      .create({ name: `Connected ${n}`, slug: `connected-${n}`, plan: 'paid' });
    return { workspace, owner: await makeMember(service, { workspace, role: 'owner' }) };
  };
  const create = async (client: Client, more: object = {}) => {
    const body = { host: github.name, token: TOKENS.github, ...more };
    const answer = await client.post<{ connection: Connection }>(PATH, body);
    expect(answer.status).toBe(201);
    return answer.body.connection;
  };
  const test = async (client: Client, { id }: { id: string }) => {
    const answer = await client.post<{ connection: Connection }>(`${PATH}/${id}/test`);
    expect(answer.status).toBe(200);
    return answer.body.connection;
  };
  const get = async (client: Client, { id }: { id: string }) =>
    (await client.get<{ connection: Connection }>(`${PATH}/${id}`)).body.connection;
  const app = (more: object = {}) => ({
    ...{ token: undefined, appId: '9', privateKey: PEM, installationId: '55' },
    ...more,
  });
  const run = async ({ client }: Member, repository: object, ...steps: Parameters<typeof script>) => {
    const content = script(...(steps.length === 0 ? [DONE] : steps));
    const { id } = await createTask(client, { content, title: 'Mend it', repository: repository });
    return (await finishedLater(client, id)) as Body;
  };
  const newBranch = () => `millwright/change-${++branches}`;

  it('are created, shown, tested, changed and deleted', async () => {
    const { owner } = await newWorkspace();
    const made = await owner.client.post<{ connection: Connection }>(PATH, { host: github.name, token: TOKENS.github });
    const { connection } = made.body;
    expect(made.headers.get('location')).toBe(`${PATH}/${connection.id}`);
    expect(connection).toEqual({
      ...{ id: expect.any(String), host: github.name, hosting: 'github', kind: 'token', account: null },
      ...{ paths: ['**'], push: ['millwright/*'], status: 'ready', lastError: null },
      ...{ createdBy: { id: owner.user.id, name: expect.any(String) }, createdAt: expect.any(String) },
    });
    const tested = await test(owner.client, connection);
    expect(tested).toEqual({ ...connection, account: 'acme' });
    expect(await get(owner.client, connection)).toEqual(tested);
    const changed = await owner.client.patch<{ connection: Connection }>(`${PATH}/${connection.id}`, {
      ...{ paths: ['acme/*'], push: [] },
    });
    expect(changed.body.connection).toEqual({ ...tested, paths: ['acme/*'], push: [] });
    const other = await create(owner.client, { host: gitlab.name, token: TOKENS.gitlab });
    expect((await test(owner.client, other)).account).toBe('acme');
    const list = await owner.client.get<{ connections: Connection[] }>(PATH);
    expect(list.body.connections.map(({ id }) => id)).toEqual([other.id, connection.id]);
    expect((await owner.client.delete(`${PATH}/${connection.id}`)).body).toEqual({ deleted: true, id: connection.id });
    expect((await owner.client.get(`${PATH}/${connection.id}`)).status).toBe(404);
    expect((await owner.client.post(`${PATH}/${connection.id}/test`)).status).toBe(404);
  });

  it('are seen by all members and changed by owners and admins with a personal key', async () => {
    const { workspace, owner } = await newWorkspace();
    const connection = await create(owner.client);
    const admin = await makeMember(service, { workspace, role: 'admin' });
    await create(admin.client);
    for (const role of ['member', 'viewer'] as const) {
      const { client } = await makeMember(service, { workspace, role });
      expect((await client.get<{ connections: Connection[] }>(PATH)).body.connections).toHaveLength(2);
      const refused = [
        await client.post<ErrorBody>(PATH, { host: github.name, token: TOKENS.github }),
        await client.patch<ErrorBody>(`${PATH}/${connection.id}`, { push: [] }),
        await client.post<ErrorBody>(`${PATH}/${connection.id}/test`),
        await client.delete<ErrorBody>(`${PATH}/${connection.id}`),
      ];
      for (const { status, body } of refused) expect([status, body.error.code]).toEqual([403, 'role_not_allowed']);
    }
  });

  it('are read by a service key, and not changed by one, whatever its role and scopes', async () => {
    const { workspace, owner } = await newWorkspace();
    const { id } = await create(owner.client);
    const { client } = await makeCaller(service, workspace, { role: 'admin', kind: 'service' });
    expect((await client.get<{ connections: Connection[] }>(PATH)).body.connections).toHaveLength(1);
    const refused = [
      await client.post<ErrorBody>(PATH, { host: github.name, token: TOKENS.github }),
      await client.patch<ErrorBody>(`${PATH}/${id}`, { push: ['**'] }),
      await client.post<ErrorBody>(`${PATH}/${id}/test`),
      await client.delete<ErrorBody>(`${PATH}/${id}`),
    ];
    for (const { status, body } of refused) expect([status, body.error.code]).toEqual([403, 'role_not_allowed']);
    expect(await get(owner.client, { id })).toMatchObject({ id, push: ['millwright/*'], account: null });
  });

  it.each([
    ['a host in capitals', { host: 'GitHub.com' }, 'host'],
    ['a host written as an address', { host: 'https://github.com' }, 'host'],
    ['a host with the usual port', { host: 'github.com:443' }, 'host'],
    ['a host that is a private address', { host: '10.0.0.1', hosting: 'github' }, 'host'],
    ['a host that stands for a private address', { host: '[::ffff:7f00:3]', hosting: 'github' }, 'host'],
    ['a host of which nobody says what serves it', { host: 'git.example' }, 'hosting'],
    ['an unknown kind of host', { host: 'git.example', hosting: 'gitea' }, 'hosting'],
    ['an API in the clear', { host: 'git.example', hosting: 'github', api: 'http://git.example/api' }, 'api'],
    ['an API at a private address', { host: 'git.example', hosting: 'github', api: 'https://169.254.169.254/' }, 'api'],
    [
      'an API of GitLab at another path',
      { host: 'git.example', hosting: 'gitlab', api: 'https://git.example/' },
      'api',
    ],
    ['a token with a space', { host: 'github.com', token: 'two words!' }, 'token'],
    ['no credential', { host: 'github.com', token: undefined }, 'token'],
    ['a token beside an App', { host: 'github.com', appId: '9' }, 'appId'],
    [
      'an App without its installation',
      { host: 'github.com', token: undefined, appId: '9', privateKey: PEM },
      'installationId',
    ],
    [
      'a private key that is none',
      { host: 'github.com', token: undefined, appId: '9', privateKey: 'PEM', installationId: '5' },
      'privateKey',
    ],
    [
      'an App of GitLab',
      { host: 'gitlab.com', token: undefined, appId: '9', privateKey: PEM, installationId: '5' },
      'appId',
    ],
    ['patterns of more than 2000 characters', { host: 'github.com', paths: LONG_PATTERNS }, 'paths'],
    ['a path with a slash before it', { host: 'github.com', paths: ['/acme'] }, 'paths'],
    ['what serves GitHub as another', { host: 'github.com', hosting: 'gitlab' }, 'hosting'],
    ['another API of GitHub', { host: 'github.com', api: 'https://other.example/api' }, 'api'],
    ['a branch with a space', { host: 'github.com', push: ['a b'] }, 'push'],
  ])('%s is refused', async (_what, given, param) => {
    const { client } = await makeMember(service, { role: 'owner' });
    const { status, body } = await client.post<ErrorBody>(PATH, { token: TOKENS.github, ...given });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_field', param]);
    expect(JSON.stringify(body)).not.toMatch(/canary-token|PRIVATE KEY/);
  });

  it('are as ready as they were when their host cannot say who they are', async () => {
    const { owner } = await newWorkspace();
    const one = await create(owner.client);
    github.before = (_request, response) => response.writeHead(500).end() === response;
    const { status, lastError } = await test(owner.client, one);
    expect([status, lastError]).toEqual(['ready', expect.stringContaining('(500)')]);
    github.before = () => false;
    expect((await test(owner.client, one)).lastError).toBeNull();
  });

  it('of one kind stay of that kind', async () => {
    const { owner } = await newWorkspace();
    const [one, two] = [await create(owner.client), await create(owner.client, app())];
    const change = (id: string, body: object) => owner.client.patch<ErrorBody>(`${PATH}/${id}`, body);
    expect((await change(one.id, { privateKey: PEM })).body.error.param).toBe('privateKey');
    expect((await change(two.id, { token: TOKENS.github })).body.error.param).toBe('token');
    expect((await change(two.id, { installationId: '56' })).status).toBe(200);
    expect((await test(owner.client, two)).lastError).toContain('has no installation 56 of the GitHub App 9');
    expect((await change(one.id, { host: 'other.example' })).body.error.code).toBe('unknown_field');
  });

  it('are 50 in a workspace at most', async () => {
    const { owner } = await newWorkspace();
    await Promise.all(Array.from({ length: 45 }, () => create(owner.client)));
    const more = await Promise.all(
      Array.from({ length: 8 }, () => owner.client.post<ErrorBody>(PATH, { host: 'github.com', token: TOKENS.github })),
    );
    expect(more.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 201, 409, 409, 409]);
    expect(more.find(({ status }) => status === 409)?.body.error.code).toBe('too_many_connections');
  });

  it.each(['github', 'gitlab'] as const)(
    '%s: a task clones, pushes and opens a pull request with one, and its token is nowhere else',
    async (kind) => {
      const host = kind === 'github' ? github : gitlab;
      const { owner } = await newWorkspace();
      const connection = await create(owner.client, { host: host.name, token: TOKENS[kind] });
      await test(owner.client, connection);
      const push = { branch: newBranch(), pullRequest: {} };
      const look = call('bash', { command: 'env; cat /proc/*/environ 2>/dev/null; cat repo/.git/config; true' });
      const task = await run(owner, { url: host.url(), push }, edit('more'), look, DONE);
      expect([task.status, task.pullRequest?.url]).toEqual(['completed', expect.any(String)]);
      expect(git(join(host.folder.path, 'acme/api.git'), 'show', `${push.branch}:a.txt`)).toBe('one\nmore');
      const rows = await service.db.query<{ name: string }>(
        `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
      );
      const shown = JSON.stringify([
        await readResults(owner.client, task.id),
        await readMessages(owner.client, task.id),
        await owner.client.get(PATH).then(({ body }) => body),
        await owner.client.get('/v1/audit').then(({ body }) => body),
        await owner.client.get('/v1/events').then(({ body }) => body),
        model.requests,
      ]);
      const secrets = [TOKENS[kind], Buffer.from(`x-access-token:${TOKENS[kind]}`).toString('base64')];
      for (const secret of secrets) {
        expect(shown).not.toContain(secret);
        for (const { name } of rows) {
          const found = await service.db.query(`SELECT 1 FROM ${name} t WHERE t::text LIKE '%' || $1 || '%' LIMIT 1`, [
            secret,
          ]);
          expect([name, found]).toEqual([name, []]);
        }
      }
    },
    180_000,
  );
});
