// People, and the service itself, step in while an agent program works (reference §30).
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type FakeAnswer, FakeModel, type FakeRequest } from '../harness/engines/fake-model.js';
import { bootWithEngines, engineOf, shell } from '../harness/engines/worker.js';
import { newMark, processesGone, sleeps } from '../harness/processes.js';
import { createTask, finishedLater, readMessages, readResults, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('A program in the middle of its work (reference §30)', () => {
  let model: FakeModel;
  let ann: Member;
  const service = useService(async () => {
    model = await FakeModel.start();
    const engines = {
      ...{ program: engineOf(), steers: engineOf({ STEERS: '1' }, { wire: 'openai-responses' }) },
      ...{ never: engineOf({ STEERS: 'never' }), forgets: engineOf({ STEERS: 'forgets' }) },
      forgetful: engineOf({ FORGETS: '1' }),
    };
    return bootWithEngines(model, engines);
  });
  beforeAll(async () => (ann = await makeMember(service)));
  beforeEach(() => (model.requests.length = 0));
  afterAll(() => model.stop());

  const begin = (content: string, id = 'program') => createTask(ann.client, { content, model: id });
  const send = async (id: string, content: string, mode: string) => {
    expect((await ann.client.post(`/v1/tasks/${id}/messages`, { content, mode })).status).toBe(202);
  };
  const saidTo = ({ messages }: FakeRequest) => messages.flatMap(({ role, text }) => (role === 'user' ? [text] : []));
  /** Answers by how many messages of people the program has told. */
  const byMessages = (...answers: FakeAnswer[]) => {
    model.script = (request) => answers[saidTo(request).length - 1] ?? { text: 'Done.' };
  };

  it('hears a message that steers at its next model call, as its next prompt', async () => {
    const mark = newMark();
    byMessages({ calls: [shell(`sleep 3; echo slept; : ${mark}`)] }, { text: 'Blue it is.' });
    const { id } = await begin('Begin.');
    await until('the command to run', async () => (await readMessages(ann.client, id)).length > 1);
    await send(id, 'Make it blue.', 'steer');
    expect(await finishedLater(ann.client, id)).toMatchObject({ status: 'completed', result: { text: 'Blue it is.' } });
    expect(await readResults(ann.client, id)).toMatchObject([{ status: 'success', output: 'slept\n' }]);
    expect(saidTo(model.requests.at(-1) as FakeRequest).at(-1)).toBe('Make it blue.');
    // The model was not asked what it would have been asked without it.
    expect(model.requests).toHaveLength(2);
  });

  it.each([
    ['takes one into its turn, where it says that it does so', 'steers', 'Meanwhile: Make it blue.'],
    ['is told one by its next prompt, where it does not take it', 'never', 'Make it blue.'],
    ['is told one by its next prompt, where it does not tell its model what it has taken', 'forgets', 'Make it blue.'],
  ])('%s', async (_, engine, told) => {
    byMessages({ calls: [shell('sleep 3; echo slept')] }, { text: 'Blue it is.' });
    const { id } = await begin('Begin.', engine);
    await until('the command to run', async () => (await readMessages(ann.client, id)).length > 1);
    await send(id, 'Make it blue.', 'steer');
    const task = await finishedLater(ann.client, id);
    expect(task).toMatchObject({ status: 'completed', result: { text: 'Blue it is.' }, usage: { steps: 2 } });
    const { messages } = model.requests.at(-1) as FakeRequest;
    expect(messages.map(({ role }) => role).slice(-4)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(messages.at(-1)?.text).toBe(told);
    // The model was not asked what it would have been asked without it.
    expect(model.requests).toHaveLength(2);
  });

  it('is ended by a message that interrupts, which is its next prompt', async () => {
    const mark = newMark();
    byMessages({ calls: [shell(`sleep ${mark}`)] }, { text: 'Stopped.' });
    const { id } = await begin('Begin.');
    await sleeps(mark);
    await send(id, 'Stop that.', 'interrupt');
    await processesGone(mark, 10_000);
    expect(await finishedLater(ann.client, id)).toMatchObject({ status: 'completed', result: { text: 'Stopped.' } });
    expect(await readResults(ann.client, id)).toMatchObject([{ status: 'error' }]);
  });

  it('is told beside such a message which of its calls was interrupted: it may not know that its model has made it', async () => {
    const mark = newMark();
    byMessages({ calls: [shell(`sleep ${mark}`)] }, { text: 'Stopped.' });
    const { id } = await begin('Begin.', 'forgetful');
    await sleeps(mark);
    await send(id, 'Stop that.', 'interrupt');
    expect(await finishedLater(ann.client, id)).toMatchObject({ status: 'completed', result: { text: 'Stopped.' } });
    const request = model.requests.at(-1) as FakeRequest;
    expect(request.messages.flatMap(({ calls }) => calls)).toEqual([]);
    const [, ...told] = saidTo(request);
    expect(told).toEqual([
      expect.stringMatching(
        new RegExp(`^You wanted to call shell with .*sleep ${mark}.*\\nInterrupted by a message .*\\n\\nStop that\\.$`),
      ),
    ]);
  });

  it('is ended with all that it runs when its task is cancelled', async () => {
    const mark = newMark();
    byMessages({ calls: [shell(`sleep ${mark}`)] });
    const { id } = await begin('Begin.');
    await sleeps(mark);
    await ann.client.post(`/v1/tasks/${id}/cancel`);
    await processesGone(mark, 10_000);
    expect((await readTask(ann.client, id)).status).toBe('cancelled');
  });
});
