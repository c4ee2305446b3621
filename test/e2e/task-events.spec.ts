import { BACKFILL } from '../../src/operator/migrations/0016-events.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { ALL_SHOWN, EventWatch, fold, readEvents, told } from '../harness/events.js';
import { upload } from '../harness/files.js';
import { HandOverModule, SOURCE } from '../harness/hand-over.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { call, createTask, finished } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const BEGUN = ['message.created user', 'task.created', 'message.completed user', 'task.running'];
const ANSWERED = ['message.completed assistant', 'task.completed'];

interface Row {
  seq: number | null;
  type: string;
  data: Record<string, unknown>;
}

describe('The events of a task (reference §17)', () => {
  let model: HeldModel;
  let member: Member;
  let watch: EventWatch;

  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: '600' },
      config: { transparency: ALL_SHOWN },
      imports: [HandOverModule],
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

  const feed = (id: string) =>
    service.db.query<Row>('SELECT seq, type, data FROM workspace_events WHERE task_id = $1 ORDER BY xid, id', [id]);

  it('are written with each change: creation, start, step, call, file, answer, end', async () => {
    const file = await upload(service, member, 'bytes');
    const { id } = await createTask(member.client, { content: 'Begin.', attachments: [{ uploadId: file.id }] });
    const first = await model.asked();
    expect(told(await watch.events(id))).toEqual(BEGUN);
    first.answer({
      text: 'I write.',
      calls: [
        { name: 'bash', arguments: { command: 'echo a > a.txt; echo b > b.txt' } },
        { name: 'hand_over', arguments: {} },
        { name: 'hand_over', arguments: {} },
      ],
    });
    const second = await model.asked();
    const handed = ['file.published', 'file.published', 'tool.completed'];
    const step = ['message.created assistant', 'tool.completed', ...handed, ...handed, 'message.completed assistant'];
    expect(told(await watch.events(id)).slice(4)).toEqual(step);
    second.answer({ text: 'Done.' });
    await finished(member.client, id);
    const all = await watch.events(id);
    expect(told(all).slice(-2)).toEqual(ANSWERED);
    expect(all[4]).toMatchObject({ usage: { inputTokens: expect.any(Number), reasoningTokens: 0 } });
    expect(all[12]).toMatchObject({ usage: null });
    expect(all[6]).toMatchObject({ file: { name: 'a.txt', taskId: id } });
    expect(all[4]).toMatchObject({
      message: { parts: [{ type: 'step_start' }, {}, {}, {}, {}], status: 'in_progress' },
    });
    expect([all[8], all[11]]).toMatchObject([{ parts: [SOURCE] }, { parts: [SOURCE] }]);
    // At each moment between two events too.
    const counts = all.map((_, n) => fold(all.slice(0, n), ALL_SHOWN, service.url).at(-1)?.parts.length ?? 0);
    expect(counts.slice(1, 15)).toEqual([2, 2, 2, 2, 5, 6, 6, 6, 8, 8, 8, 10, 10, 2]);
  });

  it('of its status say what the task was then, in the log of the workspace too', async () => {
    const metadata = { ticket: '7' };
    const { id } = await createTask(member.client, { content: 'Begin.', metadata });
    (await model.asked()).answer(call('ask', { question: 'Why?' }));
    const { pendingInteraction } = await watch.waits(id);
    await watch.send(id, 'So.');
    (await model.asked()).answer({ text: 'Done.' });
    const { usage } = await finished(member.client, id);
    const found = await feed(id);
    const source = { type: 'api', automationId: null, automationRunId: null };
    const common = { statusReason: null, projectId: null, source, metadata, interactionId: null };
    expect(found.map(({ type, data: { usage: _, ...data } }) => ({ type, ...data }))).toEqual([
      { type: 'task.created', status: 'queued', ...common, parentTaskId: null },
      { type: 'task.running', status: 'running', ...common },
      { type: 'task.awaiting_input', status: 'awaiting_input', ...common, interactionId: pendingInteraction?.id },
      { type: 'task.queued', status: 'queued', ...common },
      { type: 'task.running', status: 'running', ...common },
      { type: 'task.completed', status: 'completed', ...common },
    ]);
    expect(found.at(-1)?.data['usage']).toEqual(usage);
    const own = (await watch.events(id)).filter(({ type }) => type.startsWith('task.'));
    expect(own.map(({ seq, type }) => [seq, type])).toEqual(found.map(({ seq, type }) => [seq, type]));
    expect(own).toMatchObject(found.map(({ data }) => ({ data })));
  });

  it('of a message that steers come with the write that hands it over', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const first = await model.asked();
    await watch.send(id, 'This.', { mode: 'steer' });
    await watch.send(id, 'And that.', { mode: 'steer' });
    expect(told(await watch.events(id)).slice(4)).toEqual(['message.created user', 'message.created user']);
    first.answer(bash('true'));
    const second = await model.asked();
    const read = ['message.completed user', 'message.completed user'];
    const step = ['message.created assistant', ...read, 'tool.completed', 'message.completed assistant'];
    expect(told(await watch.events(id)).slice(6)).toEqual(step);
    // While a call runs, so that its result hands the message over.
    second.answer(bash('true', 'while [ ! -e go ]; do sleep 0.05; done'));
    await until(
      'the first call to be done',
      async () => told(await readEvents(service.db, id)).at(-1) === 'tool.completed',
    );
    await watch.send(id, 'Go.', { mode: 'steer' });
    await watch.send(id, 'Stop.', { mode: 'interrupt' });
    const next = await model.asked();
    const after = told(await watch.events(id)).slice(11);
    expect(after).toEqual([
      'message.created assistant',
      'tool.completed',
      'message.created user',
      'tool.completed',
      'message.completed assistant',
      'message.created user',
      'task.queued',
      'message.completed user',
      'message.completed user',
      'task.running',
    ]);
    next.answer({ text: 'Done.' });
    await finished(member.client, id);
    await watch.events(id);
  });

  it('of a failure say why', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.', budget: { maxSteps: 1 } });
    (await model.asked()).answer(bash('true'));
    expect(await finished(member.client, id)).toMatchObject({ status: 'failed' });
    const all = await watch.events(id);
    expect(told(all).slice(-1)).toEqual(['task.failed']);
    expect(all.at(-1)).toMatchObject({ data: { statusReason: { code: 'budget_exceeded' }, usage: { steps: 1 } } });
  });

  it('of a change name what changed, and of none there are none', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    const { project } = (await member.client.post<{ project: { id: string } }>('/v1/projects', { name: 'P' })).body;
    const change = (body: object) => member.client.patch(`/v1/tasks/${id}`, body);
    await change({ title: 'New', metadata: { a: 'b' } });
    await change({ title: 'New' });
    await change({});
    await change({ projectId: project.id, budget: { maxSteps: 3 } });
    await member.client.delete(`/v1/projects/${project.id}`);
    const own = (await watch.events(id)).slice(6);
    const metadata = { a: 'b' };
    expect(own).toMatchObject([
      { type: 'task.updated', data: { changed: ['title', 'metadata'], projectId: null, metadata } },
      { type: 'task.updated', data: { changed: ['projectId', 'budget'], projectId: project.id, metadata } },
      { type: 'task.updated', data: { changed: ['projectId'], projectId: null, metadata } },
    ]);
    expect((await feed(id)).slice(-3).map(({ data }) => data)).toMatchObject(
      own.map((event) => ('data' in event ? event.data : {})),
    );
  });

  it('of tasks from before the log are made of what is there', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.', approvals: 'writes' });
    (await model.asked()).answer(bash('true', 'true'));
    await watch.answer(id, await watch.waits(id), { decision: 'approve' });
    const task = await until('the next approval', async () => {
      const found = told(await readEvents(service.db, id));
      return found.filter((type) => type === 'task.awaiting_input').length === 2 ? watch.waits(id) : null;
    });
    await service.db.query('DELETE FROM task_events');
    await service.db.query('UPDATE tasks SET last_event = 0');
    await service.db.query(BACKFILL);
    const before = ['message.completed user', 'message.created assistant', 'tool.completed', 'task.awaiting_input'];
    expect(told(await watch.events(id))).toEqual(before);
    await watch.answer(id, task, { decision: 'approve' });
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    await watch.events(id);
  });

  it('go with the task; that it was deleted stays in the log of the workspace', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    await member.client.delete(`/v1/tasks/${id}`);
    expect(await readEvents(service.db, id)).toEqual([]);
    const source = { type: 'api', automationId: null, automationRunId: null };
    const data = { projectId: null, createdBy: member.user.id, source };
    expect(await feed(id)).toEqual([{ seq: 7, type: 'task.deleted', data }]);
  });

  it('have numbers that each change takes in its turn, however many are under way', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const first = await model.asked();
    await Promise.all(Array.from({ length: 12 }, (_, n) => watch.send(id, `Message ${n}.`, { mode: 'steer' })));
    first.answer({ text: 'Done.' });
    (await model.asked()).answer({ text: 'Done again.' });
    await finished(member.client, id);
    const all = await watch.events(id);
    const kinds = told(all).filter((type) => type.endsWith('user'));
    expect(kinds).toHaveLength(26);
  });
});
