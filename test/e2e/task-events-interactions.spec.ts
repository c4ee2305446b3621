import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { ALL_SHOWN, EventWatch, told } from '../harness/events.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { call, createTask, finished } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const RESUMED = ['task.queued', 'task.running'];
const ANSWERED = ['message.completed assistant', 'task.completed'];

describe('The events of questions and approvals (reference §17)', () => {
  let model: HeldModel;
  let member: Member;
  let watch: EventWatch;

  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: '600' },
      config: { transparency: ALL_SHOWN },
    });
  });
  beforeAll(async () => {
    member = await makeMember(service);
    watch = new EventWatch(service, member.client);
  });
  afterAll(() => model.server.stop());

  afterEach(async () => {
    expect(model.held).toEqual([]);
    await watch.expectUnchanged();
  });

  /** The agent asks, and the task waits. */
  const asking = async (ask: object) => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    (await model.asked()).answer(call('ask', ask));
    return { id, task: await watch.waits(id) };
  };

  it.each([
    ['answered', { content: 'So.' }],
    ['answered by a message', null],
  ])('of a question that is %s end it before the task goes on', async (_, body) => {
    const { id, task } = await asking({ question: 'Why?' });
    const all = await watch.events(id);
    expect(told(all).slice(4)).toEqual(['message.created assistant', 'interaction.created', 'task.awaiting_input']);
    const { id: interactionId, type, question } = task.pendingInteraction ?? {};
    expect(all.at(-2)).toMatchObject({ interaction: { id: interactionId, type, question } });
    if (body === null) await watch.send(id, 'So.');
    else await watch.answer(id, task, body);
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    const message = body === null ? ['message.completed user'] : [];
    const settled = ['tool.completed', 'message.completed assistant', ...message, 'interaction.settled answered'];
    const after = await watch.events(id);
    expect(told(after).slice(7)).toEqual([...settled, ...RESUMED, ...ANSWERED]);
    const end = after.find(({ type }) => type === 'interaction.settled');
    expect(end).toMatchObject({
      interactionId: task.pendingInteraction?.id,
      by: { id: member.user.id, name: expect.any(String) },
    });
  });

  it('an answer brings an archived task back; archiving it answers nothing', async () => {
    const { id, task } = await asking({ question: 'Why?' });
    const { body } = await member.client.patch(`/v1/tasks/${id}`, { archived: true });
    expect(body).toMatchObject({ task: { archived: true, status: 'awaiting_input' } });
    await watch.answer(id, task, { content: 'So.' });
    (await model.asked()).answer({ text: 'Done.' });
    expect(await finished(member.client, id)).toMatchObject({ archived: false, status: 'completed' });
  });

  it('of a choice that a message takes the place of say that it was cancelled', async () => {
    const { id } = await asking({
      question: 'Which?',
      options: [
        { id: 'a', label: 'A' },
        { id: 'b', label: 'B' },
      ],
    });
    await watch.send(id, 'Neither.');
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    const settled = ['tool.completed', 'message.completed assistant', 'message.completed user'];
    expect(told(await watch.events(id)).slice(7, 11)).toEqual([...settled, 'interaction.settled cancelled']);
  });

  it('of a question that nobody answers say that it expired, by nobody', async () => {
    const { id } = await asking({ question: 'Why?' });
    await service.db.query(`UPDATE interactions SET expires_at = now() - interval '1 second' WHERE task_id = $1`, [id]);
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    const all = await watch.events(id);
    const settled = ['tool.completed', 'message.completed assistant', 'interaction.settled expired'];
    expect(told(all).slice(7)).toEqual([...settled, ...RESUMED, ...ANSWERED]);
    expect(all[9]).toMatchObject({ by: null });
  });

  it('of approvals: each is created and settled by itself, then the call has its result', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.', approvals: 'writes' });
    (await model.asked()).answer(bash('true', 'false', 'echo no'));
    const asks = ['interaction.created', 'task.awaiting_input'];
    const first = await watch.waits(id);
    expect((await watch.events(id)).at(-2)).toMatchObject({ interaction: { toolCall: { name: 'bash' } } });
    await watch.answer(id, first, { decision: 'approve' });
    const second = await until('the next approval', async () => {
      const task = await watch.waits(id);
      return task.pendingInteraction?.id === first.pendingInteraction?.id ? null : task;
    });
    await watch.answer(id, second, { decision: 'deny', reason: 'No.' });
    await until('the last approval', async () => {
      const { pendingInteraction } = await watch.waits(id);
      return pendingInteraction?.id !== second.pendingInteraction?.id;
    });
    await watch.events(id);
    await watch.send(id, 'Leave it.');
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    expect(told(await watch.events(id)).slice(4)).toEqual([
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
    const all = await watch.events(id);
    const closed = ['tool.completed', 'message.completed assistant', 'interaction.settled cancelled', 'task.cancelled'];
    expect(told(all).slice(7)).toEqual(closed);
    expect(all.at(-2)).toMatchObject({ interactionId: task.pendingInteraction?.id, by: { id: member.user.id } });
    expect(all.at(-1)).toMatchObject({ data: { statusReason: { code: 'cancelled' } } });
    // What was sent meanwhile is read with the next message.
    await watch.send(id, 'Again.');
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    expect(told(await watch.events(id)).slice(11)).toEqual([
      'message.created user',
      'task.queued',
      'message.completed user',
      'task.running',
      ...ANSWERED,
    ]);
  });
});
