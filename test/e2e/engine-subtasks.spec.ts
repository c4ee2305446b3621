// Tasks that an agent program makes of its own task: `delegate` at its door (reference §27, §30).
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { type FakeAnswer, type FakeCall, FakeModel, type FakeRequest } from '../harness/engines/fake-model.js';
import { bootWithEngines, engineOf, shell } from '../harness/engines/worker.js';
import { SubtaskBench } from '../harness/subtasks.js';
import { createTask, finishedLater, readMessages, readResults, texts } from '../harness/tasks.js';

const DELEGATE = 'mcp__millwright__delegate';
const part = (title: string, more: object = {}) => ({ title, content: `Do ${title}.`, folder: 'empty', ...more });
const delegate = (...tasks: object[]): FakeCall => ({ name: DELEGATE, arguments: { tasks } });

describe('Tasks of a task that an agent program drives (reference §27, §30)', () => {
  let model: FakeModel;
  let ann: Member;
  let bench: SubtaskBench;
  const service = useService(async () => {
    model = await FakeModel.start();
    return bootWithEngines(model, { tools: engineOf({ MCP: '1' }, { concurrency: 1 }) });
  });
  beforeAll(async () => {
    ann = await makeMember(service);
    bench = new SubtaskBench(ann);
  });
  beforeEach(() => (model.requests.length = 0));
  afterAll(() => model.stop());

  /** What people, parents and the service have said in a conversation. */
  const said = ({ messages }: FakeRequest) => messages.flatMap(({ role, text }) => (role === 'user' ? [text] : []));
  const steps = ({ messages }: FakeRequest) => messages.flatMap(({ calls }) => calls).length;
  /** Each task does what stands behind its first words here; the others say that they are done. */
  const script = (of: Record<string, (request: FakeRequest) => FakeAnswer>) => {
    model.script = (request) => {
      const [first = ''] = said(request);
      const [, answer] = Object.entries(of).find(([words]) => first.trimEnd().endsWith(words)) ?? [];
      return answer?.(request) ?? { text: `${/Do (\w+)\.\s*$/.exec(first)?.[1] ?? 'It'} is done.` };
    };
  };
  const begin = (content: string, more: object = {}) => createTask(ann.client, { content, model: 'tools', ...more });
  /** It has been told what its tasks have come to. */
  const isTold = (request: FakeRequest) => said(request).some((text) => text.includes(`call ${DELEGATE}`));

  it('are waited for without a place, though its engine has one alone, and their answers are its next prompt', async () => {
    const question = { name: 'mcp__millwright__ask', arguments: { question: 'Which?' } };
    script({
      'Hand it out.': (request) => {
        return isTold(request)
          ? { text: 'All are there.' }
          : { text: 'I do.', calls: [delegate(part('A'), part('B'))] };
      },
      'Do A.': (request) => (said(request).length > 1 ? { text: 'A is done.' } : { calls: [question] }),
    });
    const { id } = await begin('Hand it out.');
    const [a, b] = await bench.waiting(id, 2);
    expect(await bench.ended(b?.id ?? '')).toMatchObject({ status: 'completed', result: { text: 'B is done.' } });
    await bench.answer(a?.id ?? '');
    const task = await bench.ended(id);
    expect(task).toMatchObject({ status: 'completed', statusReason: null, result: { text: 'All are there.' } });
    expect(task).toMatchObject({ usage: { steps: 2 }, children: { tasks: 2 } });
    const [result] = await readResults(ann.client, id);
    expect(result).toMatchObject({
      ...{ status: 'success' },
      output: { tasks: [{ id: a?.id, status: 'completed', text: 'A is done.' }, { id: b?.id }] },
    });
    expect(texts(await readMessages(ann.client, id))).toEqual(['I do.', 'All are there.']);
    const told = said(model.requests.at(-1) as FakeRequest).at(-1);
    expect(told).toContain('A is done.');
    expect(told).toContain('B is done.');
  });

  it('begin in the order of the calls of a step: those before have been carried out, those behind wait', async () => {
    const file = { calls: [shell('echo a > a.txt')] };
    const published = { calls: [{ name: 'mcp__millwright__publish', arguments: { path: 'a.txt' } }] };
    script({
      'Hand it out.': (request) => {
        if (steps(request) > 1 && isTold(request)) return { text: 'All are there.' };
        return { calls: [shell('echo before >> log'), delegate(part('A')), shell('cat log /tmp/tasks/1/a.txt')] };
      },
      'Do A.': (request) => [file, published][steps(request)] ?? { text: 'A is done.' },
    });
    const { id } = await begin('Hand it out.');
    expect((await finishedLater(ann.client, id)).result?.text).toBe('All are there.');
    expect(await readResults(ann.client, id)).toMatchObject([
      { status: 'success', output: '' },
      { status: 'success', output: { tasks: [{ status: 'completed', files: ['/tmp/tasks/1/a.txt'] }] } },
      { status: 'success', output: 'before\na\n' },
    ]);
    expect(await bench.childrenOf(id)).toHaveLength(1);
  });

  it('have no more than the turn has left, and what is wrong with a call is its next prompt', async () => {
    script({
      'Hand it out.': (request) => {
        return isTold(request) ? { text: 'I do it myself.' } : { calls: [delegate(part('A', { maxSteps: 50 }))] };
      },
    });
    const { id } = await begin('Hand it out.', { budget: { maxSteps: 10 } });
    expect((await finishedLater(ann.client, id)).result?.text).toBe('I do it myself.');
    const [result] = await readResults(ann.client, id);
    expect(result).toMatchObject({ status: 'error', error: expect.stringContaining('9 steps left') });
    expect(said(model.requests.at(-1) as FakeRequest).at(-1)).toContain('9 steps left');
    expect(await bench.childrenOf(id)).toEqual([]);
  });

  it('are not offered two levels below', async () => {
    const on =
      (...tasks: object[]) =>
      (request: FakeRequest) => {
        return isTold(request) ? { text: 'Done.' } : { calls: [delegate(...tasks)] };
      };
    script({ 'Hand it out.': on(part('A')), 'Do A.': on(part('B')) });
    const { id } = await begin('Hand it out.');
    expect((await finishedLater(ann.client, id)).status).toBe('completed');
    const offered = ['Hand it out.', 'Do A.', 'Do B.'].map((words) => {
      const request = model.requests.find((one) => said(one)[0]?.trimEnd().endsWith(words) === true);
      return request?.tools.includes(DELEGATE);
    });
    expect(offered).toEqual([true, true, false]);
  });
});
