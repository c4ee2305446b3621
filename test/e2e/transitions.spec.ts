import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type Asked, bash, HeldModel } from '../harness/held-model.js';
import { recordStatuses, statusesOf } from '../harness/statuses.js';
import { createTask, finished, reaches, readTask, type TaskBody } from '../harness/tasks.js';

const OPTIONS = [
  { id: 'a', label: 'A' },
  { id: 'b', label: 'B' },
];
const QUESTION = { calls: [{ name: 'ask', arguments: { question: 'Which?' } }] };
const CHOICE = { calls: [{ name: 'ask', arguments: { question: 'Which?', options: OPTIONS } }] };
const WAITING = ['queued', 'running', 'awaiting_input'];
const TURN = ['queued', 'running', 'completed'];

// The rows of the table in reference §5, each with all the statuses that a task went through: a database trigger sees those
// that nobody could poll. `task-life.spec` has what a client may do in which status, `recovery.spec` the lost worker,
// `cancel.spec` and `task-deletion.spec` what ends with a cancel and a deletion.
describe('From one status to the next (reference §5)', () => {
  let model: HeldModel;
  let member: Member;

  const service = useService(async () => {
    model = await HeldModel.start();
    const env = { OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: '600' };
    return bootWorker({ env });
  });
  beforeAll(async () => {
    await recordStatuses(service.db);
    member = await makeMember(service);
  });
  afterEach(() => {
    expect(model.held).toEqual([]);
  });
  afterAll(() => model.server.stop());

  const begin = async (more = {}): Promise<{ id: string; asked: Asked }> => {
    const { id } = await createTask(member.client, { content: 'Begin.', ...more });
    return { id, asked: await model.asked() };
  };
  const post = async (id: string, path: string, json?: object) => {
    const { status, body } = await member.client.post<{ task: TaskBody }>(`/v1/tasks/${id}/${path}`, json);
    return { status, task: body.task };
  };
  const waiting = async (question: typeof QUESTION): Promise<TaskBody> => {
    const { id, asked } = await begin();
    asked.answer(question);
    return reaches(member.client, id, 'awaiting_input');
  };
  /** Answers what the model is asked next; resolves when the task is final, with all its statuses. */
  const ends = async (id: string): Promise<string[]> => {
    (await model.asked()).answer({ text: 'Done.' });
    await finished(member.client, id);
    return statusesOf(service.db, id);
  };

  it('create committed: queued; a worker claims it: running; the turn ends and no message waits: completed', async () => {
    const { id, asked } = await begin();
    expect(await readTask(member.client, id)).toMatchObject({ status: 'running', startedAt: expect.any(String) });
    asked.answer({ text: 'Done.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', statusReason: null });
    expect(await statusesOf(service.db, id)).toEqual(TURN);
  });

  it('running, the agent asks: awaiting_input; answered: queued, and the same task goes on', async () => {
    const { id, pendingInteraction } = await waiting(QUESTION);
    const ids = () => service.db.query('SELECT id FROM tasks ORDER BY id');
    const before = await ids();
    const answer = { interactionId: pendingInteraction?.id, content: 'This.' };
    expect(await post(id, 'interaction', answer)).toMatchObject({ status: 202, task: { id, status: 'queued' } });
    expect(await ends(id)).toEqual([...WAITING, ...TURN]);
    expect(await ids()).toEqual(before);
  });

  it('running, the turn ends and a message waits: queued', async () => {
    const { id, asked } = await begin();
    expect(await post(id, 'messages', { content: 'Next.' })).toMatchObject({
      status: 202,
      task: { status: 'running' },
    });
    asked.answer({ text: 'First.' });
    expect(await ends(id)).toEqual(['queued', 'running', ...TURN]);
  });

  it('running, an error: failed, with a reason in words; what it left is kept', async () => {
    const { id, asked } = await begin();
    asked.answer(bash('true'));
    (await model.asked()).answer({ status: 400 });
    const reason = { code: 'model_error', message: expect.stringMatching(/\S.*\.$/), retryable: expect.any(Boolean) };
    const failed = { status: 'failed', statusReason: reason, finishedAt: expect.any(String), result: null };
    expect(await finished(member.client, id)).toMatchObject({ ...failed, messageCount: 2, usage: { steps: 1 } });
    expect(await statusesOf(service.db, id)).toEqual(['queued', 'running', 'failed: model_error']);
  });

  it.each([
    ['budget', { maxSteps: 1 }, 'true'],
    ['time limit', { maxDurationSeconds: 1 }, 'sleep 1'],
  ])('running, its %s is used up: failed', async (_what, budget, command) => {
    const { id, asked } = await begin({ budget });
    asked.answer(bash(command));
    await finished(member.client, id);
    expect(await statusesOf(service.db, id)).toEqual(['queued', 'running', 'failed: budget_exceeded']);
  });

  it('running, a message that interrupts: queued; the turn ends as it stands', async () => {
    const { id, asked } = await begin();
    const interrupt = { content: 'Stop.', mode: 'interrupt' };
    expect(await post(id, 'messages', interrupt)).toMatchObject({ status: 202, task: { status: 'queued' } });
    asked.answer({ text: 'Never read.' });
    expect(await ends(id)).toEqual(['queued', 'running', ...TURN]);
  });

  it.each([
    ['question', QUESTION],
    ['choice', CHOICE],
  ])('awaiting_input, the %s expires: queued; the call gets the error "no answer by …"', async (_kind, question) => {
    const { id } = await waiting(question);
    await service.db.query('UPDATE interactions SET expires_at = now() WHERE task_id = $1', [id]);
    const { request, answer } = await model.asked();
    expect(JSON.stringify(request.messages.at(-1))).toMatch(/no answer by \d{4}-\d\d-\d\dT/);
    answer({ text: 'Then without.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', statusReason: null });
    expect(await statusesOf(service.db, id)).toEqual([...WAITING, ...TURN]);
  });

  it.each([
    ['question: it is the answer', QUESTION, /Neither\./],
    ['choice: it is cancelled, and the message read next', CHOICE, /a message instead/],
  ])('awaiting_input, a message to a %s; queued', async (_what, question, result) => {
    const { id } = await waiting(question);
    expect((await post(id, 'messages', { content: 'Neither.' })).task).toMatchObject({
      status: 'queued',
      pendingInteraction: null,
    });
    const { request, said, answer } = await model.asked();
    const results = request.messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => JSON.stringify(content));
    expect(results).toEqual([expect.stringMatching(result)]);
    expect(said).toEqual(['Begin.', 'Neither.']);
    answer({ text: 'Then not.' });
    await finished(member.client, id);
    expect(await statusesOf(service.db, id)).toEqual([...WAITING, ...TURN]);
  });

  it.each([
    ['completed', 'completed'],
    ['failed', 'failed: model_error'],
    ['cancelled', 'cancelled: cancelled'],
  ])('%s, a message: queued; the same task goes on, its history kept', async (status, recorded) => {
    const { id, asked } = await begin();
    asked.answer(bash('echo was here'));
    const next = await model.asked();
    if (status === 'cancelled') await post(id, 'cancel');
    next.answer(status === 'failed' ? { status: 400 } : { text: 'Done.' });
    const { startedAt } = await reaches(member.client, id, status);
    const open = { status: 'queued', result: null, finishedAt: null, statusReason: null, startedAt };
    expect((await post(id, 'messages', { content: 'Go on.' })).task).toMatchObject({ id, ...open });
    const { request, said, answer } = await model.asked();
    expect(said).toEqual(['Begin.', 'Go on.']);
    expect(JSON.stringify(request.messages)).toContain('was here');
    answer({ text: 'Gone on.' });
    expect(await finished(member.client, id)).toMatchObject({ result: { text: 'Gone on.' }, startedAt });
    expect(await statusesOf(service.db, id)).toEqual(['queued', 'running', recorded, ...TURN]);
  });

  it.each(['cancelled', 'failed'])(
    'messages that are unread when it is %s are read with the next one',
    async (status) => {
      const { id, asked } = await begin();
      for (const content of ['One.', 'Two.']) await post(id, 'messages', { content });
      if (status === 'cancelled') await post(id, 'cancel');
      asked.answer({ status: 400 });
      await reaches(member.client, id, status);
      await post(id, 'messages', { content: 'Three.' });
      const { said, answer } = await model.asked();
      expect(said).toEqual(['Begin.', 'One.', 'Two.', 'Three.']);
      answer({ text: 'All read.' });
      expect(await finished(member.client, id)).toMatchObject({ result: { text: 'All read.' }, messageCount: 5 });
    },
  );

  it('a completed, failed or cancelled task is final: it has no work left, and says when it ended, and why if not well', async () => {
    const endings = { completed: { text: 'Done.' }, failed: { status: 400 }, cancelled: { hang: true } };
    for (const [status, ending] of Object.entries(endings)) {
      const { id, asked } = await begin();
      expect(await readTask(member.client, id)).toMatchObject({ finishedAt: null, statusReason: null, result: null });
      if (status === 'cancelled') await post(id, 'cancel');
      asked.answer(ending);
      const task = await finished(member.client, id);
      expect(task).toMatchObject({ status, finishedAt: expect.any(String), pendingInteraction: null });
      expect([status, task.statusReason === null]).toEqual([status, status === 'completed']);
      const open = `SELECT 1 FROM runs WHERE task_id = $1 AND status IN ('queued', 'running')`;
      expect(await service.db.query(open, [id])).toEqual([]);
    }
  });
});
