import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { plan, runs } from '../harness/automations.js';
import { makeMember, type Member } from '../harness/client.js';
import type { CodeHost } from '../harness/code-hosts/code-host.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { upload } from '../harness/files.js';
import { connect, deliver, github } from '../harness/hooks.js';
import { ModelServer } from '../harness/model-server.js';
import {
  call,
  createTask,
  finished,
  finishedLater,
  reaches,
  readResults,
  runTask,
  script,
  type TaskBody,
} from '../harness/tasks.js';

type Forked = TaskBody & {
  forkedFrom: { taskId: string; turn: number } | null;
  repository: { commit: string; push: { branch: string } | null } | null;
};

const TOKEN = 'a-token-for-github-0001';
const bash = (command: string) => call('bash', { command });

describe('Forks of tasks of all kinds (reference §5)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forks-'));
  let model: ModelServer;
  let host: CodeHost;
  let who: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    host = await FakeGitHub.start(TOKEN);
    const config = { repositories: host.entry('GITHUB', 'forkers'), repositoryNetworks: ['127.0.0.1/32'] };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    const env = { OPENAI_COMPATIBLE_URL: model.url, CONFIG_FILE: join(folder, 'config.json'), GITHUB: TOKEN };
    return bootWorker({ env });
  });
  beforeAll(async () => {
    const workspaces = service.app.get(WorkspacesService);
    const workspace = await workspaces.create({ name: 'Forkers', slug: 'forkers', plan: 'paid' });
    who = await makeMember(service, { workspace, role: 'owner' });
    host.make('acme/api', { 'a.txt': 'one\n' });
  });
  afterAll(async () => {
    await model.stop();
    await host.stop();
    rmSync(folder, { recursive: true });
  });

  const fork = async (taskId: string, body: object = {}) => {
    const answer = await who.client.post<{ task: Forked }>(`/v1/tasks/${taskId}/fork`, body);
    expect(answer).toMatchObject({ status: 201 });
    return answer.body.task;
  };
  const outputs = async (taskId: string) => (await readResults(who.client, taskId)).map(({ output }) => output);

  it('one whose turn a worker holds is forked at the turn before, and goes on beside it', async () => {
    const { id } = await runTask(who.client, script(bash('echo 1 > a'), { text: 'Done.' }));
    const held = script(bash('echo 2 > a; sleep 1000'), { text: 'Never said.' });
    await who.client.post(`/v1/tasks/${id}/messages`, { content: held });
    await reaches(who.client, id, 'running');
    const made = await fork(id, { content: script(bash('cat a'), { text: 'Read.' }) });
    expect(made.forkedFrom).toEqual({ taskId: id, turn: 1 });
    expect(await finished(who.client, made.id)).toMatchObject({ result: { text: 'Read.' } });
    expect(await outputs(made.id)).toContainEqual(expect.objectContaining({ stdout: '1\n' }));
    expect(await reaches(who.client, id, 'running')).toMatchObject({ status: 'running' });
    await who.client.post(`/v1/tasks/${id}/cancel`);
  });

  it('one with a repository has the same commit, and a branch of its own', async () => {
    const repository = { url: host.url(), push: { branch: 'millwright/change' } };
    const content = script(bash('echo two >> repo/a.txt'), { text: 'Done.' });
    const { id } = await createTask(who.client, { content, repository });
    const { repository: first } = (await finishedLater(who.client, id)) as Forked;
    const made = await fork(id, { content: script(bash('cat repo/a.txt'), { text: 'Read.' }) });
    expect(made.repository?.push?.branch).toMatch(/^millwright\/change-fork-[\da-f]{8}$/);
    expect(((await finishedLater(who.client, made.id)) as Forked).repository?.commit).toBe(first?.commit);
    expect(await outputs(made.id)).toContainEqual(expect.objectContaining({ stdout: 'one\ntwo\n' }));
  });

  it('one with attachments has them as files of its own, which its agent reads', async () => {
    const { id: uploadId } = await upload(service, who, 'attached');
    const { id } = await runTask(who.client, script({ text: 'Seen.' }), { attachments: [{ uploadId }] });
    const made = await fork(id);
    await who.client.delete(`/v1/tasks/${id}`);
    await who.client.post(`/v1/tasks/${made.id}/messages`, { content: script(bash('find . -name a.txt -exec cat {} +'), { text: 'Read.' }) });
    await finished(who.client, made.id);
    expect(await outputs(made.id)).toContainEqual(expect.objectContaining({ stdout: 'attached' }));
  });

  it('one with files attached to an answer has them too, and its calls name them and what was published', async () => {
    const steps = [call('ask', { question: 'Which?' }), bash('echo made > b'), call('publish', { path: 'b' })];
    const { id } = await createTask(who.client, { content: script(...steps, { text: 'Done.' }) });
    const { pendingInteraction } = await reaches(who.client, id, 'awaiting_input');
    const { id: uploadId } = await upload(service, who, 'answered');
    const answer = { interactionId: pendingInteraction?.id, content: 'This.', attachments: [{ uploadId }] };
    expect((await who.client.post(`/v1/tasks/${id}/interaction`, answer)).status).toBe(202);
    await finished(who.client, id);
    const made = await fork(id);
    const { files } = (await who.client.get<{ files: { id: string; origin: string }[] }>(`/v1/tasks/${made.id}/files`)).body;
    const idOf = (origin: string) => files.find((file) => file.origin === origin)?.id ?? 'none';
    const [asked, , published] = await outputs(made.id);
    expect(asked).toMatchObject({ files: [{ id: idOf('attachment') }] });
    expect(published).toMatchObject({ id: idOf('task') });
    await who.client.delete(`/v1/tasks/${id}`);
    const content = script(bash('find . -name a.txt -exec cat {} +'), { text: 'Read.' });
    await who.client.post(`/v1/tasks/${made.id}/messages`, { content });
    await finished(who.client, made.id);
    expect(await outputs(made.id)).toContainEqual(expect.objectContaining({ stdout: 'answered' }));
  });

  it('one that an event began has no network in its forks either', async () => {
    const { id: connectionId, path, secret } = await connect(service, who);
    const given = { triggerEvent: 'github.push', connectionId, content: script({ text: 'Done.' }) };
    const automation = await plan(service.db, who, given);
    await deliver(service, path, github(secret, { body: JSON.stringify({ ref: 'refs/heads/main' }) }));
    const [run] = await runs(service.db, automation);
    const { id } = await finished(who.client, run?.taskId ?? '');
    const [first, second] = [await fork(id), await fork((await fork(id)).id)];
    const isolated = `SELECT count(*)::int AS n FROM tasks WHERE id = ANY($1) AND forked_from @> '{"isolated": true}'`;
    expect(await service.db.query(isolated, [[first.id, second.id]])).toEqual([{ n: 2 }]);
    expect(first).toMatchObject({ source: { type: 'api', automationId: null } });
  });

  it('its usage starts at 0, and its budget holds from its first run on', async () => {
    const steps = [bash('true'), bash('echo more'), { text: 'Done.' }];
    const { id } = await runTask(who.client, script(...steps), { budget: { maxSteps: 3 } });
    const [same, less] = [await fork(id, { content: script(...steps) }), await fork(id, { content: script(...steps), budget: { maxSteps: 2 } })];
    expect(same.usage).toMatchObject({ steps: 0, inputTokens: 0, outputTokens: 0, toolCalls: 0 });
    expect(await finished(who.client, same.id)).toMatchObject({ status: 'completed', usage: { steps: 3 } });
    expect(await finished(who.client, less.id)).toMatchObject({ statusReason: { code: 'budget_exceeded' } });
  });
}); // prettier-ignore
