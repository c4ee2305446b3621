import { bootWorker, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { bash, delegate, part, question, SubtaskBench, WAITING } from '../harness/subtasks.js';
import { readMessages, texts } from '../harness/tasks.js';

describe('Tasks of tasks (reference §27)', () => {
  let model: ModelServer;
  let bench: SubtaskBench;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: { plans: { free: { runningTasks: 1 } } },
    });
  });
  beforeAll(async () => {
    bench = new SubtaskBench(await makeMember(service));
  });
  afterAll(() => model.stop());

  it('run side by side, and their answers are the result of the call', async () => {
    const { id, ...task } = await bench.run([delegate(part('A'), part('B', [bash('echo b')]))]);
    expect(task).toMatchObject({ status: 'completed', children: { tasks: 2 } });
    const [a, b] = await bench.childrenOf(id);
    expect(await bench.told(id)).toEqual([
      { id: a?.id, title: 'A', status: 'completed', statusReason: null, text: 'A is done.', output: null, changes: null, patch: null, files: [] }, // prettier-ignore
      { id: b?.id, title: 'B', status: 'completed', statusReason: null, text: 'B is done.', output: null, changes: null, patch: null, files: [] }, // prettier-ignore
    ]);
    expect(a).toMatchObject({ parentTaskId: id, source: { type: 'task', automationId: null } });
    expect(task).toMatchObject({ parentTaskId: null, source: { type: 'api' } });
  });

  it('let the parent wait, queued, without a place: with one place alone all are done', async () => {
    const free = new SubtaskBench(await makeMember(service, { plan: 'free' }));
    const id = await free.begin([delegate(part('A', [question()]), part('B'))]);
    const [a, b] = await free.waiting(id, 2);
    expect(await free.ended(b?.id ?? '')).toMatchObject({ status: 'completed' });
    expect(await free.read(id)).toMatchObject({ status: 'queued', statusReason: WAITING, waitingFor: null });
    await free.answer(a?.id ?? '');
    expect(await free.ended(id)).toMatchObject({ status: 'completed', statusReason: null });
  });

  it('a message meanwhile is read when the parent goes on', async () => {
    const id = await bench.begin([delegate(part('A', [question()]))]);
    const [child] = await bench.waiting(id, 1);
    await bench.send(id, 'And this.');
    await bench.answer(child?.id ?? '');
    expect(await bench.ended(id)).toMatchObject({ status: 'completed' });
    const messages = await readMessages(bench.client, id);
    expect(messages.map(({ role, turn, status }) => [role, turn, status])).toEqual([
      ['user', 1, 'complete'],
      ['assistant', 1, 'complete'],
      ['user', 1, 'complete'],
      ['assistant', 1, 'complete'],
    ]);
    expect(texts(messages)).toEqual(['Done.']);
  });
});
