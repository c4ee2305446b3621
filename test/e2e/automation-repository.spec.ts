// What the tasks of an automation work on, and where their changes go (reference §12).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootWorker, useService } from '../harness/app.js';
import {
  AUTOMATIONS,
  type AutomationBody,
  DAILY,
  readAutomation,
  type RunBody,
} from '../harness/automation-requests.js';
import { makeDue, runs } from '../harness/automations.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { CERTIFICATE, type CodeHost } from '../harness/code-hosts/code-host.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { FakeGitLab } from '../harness/code-hosts/gitlab.js';
import { connect, deliver, github as signed } from '../harness/hooks.js';
import { ModelServer } from '../harness/model-server.js';
import { git } from '../harness/repositories.js';
import { call, finishedLater, readMessages, script, type TaskBody } from '../harness/tasks.js';

type Automation = AutomationBody & { repository: object | null };
type Answer = { automation: Automation } & ErrorBody;
type Task = TaskBody & {
  repository: { url: string; push: { branch: string; url: string | null } | null } | null;
  pullRequest: { url: string } | null;
};

const CONNECTIONS = '/v1/repository-connections';
const TOKENS = { github: 'a-token-for-github-0001', gitlab: 'a-token-for-gitlab-0002' };
const WORK = script(call('bash', { command: 'cd repo && echo more >> a.txt' }), { text: 'Done.' });

describe('The repository of an automation (reference §12)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'automation-repository-'));
  let model: ModelServer;
  /** The operator's entry lets the workspace push to `millwright/*`. */
  let github: CodeHost;
  /** The workspace has connections to it, made by tests. */
  let gitlab: CodeHost;
  let owner: Member;

  const service = useService(async () => {
    model = await ModelServer.start();
    github = await FakeGitHub.start(TOKENS.github);
    gitlab = await FakeGitLab.start(TOKENS.gitlab);
    const known = { [gitlab.name]: { kind: gitlab.kind, api: gitlab.apiUrl, caFile: CERTIFICATE } };
    const repositories = { ...github.entry('GITHUB', 'pushers'), ...known };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ repositories, repositoryNetworks: ['127.0.0.1/32'] }));
    const env = { OPENAI_COMPATIBLE_URL: model.url, CONFIG_FILE: join(folder, 'config.json'), GITHUB: TOKENS.github };
    return bootWorker({ env });
  });
  beforeAll(async () => {
    const workspace = await service.app
      .get(WorkspacesService)
      .create({ name: 'Pushers', slug: 'pushers', plan: 'paid' });
    owner = await makeMember(service, { workspace, role: 'owner' });
    for (const host of [github, gitlab]) host.make('acme/api', { 'a.txt': 'one\n' });
  });
  afterAll(async () => {
    await model.stop();
    await github.stop();
    await gitlab.stop();
    rmSync(folder, { recursive: true });
  });

  const post = (json: object) => owner.client.post<Answer>(AUTOMATIONS, { ...DAILY, ...json });
  const change = (id: string, json: object) => owner.client.patch<Answer>(`${AUTOMATIONS}/${id}`, json);
  const create = async (json: object) => {
    const answer = await post({ content: WORK, ...json });
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return answer.body.automation;
  };
  const runNow = async ({ id }: { id: string }) =>
    (await owner.client.post<{ run: RunBody }>(`${AUTOMATIONS}/${id}/run`)).body.run;
  const taskOf = async (taskId: string | null | undefined) => (await finishedLater(owner.client, taskId ?? '')) as Task;
  const branches = (host: CodeHost) =>
    git(join(host.folder.path, 'acme/api.git'), 'for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/').split(
      '\n',
    );

  it('each run of a schedule pushes a branch of its own, and opens its own pull request', async () => {
    const push = { branch: 'millwright/{date}-{taskId}', pullRequest: { title: 'Sweep', draft: true } };
    const { id } = await create({ name: 'Sweep', repository: { url: github.url(), ref: 'main', push } });
    const tasks: Task[] = [];
    for (let count = 1; count <= 2; count++) {
      await makeDue(service.db, id);
      tasks.push(await taskOf((await runs(service.db, id, count)).at(-1)?.taskId));
    }
    const named = tasks.map((task) => `millwright/${task.createdAt.slice(0, 10)}-${task.id}`);
    expect(tasks.map(({ status, repository }) => [status, repository?.push])).toEqual(
      named.map((branch) => ['completed', { branch, url: `https://${github.name}/acme/api/tree/${branch}` }]),
    );
    expect(branches(github)).toEqual(expect.arrayContaining(named));
    expect(github.pullRequests).toMatchObject(
      named.map((branch) => ({ branch, base: 'main', title: 'Sweep', draft: true })),
    );
    expect(tasks.map(({ pullRequest }) => pullRequest?.url)).toEqual(
      [1, 2].map((number) => `https://${github.name}/acme/api/pull/${number}`),
    );
  });

  it('is shown as given; PATCH replaces it, null clears it, a dry run makes nothing', async () => {
    const url = `https://${github.name.toUpperCase()}/acme/api`;
    const push = { branch: 'millwright/{taskId}', pullRequest: {} };
    const shown = {
      ...{ url, ref: 'v1' },
      push: { branch: push.branch, pullRequest: { title: null, base: null, draft: false } },
    };
    const rehearsed = await post({ repository: { url, ref: 'v1', push }, dryRun: true });
    expect([rehearsed.status, rehearsed.body.automation.repository]).toEqual([200, shown]);
    const made = await create({ repository: { url, ref: 'v1', push } });
    expect(made.repository).toEqual(shown);
    expect((await change(made.id, { name: 'B' })).body.automation.repository).toEqual(shown);
    expect(await readAutomation(owner.client, made.id)).toMatchObject({ repository: shown });
    const reading = (await change(made.id, { repository: { url: github.url() } })).body.automation;
    expect(reading.repository).toEqual({ url: github.url(), ref: null, push: null });
    const refused = await change(made.id, { repository: { url: github.url(), push: { branch: 'main' } } });
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
      ...[400, 'repository_not_allowed', 'repository.push'],
    ]);
    expect(await readAutomation(owner.client, made.id)).toEqual(reading);
    expect((await change(made.id, { repository: null })).body.automation.repository).toBeNull();
    expect((await create({})).repository).toBeNull();
    const run = await runNow(made);
    expect((await taskOf(run.taskId)).repository).toBeNull();
  });

  it.each<[unknown, string, string]>([
    ['acme/api', 'invalid_field', 'repository'],
    [{}, 'invalid_field', 'repository.url'],
    [{ url: 'acme/api' }, 'invalid_field', 'repository.url'],
    [{ url: 'http://git.example/acme/api' }, 'repository_not_allowed', 'repository.url'],
    [{ ref: 'a..b' }, 'invalid_field', 'repository.ref'],
    [{ push: { branch: 'main' } }, 'repository_not_allowed', 'repository.push'],
    [{ push: { branch: '{date}' } }, 'repository_not_allowed', 'repository.push'],
    [{ push: { branch: 'millwright/{date}/{taskId}' } }, 'repository_not_allowed', 'repository.push'],
    [{ push: { branch: 'millwright/a..b' } }, 'invalid_field', 'repository.push.branch'],
    [{ push: { branch: 'millwright/{runId}' } }, 'invalid_field', 'repository.push.branch'],
    [{ push: { branch: 'millwright/{}' } }, 'invalid_field', 'repository.push.branch'],
    [{ push: { branch: 'millwright/{taskId' } }, 'invalid_field', 'repository.push.branch'],
    [{ push: { branch: `millwright/${'x'.repeat(230)}{taskId}` } }, 'invalid_field', 'repository.push.branch'],
    [{ push: { branch: 'millwright/x', force: true } }, 'unknown_field', 'repository.push.force'],
  ])('%j is refused when the automation is written', async (given, code, param) => {
    const whole = typeof given === 'object' && given !== null && Object.keys(given).some((key) => key !== 'url');
    const repository = whole ? { url: github.url(), ...given } : given;
    for (const json of [{ repository }, { repository, dryRun: true }]) {
      const { status, body } = await post(json);
      expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
    }
  });

  it('what the workspace may not push any more fails the run, and says why', async () => {
    const { client } = owner;
    const body = { host: gitlab.name, token: TOKENS.gitlab, paths: ['acme/*'], push: ['sweeps/*'] };
    const made = await client.post<{ connection: { id: string } }>(CONNECTIONS, body);
    const connection = `${CONNECTIONS}/${made.body.connection.id}`;
    const automation = await create({ repository: { url: gitlab.url(), push: { branch: 'sweeps/{taskId}' } } });
    const first = await taskOf((await runNow(automation)).taskId);
    expect([first.status, branches(gitlab)]).toEqual(['completed', ['main', `sweeps/${first.id}`]]);

    const refused = {
      ...{ status: 'failed', taskId: null },
      reason: {
        code: 'repository_not_allowed',
        message:
          'repository.push names a branch that neither the operator nor a connection of this workspace allows for this repository.',
      },
    };
    expect((await client.patch(connection, { push: ['other/*'] })).status).toBe(200);
    expect(await runNow(automation)).toMatchObject(refused);
    expect((await client.patch(connection, { push: ['sweeps/*'] })).status).toBe(200);
    expect((await taskOf((await runNow(automation)).taskId)).status).toBe('completed');
    expect((await client.delete(connection)).status).toBe(200);
    await makeDue(service.db, automation.id);
    expect((await runs(service.db, automation.id, 4)).at(-1)).toMatchObject({ ...refused, triggerType: 'schedule' });
    expect(await readAutomation(client, automation.id)).toMatchObject({ status: 'active' });
    expect((await change(automation.id, { name: 'Still mine' })).status).toBe(200);
  });

  it('a task that an event began works on it and pushes as the automation says', async () => {
    const { path, secret } = await connect(service, owner);
    const push = { branch: 'millwright/push-{taskId}' };
    const { id } = await create({ cron: null, triggerEvent: 'github.push', repository: { url: github.url(), push } });
    expect((await deliver(service, path, signed(secret))).status).toBe(200);
    const [run] = await runs(service.db, id);
    expect(run).toMatchObject({ triggerType: 'event', status: 'started' });
    const task = await taskOf(run?.taskId);
    const told = (await readMessages(owner.client, task.id)).flatMap(({ parts }) => parts);
    expect(told.filter(({ name }) => name === 'repository_push')).toEqual([]);
    expect([task.status, task.network?.hosts ?? []]).toEqual(['completed', []]);
    expect(branches(github)).toContain(`millwright/push-${task.id}`);
  });
});
