import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { ALL_SHOWN, expectNumbered, fold, readEvents, told } from '../harness/events.js';
import { bash, HeldModel } from '../harness/held-model.js';
import {
  call,
  createTask,
  finished,
  type MessageBody,
  reaches,
  readMessages,
  type TaskBody,
} from '../harness/tasks.js';
import { until } from '../harness/until.js';

const RESUMED = ['task.queued', 'task.running'];
const ANSWERED = ['message.completed assistant', 'task.completed'];

describe('The events of questions and approvals (reference §17)', () => {
  let model: HeldModel;
  let member: Member;
  /** What the API listed when a task had so many events. */
  const seen: { id: string; events: number; messages: MessageBody[] }[] = [];

  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: '600' },
      config: { transparency: ALL_SHOWN },
    });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.server.stop());

  // An event never changes afterwards: what was folded at any moment is folded from the same events at the end.
  afterEach(async () => {
    expect(model.held).toEqual([]);
    for (const { id, events: length, messages } of seen.splice(0)) {
      const events = await readEvents(service.db, id);
      expect(fold(events.slice(0, length), ALL_SHOWN, service.url)).toEqual(messages);
    }
  });

  /** The events so far, which amount to the list of messages at this moment: call it while nothing moves. */
  const events = async (id: string) => {
    const found = await readEvents(service.db, id);
    const messages = await readMessages(member.client, id);
    expectNumbered(found);
    expect(fold(found, ALL_SHOWN, service.url)).toEqual(messages);
    seen.push({ id, events: found.length, messages });
    return found;
  };
  const send = async (id: string, content: string, more = {}) => {
    expect((await member.client.post(`/v1/tasks/${id}/messages`, { content, ...more })).status).toBe(202);
  };
  const answer = async (id: string, task: TaskBody, body: object) => {
    const given = { interactionId: task.pendingInteraction?.id, ...body };
    expect((await member.client.post(`/v1/tasks/${id}/interaction`, given)).status).toBe(202);
  };
  const waits = (id: string) => reaches(member.client, id, 'awaiting_input');
  /** The agent asks, and the task waits. */
  const asking = async (ask: object) => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    (await model.asked()).answer(call('ask', ask));
    return { id, task: await waits(id) };
  };

  it.each([
    ['answered', { content: 'So.' }],
    ['answered by a message', null],
  ])('of a question that is %s end it before the task goes on', async (_, body) => {
    const { id, task } = await asking({ question: 'Why?' });
    const all = await events(id);
    expect(told(all).slice(4)).toEqual(['message.created assistant', 'interaction.created', 'task.awaiting_input']);
    const { id: interactionId, type, question } = task.pendingInteraction ?? {};
    expect(all.at(-2)).toMatchObject({ interaction: { id: interactionId, type, question } });
    if (body === null) await send(id, 'So.');
    else await answer(id, task, body);
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    const message = body === null ? ['message.completed user'] : [];
    const settled = ['tool.completed', 'message.completed assistant', ...message, 'interaction.settled answered'];
    const after = await events(id);
    expect(told(after).slice(7)).toEqual([...settled, ...RESUMED, ...ANSWERED]);
    const end = after.find(({ type }) => type === 'interaction.settled');
    expect(end).toMatchObject({
      interactionId: task.pendingInteraction?.id,
      by: { id: member.user.id, name: expect.any(String) },
    });
  });

  it('of a choice that a message takes the place of say that it was cancelled', async () => {
    const { id } = await asking({
      question: 'Which?',
      options: [
        { id: 'a', label: 'A' },
        { id: 'b', label: 'B' },
      ],
    });
    await send(id, 'Neither.');
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    const settled = ['tool.completed', 'message.completed assistant', 'message.completed user'];
    expect(told(await events(id)).slice(7, 11)).toEqual([...settled, 'interaction.settled cancelled']);
  });

  it('of a question that nobody answers say that it expired, by nobody', async () => {
    const { id } = await asking({ question: 'Why?' });
    await service.db.query(`UPDATE interactions SET expires_at = now() - interval '1 second' WHERE task_id = $1`, [id]);
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    const all = await events(id);
    const settled = ['tool.completed', 'message.completed assistant', 'interaction.settled expired'];
    expect(told(all).slice(7)).toEqual([...settled, ...RESUMED, ...ANSWERED]);
    expect(all[9]).toMatchObject({ by: null });
  });

  it('of approvals: each is created and settled by itself, then the call has its result', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.', approvals: 'writes' });
    (await model.asked()).answer(bash('true', 'false', 'echo no'));
    const asks = ['interaction.created', 'task.awaiting_input'];
    const first = await waits(id);
    expect((await events(id)).at(-2)).toMatchObject({ interaction: { toolCall: { name: 'bash' } } });
    await answer(id, first, { decision: 'approve' });
    const second = await until('the next approval', async () => {
      const task = await waits(id);
      return task.pendingInteraction?.id === first.pendingInteraction?.id ? null : task;
    });
    await answer(id, second, { decision: 'deny', reason: 'No.' });
    await until('the last approval', async () => {
      const { pendingInteraction } = await waits(id);
      return pendingInteraction?.id !== second.pendingInteraction?.id;
    });
    await events(id);
    await send(id, 'Leave it.');
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    expect(told(await events(id)).slice(4)).toEqual([
      'message.created assistant',
      ...asks,
      'interaction.settled approved',
      ...RESUMED,
      'tool.completed',
      ...asks,
      'tool.completed',
      'interaction.settled denied',
      ...RESUMED,
      ...asks,
      'tool.completed',
      'message.completed assistant',
      'message.completed user',
      'interaction.settled denied',
      ...RESUMED,
      ...ANSWERED,
    ]);
  });

  it('of a cancel close what is open: calls, their message, the question, then the status', async () => {
    const { id, task } = await asking({ question: 'Why?' });
    expect((await member.client.post(`/v1/tasks/${id}/cancel`)).status).toBe(200);
    const all = await events(id);
    const closed = ['tool.completed', 'message.completed assistant', 'interaction.settled cancelled', 'task.cancelled'];
    expect(told(all).slice(7)).toEqual(closed);
    expect(all.at(-2)).toMatchObject({ interactionId: task.pendingInteraction?.id, by: { id: member.user.id } });
    expect(all.at(-1)).toMatchObject({ data: { statusReason: { code: 'cancelled' } } });
    // What was sent meanwhile is read with the next message.
    await send(id, 'Again.');
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    expect(told(await events(id)).slice(11)).toEqual([
      'message.created user',
      'task.queued',
      'message.completed user',
      'task.running',
      ...ANSWERED,
    ]);
  });
});
