import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { upload } from '../harness/files.js';
import { ModelServer } from '../harness/model-server.js';
import { createProject, type FileBody } from '../harness/projects.js';
import { call, createTask, finished, reaches, readMessages, runTask, script, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

describe('What a turn leaves, and what adds up over all turns (reference §4, §7)', () => {
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

  const bash = (command: string) => call('bash', { command });
  const send = async ({ id }: TaskBody, content: string) => {
    expect((await member.client.post(`/v1/tasks/${id}/messages`, { content })).status).toBe(202);
    return finished(member.client, id);
  };
  const results = async ({ id }: TaskBody) =>
    (await readMessages(member.client, id)).flatMap(({ parts }) => parts.filter(({ type }) => type === 'tool_result'));

  it('a file that the agent publishes is a task file, and its bytes are downloaded as they were written', async () => {
    const work = [bash('mkdir out; printf "a,b\\n1,2\\n" > out/table.csv'), call('publish', { path: 'out/table.csv' })];
    const task = await runTask(member.client, script(...work, { text: 'Published.' }));
    const { body } = await member.client.get<{ files: FileBody[] }>(`/v1/tasks/${task.id}/files`);
    const [file] = body.files;
    expect(body.files).toMatchObject([
      { name: 'table.csv', origin: 'task', size: 8, taskId: task.id, projectId: null },
    ]);
    expect((await member.client.get(`/v1/files/${file?.id}`)).body).toEqual({ file });
    const { pathname, origin } = new URL(file?.downloadUrl ?? '');
    expect([origin, pathname]).toEqual([service.url, `/v1/files/${file?.id}/content`]);
    expect((await member.client.get(pathname)).text).toBe('a,b\n1,2\n');
    expect(task.result).toEqual({ text: 'Published.', fileIds: [file?.id], output: null });
  });

  it('result.text is the text of the last answer, fileIds are the files that this turn published', async () => {
    const publish = (name: string) => [bash(`echo ${name} > ${name}`), call('publish', { path: name })];
    const step = { text: 'On the way.', ...bash('true') };
    const first = await runTask(member.client, script(step, ...publish('one'), ...publish('two'), { text: 'Two.' }));
    expect(first.result).toMatchObject({ text: 'Two.', fileIds: [expect.any(String), expect.any(String)] });
    const second = await send(first, script(...publish('three'), { text: 'One more.' }));
    expect(second.result).toEqual({ text: 'One more.', fileIds: [expect.any(String)], output: null });
    expect(first.result?.fileIds).not.toContain(second.result?.fileIds[0]);
    const third = await send(first, script({ text: 'No more.' }));
    expect(third.result).toEqual({ text: 'No more.', fileIds: [], output: null });
  });

  it('usage adds up over all turns, failed ones too; startedAt stays the first start', async () => {
    const usage = { input: 100, output: 7, cached: 40, reasoning: 3 };
    const first = await runTask(member.client, script({ ...bash('true'), usage }, { text: 'First.', usage }));
    const failed = await send(first, script({ ...bash('echo'), usage }, { status: 400 }));
    const third = await send(first, script({ text: 'Third.', usage }));
    expect([first, failed, third].map(({ status }) => status)).toEqual(['completed', 'failed', 'completed']);
    expect(third.usage).toMatchObject({
      inputTokens: 400,
      outputTokens: 28,
      cachedInputTokens: 160,
      reasoningTokens: 12,
      steps: 4,
      toolCalls: 2,
    });
    expect(third.usage['durationMs']).toBeGreaterThan(first.usage['durationMs'] ?? 0);
    expect([failed.startedAt, third.startedAt]).toEqual([first.startedAt, first.startedAt]);
  });

  slowIt(
    'durationMs counts running time only: waiting for a person, and between two turns, does not count',
    async () => {
      const { id } = await createTask(member.client, { content: script(call('ask', { question: 'Why?' })) });
      const { pendingInteraction, usage } = await reaches(member.client, id, 'awaiting_input');
      const pause = async () => {
        const begun = performance.now();
        await until('the time to pass', () => performance.now() - begun > 1000);
      };
      await pause();
      const answer = { interactionId: pendingInteraction?.id, content: 'Because.' };
      await member.client.post(`/v1/tasks/${id}/interaction`, answer);
      await finished(member.client, id);
      await pause();
      await member.client.post(`/v1/tasks/${id}/messages`, { content: script({ text: 'Again.' }) });
      const task = await finished(member.client, id);
      const { startedAt, finishedAt } = task;
      const whole = Date.parse(finishedAt ?? '') - Date.parse(startedAt ?? '');
      expect(task.usage['durationMs']).toBeGreaterThan(usage['durationMs'] ?? 0);
      expect(task.usage['durationMs']).toBeLessThan(whole - 1900);
    },
  );

  it('content may be omitted when attachments give enough context: in a task, a message and an answer', async () => {
    const attachments = async (name: string) => [{ uploadId: (await upload(service, member, name, { name })).id }];
    const task = await createTask(member.client, { attachments: await attachments('plan.txt') });
    expect(task.title).toBe('plan.txt');
    await finished(member.client, task.id);
    const path = `/v1/tasks/${task.id}`;
    const sent = await member.client.post(`${path}/messages`, { attachments: await attachments('more.txt') });
    expect(sent.status).toBe(202);
    await finished(member.client, task.id);
    await member.client.post(`${path}/messages`, { content: script(call('ask', { question: 'Where?' })) });
    const { pendingInteraction } = await reaches(member.client, task.id, 'awaiting_input');
    const answer = { interactionId: pendingInteraction?.id, attachments: await attachments('here.txt') };
    expect((await member.client.post(`${path}/interaction`, answer)).status).toBe(202);
    await finished(member.client, task.id);
    // The model is told of each.
    const told = JSON.stringify(model.requests.at(-1)?.body.messages);
    for (const name of ['plan.txt', 'more.txt', 'here.txt']) expect(told).toContain(name);
  });

  it('attachments lie in the workdir under attachments/<name>, equal names get (2); they stay for later turns', async () => {
    const attachments: { uploadId: string }[] = [];
    for (const [name, bytes] of [
      ['notes.txt', 'one'],
      ['notes.txt', 'two'],
      ['b.txt', 'three'],
    ] as const) {
      attachments.push({ uploadId: (await upload(service, member, bytes, { name })).id });
    }
    const look = script(bash('cd attachments && grep . *'), { text: 'Seen.' });
    const task = await createTask(member.client, { attachments });
    await finished(member.client, task.id);
    for (let turn = 0; turn < 2; turn++) await send(task, look);
    const listing = 'b.txt:three\nnotes (2).txt:two\nnotes.txt:one\n';
    expect((await results(task)).map(({ output }) => output)).toMatchObject([{ stdout: listing }, { stdout: listing }]);
  });

  it('the workdir lives as long as the task: what one turn wrote the next one finds', async () => {
    const task = await runTask(member.client, script(bash('echo kept > kept.txt'), { text: 'Written.' }));
    await send(task, script(bash('cat kept.txt'), { text: 'Read.' }));
    expect((await results(task)).at(-1)).toMatchObject({ output: { stdout: 'kept\n' } });
  });

  it('so do /tmp and the home of the agent, for every tool', async () => {
    const work = [
      bash('echo needle > /tmp/log.txt; mkdir ~/notes'),
      call('write', { path: '~/notes/a.md', content: 'kept\n' }),
    ];
    const task = await runTask(member.client, script(...work, { text: 'Written.' }));
    const look = [
      call('read', { path: '/tmp/log.txt' }),
      call('edit', { path: '~/notes/a.md', oldText: 'kept', newText: 'changed' }),
      call('read', { path: '~/notes' }),
      call('grep', { pattern: 'needle', path: '/tmp' }),
      call('glob', { pattern: '*.md', path: '~' }),
      call('publish', { path: '/tmp/log.txt' }),
      bash('cat ~/notes/a.md; pwd'),
    ];
    await send(task, script(...look, { text: 'Read.' }));
    const [read, edit, list, grep, glob, publish, last] = (await results(task)).slice(2);
    expect(read?.output).toContain('needle');
    expect(edit?.status).toBe('success');
    expect(list?.output).toContain('a.md');
    expect(grep?.output).toContain('needle');
    expect(glob?.output).toContain('notes/a.md');
    expect(publish?.status).toBe('success');
    expect(last?.output).toMatchObject({ stdout: 'changed\n/workdir\n' });
  });

  it('a member answers the question of a task that it sees, also when another has created it', async () => {
    const colleague = await makeMember(service, { workspace: member.workspace });
    const { id: projectId } = await createProject(member, { name: 'Shared', visibility: 'workspace' });
    const content = script(call('ask', { question: 'Why?' }), { text: 'I see.' });
    const { id } = await createTask(member.client, { content, projectId });
    const { pendingInteraction } = await reaches(colleague.client, id, 'awaiting_input');
    const answer = { interactionId: pendingInteraction?.id, content: 'Because.' };
    expect((await colleague.client.post(`/v1/tasks/${id}/interaction`, answer)).status).toBe(202);
    expect(await finished(colleague.client, id)).toMatchObject({ status: 'completed', result: { text: 'I see.' } });
  });
});
