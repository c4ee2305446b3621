import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import type { CodeHost } from '../harness/code-hosts/code-host.js';
import { FakeGitLab } from '../harness/code-hosts/gitlab.js';
import { ModelServer, stepOf, userText } from '../harness/model-server.js';
import { call, createTask, finishedLater } from '../harness/tasks.js';

const bash = (command: string) => call('bash', { command: `cd repo && ${command}` });

describe('The pull request of a task with checks (reference §15, §26)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'push-table-'));
  let model: ModelServer;
  let host: CodeHost;
  let member: Member;

  const service = useService(async () => {
    model = await ModelServer.start();
    host = await FakeGitLab.start('a-token-for-gitlab-0002');
    const config = { repositories: host.entry('GITLAB', 'pushers'), repositoryNetworks: ['127.0.0.1/32'] };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    const env = { OPENAI_COMPATIBLE_URL: model.url, CONFIG_FILE: join(folder, 'config.json') };
    return bootWorker({ env: { ...env, GITLAB: 'a-token-for-gitlab-0002' } });
  });
  beforeAll(async () => {
    const workspaces = service.app.get(WorkspacesService);
    const workspace = await workspaces.create({ name: 'Pushers', slug: 'pushers', plan: 'paid' });
    member = await makeMember(service, { workspace });
    host.make('acme/api', { 'a.txt': 'one\n', 'gone.txt': 'x\n' });
  });
  afterAll(async () => {
    await model.stop();
    await host.stop();
    rmSync(folder, { recursive: true });
  });

  const run = async (branch: string, more: object) => {
    const repository = { url: host.url(), push: { branch, pullRequest: {} } };
    const { id } = await createTask(member.client, { content: 'Work.', repository, ...more });
    expect((await finishedLater(member.client, id)).status).toBe('completed');
    return { id, text: host.pullRequests.at(-1)?.body ?? '' };
  };

  it('ends with the table of the checks of the last round; without checks it has none', async () => {
    const [work, repair] = [bash("echo 'exit 1' > a.txt && echo y > gone.txt"), bash("echo 'exit 0' > a.txt")];
    model.script = (request) => {
      if (stepOf(request) > 0) return { text: 'Done.' };
      return userText(request).includes('did not pass') ? repair : work;
    };
    const test = { name: 'test', command: 'sh a.txt', protect: ['gone.txt'] };
    const checks = [test, { name: 'lint', command: 'exit 3', required: false }];
    const { id, text } = await run('millwright/checked', { checks });
    const made = (task: string) => `Made by Millwright, task \`${task}\`.`;
    expect(text.replace(/\d+\.\d s/g, 'N s').split(/\n+/)).toEqual([
      made(id),
      '## Checks',
      'The service has run these checks itself, in a clean copy of the work:',
      '| Check | Before | Status | Exit code | Duration | Required |',
      '| --- | --- | --- | --- | --- | --- |',
      '| `test` | failed | passed | 0 | N s | yes |',
      '| `lint` | failed | failed | 3 | N s | no |',
      'Changed, but not used by these checks, which protect them:',
      '- `gone.txt`: `test`',
      `\`GET /v1/tasks/${id}/proof\` answers the signed proof of this.`,
    ]);
    const plain = await run('millwright/plain', {});
    expect(plain.text).toBe(made(plain.id));
  });

  it('is opened when checks that run again have passed, and not before', async () => {
    model.script = (request) => (stepOf(request) === 0 ? bash('echo two > a.txt') : { text: 'Done.' });
    const before = host.pullRequests.length;
    const repository = { url: host.url(), push: { branch: 'millwright/again', pullRequest: {} } };
    const checks = [{ name: 'test', command: 'false' }];
    const { id } = await createTask(member.client, { content: 'Work.', repository, checks, maxRepairs: 0 });
    expect((await finishedLater(member.client, id)).statusReason).toMatchObject({ code: 'checks_failed' });
    expect(host.pullRequests).toHaveLength(before);
    await member.client.patch(`/v1/tasks/${id}`, { checks: [{ name: 'test', command: 'grep two a.txt' }] });
    await member.client.post(`/v1/tasks/${id}/checks`);
    expect((await finishedLater(member.client, id)).status).toBe('completed');
    expect(host.pullRequests).toHaveLength(before + 1);
    expect(host.pullRequests.at(-1)?.body).toContain('| `test` | failed | passed | 0 |');
  });
});
