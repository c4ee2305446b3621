import { jest } from '@jest/globals';
import { TaskPause } from '../../src/resources/tasks/task-pause.js';
import { bootWorker, useService } from '../harness/app.js';
import { HeldModel } from '../harness/held-model.js';
import { type Answered, PauseBench, PAUSED } from '../harness/pauses.js';
import { createTask, finished, reaches, readMessages, type TaskBody } from '../harness/tasks.js';

const LATER = new Date(Date.now() + 3_600_000).toISOString();

describe('Pausing and resuming a task (reference §5)', () => {
  let model: HeldModel;
  let bench: PauseBench;

  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: '12' },
      config: { plans: { paid: { runningTasks: 100 } } },
    });
  });
  beforeAll(async () => {
    bench = await PauseBench.make(service, model);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    expect(model.held).toEqual([]);
  });
  afterAll(() => model.server.stop());

  describe('a queued task', () => {
    it('is not claimed while it is paused, says so, and runs when it is resumed', async () => {
      const id = await bench.pausedUnclaimed();
      expect(await bench.read(id)).toMatchObject({
        status: 'queued',
        statusReason: PAUSED,
        resumesAt: null,
        waitingFor: null,
      });
      const claims = bench.claims;
      const [run] = await bench.runsOf(id);
      expect(await claims.claim(run?.id ?? '')).toBeNull();
      expect(await claims.queued(10, 10, [])).toEqual([]);
      expect(await bench.resume(id)).toMatchObject({ status: 'queued', statusReason: null, resumesAt: null });
      (await bench.model.asked()).answer({ text: 'Done.' });
      expect(await finished(bench.member.client, id)).toMatchObject({ status: 'completed', statusReason: null });
      expect(await bench.statuses(id)).toEqual(['task.created', 'task.queued paused', 'task.queued', 'task.running', 'task.completed']); // prettier-ignore
    });

    it('is listed among the queued ones', async () => {
      const id = await bench.pausedUnclaimed();
      const { body } = await bench.member.client.get<{ tasks: TaskBody[] }>('/v1/tasks?status=queued');
      expect(body.tasks.map((task) => task.id)).toContain(id);
      await bench.ask('cancel', id);
    });

    it('takes messages while it is paused, and reads them after the resume', async () => {
      const id = await bench.pausedUnclaimed();
      await bench.send(id, 'More.');
      await bench.resume(id);
      const first = await bench.model.asked();
      expect(first.said).toEqual(['Begin.']);
      first.answer({ text: 'Done.' });
      const second = await bench.model.asked();
      expect(second.said).toEqual(['Begin.', 'More.']);
      second.answer({ text: 'That too.' });
      expect(await finished(bench.member.client, id)).toMatchObject({ result: { text: 'That too.' } });
    });

    it('whose only message is withdrawn while it is paused is cancelled', async () => {
      const id = await bench.pausedUnclaimed();
      const [message] = await readMessages(bench.member.client, id);
      expect((await bench.member.client.delete(`/v1/tasks/${id}/messages/${message?.id}`)).status).toBe(200);
      expect(await bench.read(id)).toMatchObject({ status: 'cancelled', resumesAt: null });
      expect((await bench.runsOf(id)).map(({ status }) => status)).toEqual(['cancelled']);
    });
  });

  describe('twice', () => {
    it('is 200, and the second time of a pause counts', async () => {
      const id = await bench.pausedUnclaimed('Begin.', { resumeAt: LATER });
      expect(await bench.read(id)).toMatchObject({ statusReason: PAUSED, resumesAt: LATER });
      const again = await bench.pause(id);
      expect(again).toMatchObject({ statusReason: PAUSED, resumesAt: null });
      expect(await bench.pause(id)).toEqual(again);
      await bench.resume(id);
      const first = await bench.model.asked();
      expect(await bench.resume(id)).toMatchObject({ status: 'running', statusReason: null });
      first.answer({ text: 'Done.' });
      await finished(bench.member.client, id);
      const told = ['task.created', 'task.queued paused', 'task.updated resumesAt', 'task.queued', 'task.running', 'task.completed']; // prettier-ignore
      expect(await bench.statuses(id)).toEqual(told);
    });
  });

  describe('a task that waits for a person', () => {
    const asking = async () => {
      const { id, first } = await bench.running();
      first.answer({ calls: [{ name: 'ask', arguments: { question: 'Which?' } }] });
      const { pendingInteraction } = await reaches(bench.member.client, id, 'awaiting_input');
      return { id, interactionId: pendingInteraction?.id ?? '' };
    };

    it('keeps its question; an answer is taken, and read after the resume', async () => {
      const { id, interactionId } = await asking();
      expect(await bench.pause(id)).toMatchObject({
        status: 'awaiting_input',
        statusReason: PAUSED,
        pendingInteraction: { id: interactionId },
      });
      const answer = await bench.member.client.post<Answered>(`/v1/tasks/${id}/interaction`, { interactionId, content: 'This.' }); // prettier-ignore
      expect(answer.status).toBe(202);
      expect(answer.body.task).toMatchObject({ status: 'queued', statusReason: PAUSED, pendingInteraction: null });
      expect((await bench.runsOf(id)).at(-1)?.status).toBe('paused');
      await bench.resume(id);
      const next = await bench.model.asked();
      expect(JSON.stringify(next.request.messages.at(-1))).toContain('This.');
      next.answer({ text: 'Done.' });
      await finished(bench.member.client, id);
    });

    it('is resumed without an answer: it waits on', async () => {
      const { id, interactionId } = await asking();
      await bench.pause(id);
      expect(await bench.resume(id)).toMatchObject({ status: 'awaiting_input', statusReason: null });
      await bench.member.client.post(`/v1/tasks/${id}/interaction`, { interactionId, content: 'This.' });
      (await bench.model.asked()).answer({ text: 'Done.' });
      await finished(bench.member.client, id);
    });

    it('takes a message in place of the answer, and reads it after the resume', async () => {
      const { id } = await asking();
      await bench.pause(id);
      await bench.send(id, 'Never mind.');
      expect(await bench.read(id)).toMatchObject({ status: 'queued', statusReason: PAUSED });
      await bench.resume(id);
      const next = await bench.model.asked();
      expect(JSON.stringify(next.request.messages)).toContain('Never mind.');
      next.answer({ text: 'Done.' });
      await finished(bench.member.client, id);
    });

    it('whose question expires stays paused', async () => {
      const { id, interactionId } = await asking();
      await bench.pause(id);
      await service.db.query('UPDATE interactions SET expires_at = now() WHERE id = $1', [interactionId]);
      await bench.stopped(id);
      expect(await bench.read(id)).toMatchObject({ statusReason: PAUSED });
      await bench.resume(id);
      const next = await bench.model.asked();
      expect(JSON.stringify(next.request.messages.at(-1))).toContain('no answer by');
      next.answer({ text: 'Done.' });
      await finished(bench.member.client, id);
    });
  });

  it('a paused task is cancelled as others are', async () => {
    const id = await bench.pausedUnclaimed('Begin.', { resumeAt: LATER });
    expect(await bench.moved('cancel', id)).toMatchObject({
      status: 'cancelled',
      statusReason: { code: 'cancelled' },
      resumesAt: null,
    });
    expect((await bench.runsOf(id)).map(({ status }) => status)).toEqual(['cancelled']);
  });

  it('a paused task is deleted as others are', async () => {
    const id = await bench.pausedUnclaimed();
    expect((await bench.member.client.delete(`/v1/tasks/${id}`)).status).toBe(200);
    expect((await bench.ask('resume', id)).status).toBe(404);
  });

  it('a final task is 409 task_not_pausable, paused and resumed', async () => {
    const { id, first } = await bench.running();
    first.answer({ text: 'Done.' });
    await finished(bench.member.client, id);
    for (const verb of ['pause', 'resume']) {
      const { status, body } = await bench.ask(verb, id);
      expect([status, body.error.code]).toEqual([409, 'task_not_pausable']);
    }
  });

  it('resumeAt that does not lie ahead, or is no time, is 400', async () => {
    const id = await bench.pausedUnclaimed();
    for (const resumeAt of ['2020-01-01T00:00:00Z', 'soon', 5, null]) {
      const { status, body } = await bench.ask('pause', id, { resumeAt });
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_field', 'resumeAt']);
    }
    await bench.ask('cancel', id);
  });

  describe('with resumeAt', () => {
    const due = (ids: string[]) =>
      service.db.query(`UPDATE tasks SET resumes_at = now() - interval '1 s' WHERE id = ANY($1)`, [ids]);

    it('a task goes on by itself at that time', async () => {
      const resumeAt = new Date(Date.now() + 1_500).toISOString();
      const id = await bench.pausedUnclaimed('Begin.', { resumeAt });
      expect(await bench.read(id)).toMatchObject({ status: 'queued', resumesAt: resumeAt });
      const { answer } = await bench.model.asked();
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(resumeAt));
      answer({ text: 'Done.' });
      expect(await finished(bench.member.client, id)).toMatchObject({ status: 'completed', resumesAt: null });
    });

    it('those of one moment come to the queue in their order, and not all at once', async () => {
      const claim = jest.spyOn(bench.claims, 'claim').mockResolvedValue(null);
      const pauses = service.app.get(TaskPause, { strict: false });
      const wake = pauses.wake.bind(pauses);
      jest.spyOn(pauses, 'wake').mockResolvedValue(undefined);
      const ids: string[] = [];
      for (let n = 0; n < 60; n++) ids.push((await createTask(bench.member.client, { content: `Task ${n}` })).id);
      for (const id of ids) await bench.pause(id, { resumeAt: LATER });
      await due(ids);
      const woken = async () =>
        (
          await service.db.query<{ id: string }>(
            `SELECT task_id AS id FROM runs WHERE status = 'queued' AND task_id = ANY($1) ORDER BY created_at, id`,
            [ids],
          )
        ).map(({ id }) => id);
      await wake();
      expect(await woken()).toEqual(ids.slice(0, 50));
      await wake();
      expect(await woken()).toEqual(ids);
      for (const id of ids) await bench.ask('cancel', id);
      claim.mockRestore();
    });
  });
});
