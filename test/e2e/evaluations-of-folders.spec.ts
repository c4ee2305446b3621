// What a case began with, and that nothing is pushed (reference §27.5).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { createAgent } from '../harness/agents.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { holding, untilWaiting } from '../harness/locks.js';
import { ModelServer } from '../harness/model-server.js';
import { git } from '../harness/repositories.js';
import { bash, delegate, part, SubtaskBench } from '../harness/subtasks.js';
import { createTask, finishedLater, readResults, script, type TaskBody } from '../harness/tasks.js';

type Body = TaskBody & {
  repository: { commit: string; push: object | null } | null;
  changes: { files: number } | null;
  pullRequest: object | null;
};
const TOKEN = 'a-token-for-github-0001';
const DONE = { text: 'Done.' };

describe('The folders of an evaluation (reference §27.5)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'evaluations-'));
  let model: ModelServer;
  let github: FakeGitHub;
  let bench: SubtaskBench;
  const service = useService(async () => {
    model = await ModelServer.start();
    github = await FakeGitHub.start(TOKEN);
    const repositories = github.entry('GITHUB', 'pushers');
    const CONFIG_FILE = join(folder, 'config.json');
    const plans = { paid: { runningTasks: 100 } };
    writeFileSync(CONFIG_FILE, JSON.stringify({ repositories, repositoryNetworks: ['127.0.0.1/32'], plans }));
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url, GITHUB: TOKEN, CONFIG_FILE } });
  });
  beforeAll(async () => {
    github.make('acme/api', { 'a.txt': 'one\n' });
    const given = { name: 'Pushers', slug: 'pushers', plan: 'paid' as const };
    const workspace = await service.app.get(WorkspacesService).create(given);
    bench = new SubtaskBench(await makeMember(service, { workspace, role: 'owner' }));
    const push = { branch: 'millwright/{taskId}', pullRequest: {} };
    await createAgent(bench.client, { repository: { url: github.url(), push } });
  });
  afterAll(async () => {
    await model.stop();
    await github.stop();
    rmSync(folder, { recursive: true });
  });

  const refs = () => git(`${github.folder.path}/acme/api.git`, 'for-each-ref', '--format=%(refname) %(objectname)');
  const evaluate = async (one: object) => {
    const json = { versions: [1], cases: [one] };
    const answer = await bench.client.post<{ evaluation: { tasks: { taskId: string }[] } }>('/v1/agents/reviewer/evaluate', json); // prettier-ignore
    if (answer.status !== 202) throw new Error(answer.text);
    return (await finishedLater(bench.client, answer.body.evaluation.tasks[0]?.taskId ?? '')) as Body;
  };
  const printed = async (id: string) =>
    (await readResults(bench.client, id)).map(({ output }) => (output as { stdout?: string } | null)?.stdout);
  const onlyChild = async (id: string) => (await bench.childrenOf(id))[0]?.id ?? '';

  it('a repository is cloned at the commit of the task, changed, and never pushed: neither by its own wish nor by that of the agent', async () => {
    const content = script(bash('cd repo && cat a.txt && echo more >>a.txt'), DONE);
    const repository = { url: github.url(), push: { branch: 'millwright/first', pullRequest: {} } };
    const { id } = await createTask(bench.client, { content, repository });
    const first = (await finishedLater(bench.client, id)) as Body;
    expect([first.status, github.pullRequests.length]).toEqual(['completed', 1]);
    const bare = `${github.folder.path}/acme/api.git`;
    git(bare, 'update-ref', 'refs/heads/main', 'refs/heads/millwright/first');
    const before = refs();
    for (const one of [{ taskId: id }, { content, repository: { url: github.url(), ref: first.repository?.commit } }]) {
      const anew = await evaluate(one);
      expect(anew).toMatchObject({ status: 'completed', changes: { files: 1 }, pullRequest: null });
      expect(anew.repository).toMatchObject({ commit: first.repository?.commit, push: null });
      expect(await printed(anew.id)).toEqual(['one\n']);
    }
    const ofAgent = await evaluate({ content: script(bash('echo x >repo/new.txt'), DONE) });
    expect(ofAgent).toMatchObject({ status: 'completed', changes: { files: 1 }, repository: { push: null } });
    expect([refs(), github.pullRequests.length]).toEqual([before, 1]);
  });

  it('a task that another one has made begins with the changes of that one, also when that one is deleted', async () => {
    const look = part('A', [bash('cat repo/new.txt && echo theirs >repo/theirs.txt')], { folder: 'repository' });
    const { id } = await bench.run([bash('echo mine >repo/new.txt'), delegate(look)], { agent: null, repository: { url: github.url() } }); // prettier-ignore
    const child = await onlyChild(id);
    expect(await printed(child)).toEqual(['mine\n']);
    const anew = await evaluate({ taskId: child });
    expect([anew.status, await printed(anew.id)]).toEqual(['completed', ['mine\n']]);
    await bench.client.delete(`/v1/tasks/${id}`);
    await bench.client.post(`/v1/tasks/${anew.id}/messages`, { content: script(bash('cat repo/new.txt'), DONE) });
    expect(await finishedLater(bench.client, anew.id)).toMatchObject({ status: 'completed' });
    const again = await evaluate({ taskId: anew.id });
    expect([again.status, (await printed(again.id))[0]]).toEqual(['completed', 'mine\n']);
  });

  it('while its tasks are made nothing that publishes waits for it', async () => {
    const look = part('A', [], { folder: 'repository' });
    const { id } = await bench.run([bash('echo mine >repo/new.txt'), delegate(look)], { agent: null, repository: { url: github.url() } }); // prettier-ignore
    const { body } = await bench.client.post<{ project: { id: string } }>('/v1/projects', { name: 'P' });
    const grouped = await createTask(bench.client, { content: script(DONE), projectId: body.project.id });
    const cases = [{ taskId: await onlyChild(id) }, { taskId: grouped.id }];
    const project = await holding(service.db, 'SELECT 1 FROM projects WHERE id = $1 FOR UPDATE', [body.project.id]);
    const asked = bench.client.post('/v1/agents/reviewer/evaluate', { versions: [1], cases });
    try {
      await untilWaiting(service.db, 'projects');
      const { workspace } = bench.member;
      await service.db.query('SELECT 1 FROM storage_usage WHERE workspace_id = $1 FOR UPDATE NOWAIT', [workspace.id]);
    } finally {
      await project.release();
    }
    expect((await asked).status).toBe(202);
  });

  it('one that began with a copy of folders has the copy', async () => {
    const look = part('A', [bash('cat d/x ~/y && echo 3 >d/x')], { folder: 'copy' });
    const { id } = await bench.run([bash('mkdir d && echo 1 >d/x && echo 2 >~/y'), delegate(look)], { agent: null });
    const child = await onlyChild(id);
    expect(await printed(child)).toEqual(['1\n2\n']);
    const anew = await evaluate({ taskId: child });
    expect([anew.status, await printed(anew.id)]).toEqual(['completed', ['1\n2\n']]);
  });
});
