import { jest } from '@jest/globals';
import { Notices } from '../../src/platform/notices/notices.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { newMark, processesGone, processesWith, sleeps } from '../harness/processes.js';
import {
  createTask,
  finished,
  type MessageBody,
  readMessages,
  readTask,
  type TaskBody,
  texts,
} from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface Sent {
  message: MessageBody;
  task: TaskBody;
}

describe('A message that interrupts (reference §5)', () => {
  let model: HeldModel;
  let member: Member;

  const service = useService(async () => {
    model = await HeldModel.start();
    // A lease that does not run out, nor is renewed, while a test looks.
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: '600' } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterEach(() => {
    expect(model.held).toEqual([]);
  });
  afterAll(() => model.server.stop());

  const asked = () => model.asked();
  const send = async (id: string, content: string, mode?: string, more = {}) => {
    const answer = await member.client.post<Sent>(`/v1/tasks/${id}/messages`, { content, mode, ...more });
    expect(answer.status).toBe(202);
    return answer.body;
  };

  it('ends the running turn as it stands; the message is read next', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const mark = newMark();
    (await asked()).answer(bash('echo kept > kept.txt', `sleep ${mark}`, 'echo never'));
    await sleeps(mark);
    const { message, task } = await send(id, 'Stop that.', 'interrupt');
    expect([message.status, task.status]).toEqual(['queued', 'queued']);
    expect(task).toMatchObject({ statusReason: null, finishedAt: null });
    expect(task.usage['durationMs']).toBeGreaterThan(0);
    await processesGone(mark, 2000);
    const next = await asked();
    expect(next.said).toEqual(['Begin.', 'Stop that.']);
    const [, step] = await readMessages(member.client, id);
    expect(step).toMatchObject({ status: 'complete' });
    const results = step?.parts.filter(({ type }) => type === 'tool_result');
    expect(results?.map(({ status }) => status)).toEqual(['success', 'error', 'error']);
    for (const { error } of results?.slice(1) ?? []) expect(error).toMatch(/^Interrupted by a message/);
    next.answer(bash('cat kept.txt'));
    const after = await asked();
    expect(JSON.stringify(after.request.messages.at(-1))).toContain('kept');
    after.answer({ text: 'Stopped.' });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Stopped.' } });
    expect(await service.db.query('SELECT status, kind FROM runs WHERE task_id = $1', [id])).toEqual([
      { status: 'finished', kind: 'turn' },
      { status: 'finished', kind: 'turn' },
    ]);
  });

  it('the next turn begins when the first one has let go of the workdir, even if no notice arrives', async () => {
    const send_ = jest.spyOn(service.app.get(Notices), 'send').mockImplementation(() => undefined);
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const mark = newMark();
    (await asked()).answer(bash(`sleep ${mark}`));
    await sleeps(mark);
    await send(id, 'Stop that.', 'interrupt');
    const next = await asked();
    expect(processesWith(mark)).toEqual([]);
    next.answer({ text: 'Stopped.' });
    await finished(member.client, id);
    send_.mockRestore();
  });

  it('is read before messages that have waited longer; they keep their order', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    const first = await asked();
    await send(id, 'Later one.');
    await send(id, 'Later two.', 'queue');
    await send(id, 'Now.', 'interrupt');
    first.answer({ text: 'never' });
    const order: (string | undefined)[] = [];
    for (let i = 0; i < 3; i++) {
      const next = await asked();
      order.push(next.said.at(-1));
      next.answer({ text: `Answer ${i}.` });
    }
    expect(order).toEqual(['Now.', 'Later one.', 'Later two.']);
    await until('all to be read', async () => (await readTask(member.client, id)).status === 'completed');
    expect(texts(await readMessages(member.client, id))).toEqual(['Answer 0.', 'Answer 1.', 'Answer 2.']);
  });

  it('several at once: each is read once, and one run is open at a time', async () => {
    const { id } = await createTask(member.client, { content: 'Begin.' });
    await until('the model to be asked', () => model.held.length > 0);
    await Promise.all([1, 2, 3, 4, 5].map((n) => send(id, `Stop ${n}.`, 'interrupt')));
    // A run that is interrupted before its request has left is followed by one that reads its message too: so the last one counts.
    let read: string[] = [];
    await until('the end', async () => {
      for (const { said, answer } of model.held.splice(0)) {
        read = said;
        answer({ text: 'Yes.' });
      }
      return (await readTask(member.client, id)).status === 'completed' && model.held.length === 0;
    });
    expect([...read].sort()).toEqual(['Begin.', ...[1, 2, 3, 4, 5].map((n) => `Stop ${n}.`)]);
    const users = (await readMessages(member.client, id)).filter(({ role }) => role === 'user');
    expect(users.every(({ status }) => status === 'complete')).toBe(true);
  });

  it('that races the completion is read, whichever of the two wins', async () => {
    for (let round = 0; round < 15; round++) {
      const { id } = await createTask(member.client, { content: `Round ${round}.` });
      const first = await asked();
      first.answer({ text: 'Quick.', firstByteMs: round });
      const { task } = await send(id, 'Stop.', 'interrupt');
      expect(task).toMatchObject({ status: 'queued', result: null });
      const next = await asked();
      expect(next.said).toEqual([`Round ${round}.`, 'Stop.']);
      next.answer({ text: 'Stopped.' });
      expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Stopped.' } });
    }
  });
});
