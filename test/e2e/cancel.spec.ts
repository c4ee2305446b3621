import { bootApp, type TestApp } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { call, createTask, reaches, readMessages, readTask, runTask, script, type TaskBody } from '../harness/tasks.js';
import { processesGone, processesWith } from '../harness/processes.js';
import { until } from '../harness/until.js';
import { MembershipsService } from '../../src/workspaces/memberships.service.js';

describe('Cancelling (reference §5)', () => {
  let model: ModelServer;
  let service: TestApp;
  let member: Member;

  beforeAll(async () => {
    model = await ModelServer.start();
    service = await bootApp({ env: { OPENAI_COMPATIBLE_URL: model.url } });
    member = await makeMember(service);
  });
  afterAll(async () => {
    await service.close();
    await model.stop();
  });

  const cancel = (id: string, who = member) => who.client.request<{ task: TaskBody }>('POST', `/v1/tasks/${id}/cancel`);

  it('a running task is cancelled at once, in the answer, and its processes are gone within 2 s', async () => {
    const mark = `sleep 98${Date.now() % 100_000}`;
    const { id } = await createTask(member.client, { content: script(call('bash', { command: mark })) });
    await until('the command to run', () => processesWith(mark).length > 0);
    const { status, body } = await cancel(id);
    expect(status).toBe(200);
    expect(body.task).toMatchObject({
      status: 'cancelled',
      statusReason: { code: 'cancelled', retryable: false },
      finishedAt: expect.any(String),
      result: null,
    });
    await processesGone(mark, 2000);
    const [, step] = await readMessages(member.client, id);
    expect(step).toMatchObject({ status: 'complete' });
    expect(step?.parts.at(-1)).toMatchObject({
      type: 'tool_result',
      status: 'error',
      error: expect.stringContaining('ancelled'),
    });
    expect((await readTask(member.client, id)).status).toBe('cancelled');
  });

  it('a task that waits for a person is cancelled and no longer pending', async () => {
    const { id } = await createTask(member.client, { content: script(call('ask', { question: 'Why?' })) });
    const { pendingInteraction } = await reaches(member.client, id, 'awaiting_input');
    expect((await cancel(id)).body.task).toMatchObject({ status: 'cancelled', pendingInteraction: null });
    const answer = await member.client.post<ErrorBody>(`/v1/tasks/${id}/interaction`, {
      interactionId: pendingInteraction?.id,
      content: 'x',
    });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'interaction_not_pending']);
  });

  it('cancelling again is 200; a completed or failed task is 409 task_not_cancellable', async () => {
    const { id } = await createTask(member.client, { content: script({ hang: true }) });
    const first = await cancel(id);
    const second = await cancel(id);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body).toEqual(first.body);
    const done = await runTask(member.client, 'Hello.');
    const answer = await member.client.request<ErrorBody>('POST', `/v1/tasks/${done.id}/cancel`);
    expect([answer.status, answer.body.error.code]).toEqual([409, 'task_not_cancellable']);
  });

  it('a cancel that races the completion has one winner, and the task stays what it was told to be', async () => {
    for (let round = 0; round < 20; round++) {
      const { id } = await createTask(member.client, { content: script({ text: 'Quick.', firstByteMs: round }) });
      if (round % 2 === 0) await reaches(member.client, id, 'running', 'completed');
      const { status } = await cancel(id);
      const expected = status === 200 ? 'cancelled' : 'completed';
      await until('the run to be over', async () => {
        const open = await service.db.query(
          `SELECT 1 FROM runs WHERE task_id = $1 AND status IN ('queued', 'running')`,
          [id],
        );
        return open.length === 0;
      });
      expect((await readTask(member.client, id)).status).toBe(expected);
    }
  });

  it('removing a member cancels what it has under way', async () => {
    const leaver = await makeMember(service, { workspace: member.workspace });
    const { id } = await createTask(leaver.client, { content: script({ hang: true }) });
    await reaches(leaver.client, id, 'running');
    await service.app.get(MembershipsService).remove(leaver.workspace.id, leaver.user.id);
    expect((await leaver.client.get(`/v1/tasks/${id}`)).status).toBe(401);
    const owner = await makeMember(service, { workspace: member.workspace, role: 'owner' });
    expect(await readTask(owner.client, id)).toMatchObject({
      status: 'cancelled',
      statusReason: { code: 'owner_removed' },
    });
  });

  it('a body on cancel is ignored when empty or {}, else 400', async () => {
    const { id } = await createTask(member.client, { content: script({ hang: true }) });
    const answer = await member.client.post<ErrorBody>(`/v1/tasks/${id}/cancel`, { why: 'because' });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_body']);
    expect((await member.client.post(`/v1/tasks/${id}/cancel`, {})).status).toBe(200);
  });
});
