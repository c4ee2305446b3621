import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { type Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { CERTIFICATE } from '../harness/code-hosts/code-host.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { FakeGitLab } from '../harness/code-hosts/gitlab.js';
import { ModelServer } from '../harness/model-server.js';
import { call, createTask, finishedLater, script, type TaskBody } from '../harness/tasks.js';

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
const INSTALLATION = {
  ...{ id: 55, account: 'acme', repositories: ['acme/api', 'acme/web'] },
  ...{ contents: 'write' as const, suspended: false },
};

describe('Repository connections of tasks (reference §15)', () => {
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
  const told = async (member: Member, repository: object) =>
    (await run(member, repository)).statusReason?.message ?? null;
  const newBranch = () => `millwright/change-${++branches}`;

  it('of a GitHub App: a token for the one repository, used until shortly before its end, made anew when the host refuses it', async () => {
    const { owner } = await newWorkspace();
    const connection = await create(owner.client, app());
    expect(await test(owner.client, connection)).toMatchObject({
      kind: 'github_app',
      account: 'acme',
      status: 'ready',
    });
    const made = () => github.count('POST /app/installations/55/access_tokens');
    const before = made();
    for (let n = 0; n < 2; n++) {
      const task = await run(owner, { url: github.url(), push: { branch: newBranch() } }, edit('x'), DONE);
      expect([task.status, task.repository?.push?.url]).toEqual(['completed', expect.any(String)]);
    }
    expect(made()).toBe(before + 1);
    const bots = [...github.credentials.values()].filter(({ account }) => account.endsWith('[bot]'));
    expect(bots.map(({ repositories }) => repositories)).toEqual([['acme/api']]);
    // Revoked before its end.
    for (const [token, { account }] of github.credentials)
      if (account.endsWith('[bot]')) github.credentials.delete(token);
    expect((await run(owner, { url: github.url() })).status).toBe('completed');
    expect(made()).toBe(before + 2);
    // One that ends soon is not used a second time.
    github.tokenLife = 200_000;
    for (let n = 0; n < 2; n++) expect((await run(owner, { url: github.url('acme/web') })).status).toBe('completed');
    expect(made()).toBe(before + 4);
  });

  it('of a GitHub App: a pull request is opened as the App, with a token for its repository alone', async () => {
    const { owner } = await newWorkspace();
    await create(owner.client, app());
    const push = { branch: newBranch(), pullRequest: { title: 'By the App' } };
    const { status, pullRequest } = await run(owner, { url: github.url('acme/web'), push }, edit('x'), DONE);
    expect([status, pullRequest?.url]).toEqual(['completed', expect.stringContaining('/acme/web/pull/')]);
    expect(github.pullRequests.filter(({ title }) => title === 'By the App')).toHaveLength(1);
  });

  it('say in the task what to do when a repository cannot be read', async () => {
    const { owner } = await newWorkspace();
    const url = github.url();
    expect(await told(owner, { url })).toBe(
      `${github.name} has no repository acme/api that everybody may read. Check the address. If it is private, an owner or admin of the workspace connects ${github.name} (repository connections).`,
    );
    const connection = await create(owner.client, { paths: ['acme/web'] });
    await test(owner.client, connection);
    expect(await told(owner, { url })).toContain(
      'no repository connection of this workspace includes it: their paths are acme/web',
    );
    await owner.client.patch(`${PATH}/${connection.id}`, { paths: ['**'] });
    expect(await told(owner, { url: github.url('acme/none') })).toBe(
      `${github.name} has no repository acme/none, or the credential of the repository connection acme does not see it. Check the address, or give the credential access to it at the host.`,
    );
    github.renamed.set('acme/old', 'acme/api');
    expect(await told(owner, { url: github.url('acme/old') })).toContain('has moved: redirects are not followed');
    github.before = (_request, response) => response.writeHead(503).end() === response;
    expect(await told(owner, { url })).toBe(
      `${github.name} answers with an error of its own (503). Send a message to try again.`,
    );
    github.before = () => false;
    expect(await told(owner, { url: 'https://127.0.0.2:9/acme/api' })).toBe(
      '127.0.0.2:9 is not reached, or ends the connection. Send a message to try again.',
    );
    expect(await told(owner, { url: 'https://no-such-name.invalid/acme/api' })).toContain(
      'The name no-such-name.invalid is not found',
    );
    await owner.client.delete(`${PATH}/${connection.id}`);
    expect(await told(owner, { url })).toContain('that everybody may read');
  });

  it('fail when the host refuses the credential, and are ready again when it takes it', async () => {
    const { owner } = await newWorkspace();
    const connection = await create(owner.client);
    await test(owner.client, connection);
    const known = github.credentials.get(TOKENS.github);
    github.credentials.delete(TOKENS.github);
    expect(await told(owner, { url: github.url() })).toBe(
      `${github.name} refused the credential of the repository connection acme (401): it is wrong, has ended or was revoked. An owner or admin gives the connection a new one.`,
    );
    expect(await get(owner.client, connection)).toMatchObject({
      status: 'failed',
      lastError: expect.stringContaining('refused the credential'),
    });
    expect(await test(owner.client, connection)).toMatchObject({
      status: 'failed',
      account: 'acme',
      lastError: expect.stringContaining('refused the token (401)'),
    });
    if (known !== undefined) github.credentials.set(TOKENS.github, known);
    expect(await told(owner, { url: github.url() })).toBeNull();
    expect(await get(owner.client, connection)).toMatchObject({ status: 'ready', lastError: null });
    // Another credential has not failed yet.
    github.credentials.set('another-token-1', {
      account: 'ada',
      repositories: null,
      permission: 'read',
      expiresAt: null,
    });
    const rotated = await owner.client.patch<{ connection: Connection }>(`${PATH}/${connection.id}`, {
      token: 'another-token-1',
    });
    expect(rotated.body.connection).toMatchObject({ status: 'ready', account: null });
    expect((await test(owner.client, connection)).account).toBe('ada');
  });

  it('of an App that is suspended or knows no such repository say so', async () => {
    const { owner } = await newWorkspace();
    const connection = await create(owner.client, app());
    await test(owner.client, connection);
    expect(await told(owner, { url: github.url('acme/none') })).toContain(
      'The installation 55 of the GitHub App at ' + github.name + ' does not include acme/none',
    );
    expect((await get(owner.client, connection)).status).toBe('ready');
    INSTALLATION.suspended = true;
    expect(await told(owner, { url: github.url() })).toContain('is suspended');
    expect((await get(owner.client, connection)).status).toBe('failed');
    expect((await test(owner.client, connection)).lastError).toContain('is suspended');
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const privateKey = other.export({ type: 'pkcs8', format: 'pem' }).toString();
    await owner.client.patch(`${PATH}/${connection.id}`, { privateKey });
    expect((await test(owner.client, connection)).lastError).toContain('do not belong together');
  });

  it('allow the branches that they name, and no others', async () => {
    const { owner } = await newWorkspace();
    const body = { content: 'Go', repository: { url: github.url(), push: { branch: 'main' } } };
    const refused = async () => (await owner.client.post<ErrorBody>('/v1/tasks', body)).body.error;
    expect(await refused()).toMatchObject({ code: 'repository_not_allowed', param: 'repository.push' });
    const first = await create(owner.client);
    expect(await refused()).toMatchObject({ code: 'repository_not_allowed' });
    // The oldest that allows both is used.
    await create(owner.client, { push: ['main'] });
    expect((await owner.client.post('/v1/tasks', body)).status).toBe(201);
    await owner.client.patch(`${PATH}/${first.id}`, { push: [] });
    const deep = { url: gitlab.url('acme/group/deep'), push: { branch: newBranch() } };
    await create(owner.client, { host: gitlab.name, token: TOKENS.gitlab, paths: ['acme/*'] });
    expect((await owner.client.post('/v1/tasks', { content: 'Go', repository: deep })).status).toBe(400);
    await create(owner.client, { host: gitlab.name, token: TOKENS.gitlab, paths: ['acme/**'] });
    expect((await run(owner, deep, edit('x'), DONE)).repository?.push?.url).toEqual(expect.any(String));
  });
});
