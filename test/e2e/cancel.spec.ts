import { jest } from '@jest/globals';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { holdingTask, untilWaiting } from '../harness/locks.js';
import { ModelServer } from '../harness/model-server.js';
import { call, createTask, reaches, readMessages, readTask, runTask, script, type TaskBody } from '../harness/tasks.js';
import { newMark, processesGone, sleeps } from '../harness/processes.js';
import { until } from '../harness/until.js';
import { FencedError } from '../../src/work/runs/claimed-run.js';
import { RunRecorder } from '../../src/work/runs/run-recorder.js';
import { Notices } from '../../src/platform/notices/notices.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { slowIt } from '../harness/slow.js';

describe('Cancelling (reference §5)', () => {
  let model: ModelServer;
  let member: Member;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url, LEASE_SECONDS: '12' } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterEach(() => void jest.restoreAllMocks());
  afterAll(() => model.stop());

  const cancel = (id: string, who = member) => who.client.request<{ task: TaskBody }>('POST', `/v1/tasks/${id}/cancel`);

  it('a running task is cancelled at once, in the answer, and its processes are gone within 2 s', async () => {
    const mark = newMark();
    const { id } = await createTask(member.client, { content: script(call('bash', { command: `sleep ${mark}` })) });
    await sleeps(mark);
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

  slowIt.each([
    ['cancelled', (id: string) => cancel(id)],
    ['deleted', (id: string) => member.client.delete(`/v1/tasks/${id}`)],
  ])('a task that is %s and whose notice is lost: its processes are gone by the next heartbeat', async (_, end) => {
    const send = jest.spyOn(service.app.get(Notices), 'send').mockReturnValue(undefined);
    const mark = newMark();
    const { id } = await createTask(member.client, { content: script(call('bash', { command: `sleep ${mark}` })) });
    await sleeps(mark);
    expect((await end(id)).status).toBe(200);
    // A quarter of the lease of 12 s, and the rest for a busy machine. Without a renewal the run would have been stopped 8 s
    // after its claim.
    await processesGone(mark, 6_500);
    expect(send).toHaveBeenCalledWith({ stop: [expect.any(String)] });
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

  describe('a cancel and a completion that wait for the task together', () => {
    /** A task whose turn is over and not recorded yet; `complete` lets that begin, and resolves when it is done. */
    const aboutToComplete = async () => {
      const recorder = service.app.get(RunRecorder, { strict: false });
      const finish = recorder.finish.bind(recorder);
      let complete: (() => Promise<unknown>) | null = null;
      jest.spyOn(recorder, 'finish').mockImplementationOnce((...what) => {
        let go: () => void;
        const recorded = new Promise<void>((resolve) => (go = resolve)).then(() => finish(...what));
        complete = () => (go(), recorded);
        return recorded;
      });
      const { id } = await createTask(member.client, { content: script({ text: 'Quick.' }) });
      return { id, complete: await until('the turn to be over', () => complete) };
    };
    const runsOf = (id: string) => service.db.query('SELECT status FROM runs WHERE task_id = $1', [id]);
    const waits = (words: string) => untilWaiting(service.db, words);
    const COMPLETION = 'waiting_message_steers';
    const CANCEL = 'FOR UPDATE OF t';

    it('the cancel being first: 200, and the completion changes nothing any more', async () => {
      const { id, complete } = await aboutToComplete();
      const task = await holdingTask(service.db, id);
      const answer = cancel(id);
      await waits(CANCEL);
      const fenced = expect(complete()).rejects.toThrow(FencedError);
      await waits(COMPLETION);
      await task.release();
      expect((await answer).status).toBe(200);
      await fenced;
      expect(await readTask(member.client, id)).toMatchObject({ status: 'cancelled', result: null });
      expect(await runsOf(id)).toEqual([{ status: 'cancelled' }]);
    });

    it('the completion being first: 409, and the task stays completed', async () => {
      const { id, complete } = await aboutToComplete();
      const task = await holdingTask(service.db, id);
      const completed = complete();
      await waits(COMPLETION);
      const answer = cancel(id);
      await waits(CANCEL);
      await task.release();
      expect((await answer).body).toMatchObject({ error: { code: 'task_not_cancellable' } });
      await completed;
      expect(await readTask(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Quick.' } });
      expect(await runsOf(id)).toEqual([{ status: 'finished' }]);
    });
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
