import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { addProjectFile, createProject } from '../harness/projects.js';
import { call, createTask, finished, reaches, readMessages, runTask, script, type TaskBody } from '../harness/tasks.js';

describe("A project's files in the sandbox of its tasks (reference §7)", () => {
  let model: ModelServer;
  let member: Member;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.stop());

  const results = async ({ id }: TaskBody) =>
    (await readMessages(member.client, id)).flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool_result'));
  const bash = (command: string) => call('bash', { command });

  it('are seen under /project/<name>, read-only, by every tool; equal names get (2)', async () => {
    const { id: projectId } = await createProject(member);
    for (const bytes of ['first', 'second']) await addProjectFile(service, member, projectId, bytes, 'notes.txt');
    await addProjectFile(service, member, projectId, '#!/bin/sh\necho ran', 'run.sh');
    const work = [
      bash('cd /project && grep . notes*; sh run.sh; ls -A /workdir'),
      bash('echo x > /project/notes.txt'),
      call('read', { path: '/project/notes (2).txt' }),
      call('glob', { pattern: '*.txt', path: '/project' }),
      call('grep', { pattern: 'sec', path: '/project' }),
      call('write', { path: '/project/new.txt', content: 'x' }),
      call('publish', { path: '/project/run.sh' }),
    ];
    const task = await runTask(member.client, script(...work, { text: 'Seen.' }), { projectId });
    expect(task).toMatchObject({ status: 'completed', projectId });
    const [listed, changed, read, glob, grep, write, publish] = await results(task);
    expect(listed?.output).toMatchObject({ stdout: 'notes (2).txt:second\nnotes.txt:first\nran\n' });
    expect((changed?.output as { exitCode: number }).exitCode).not.toBe(0);
    expect(read?.output).toContain('second');
    expect(glob?.output).toBe('/project/notes (2).txt\n/project/notes.txt');
    expect(grep?.output).toContain('/project/notes (2).txt:1:second');
    expect(write?.status).toBe('error');
    expect(publish?.status).toBe('success');
    const files = await member.client.get<{ files: { name: string; origin: string }[] }>(`/v1/tasks/${task.id}/files`);
    expect(files.body.files).toMatchObject([{ name: 'run.sh', origin: 'task' }]);
  });

  it('a task whose project is deleted goes on, without it', async () => {
    const { id: projectId } = await createProject(member);
    await addProjectFile(service, member, projectId, 'x', 'old.txt');
    const look = bash('ls -A /project');
    const content = script(look, call('ask', { question: 'Go on?' }), look, { text: 'Gone on.' });
    const task = await createTask(member.client, { content, projectId });
    const { pendingInteraction } = await reaches(member.client, task.id, 'awaiting_input');
    expect((await member.client.delete(`/v1/projects/${projectId}`)).status).toBe(200);
    const answer = { interactionId: pendingInteraction?.id, content: 'Yes.' };
    expect((await member.client.post(`/v1/tasks/${task.id}/interaction`, answer)).status).toBe(202);
    expect(await finished(member.client, task.id)).toMatchObject({ status: 'completed', projectId: null });
    const seen = (await results(task)).filter(({ name }) => name === 'bash');
    expect(seen.map(({ output }) => (output as { stdout: string }).stdout)).toEqual(['old.txt\n', '']);
  });

  it('are those of the project at the start of each turn; a task without one sees none', async () => {
    const { id: projectId } = await createProject(member);
    const file = await addProjectFile(service, member, projectId, 'x', 'old.txt');
    const look = script(bash('ls -A /project'), { text: 'Seen.' });
    const seen = async (task: TaskBody) =>
      (await results(task)).map(({ output }) => (output as { stdout: string }).stdout);
    expect(await seen(await runTask(member.client, look, { projectId }))).toEqual(['old.txt\n']);
    await member.client.delete(`/v1/projects/${projectId}/files/${file.id}`);
    await addProjectFile(service, member, projectId, 'x', 'new.txt');
    expect(await seen(await runTask(member.client, look, { projectId }))).toEqual(['new.txt\n']);
    expect(await seen(await runTask(member.client, look))).toEqual(['']);
  });
});
