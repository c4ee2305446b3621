import { Metrics } from '../../src/platform/metrics/metrics.js';
import { bootWorker, useService } from '../harness/app.js';
import { type Client, makeMember, type Member } from '../harness/client.js';
import { type Answer, type ChatRequest, ModelServer, userText } from '../harness/model-server.js';
import { createTask, finished, readMessages, readTask, runTask, type TaskBody, texts } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const PRICED = {
  id: 'small',
  default: true,
  provider: 'openai-compatible',
  model: 'm',
  prices: { input: 1, output: 10 },
};
const USED = { input: 40, output: 6 };

const asksForTitle = ({ messages }: ChatRequest) => String(messages[0]?.content).startsWith('You name tasks.');

type Told = { type: string; seq: number; data: { changed?: string[] } };
async function eventsOf(client: Client, id: string): Promise<Told[]> {
  return (await client.get<{ events: Told[] }>(`/v1/tasks/${id}/events`)).body.events;
}

describe('The title that the model of a task makes (reference §15)', () => {
  let model: ModelServer;
  let title: Answer = {};
  /** Called before the model answers a step. */
  let beforeStep: (request: ChatRequest) => Promise<unknown> = () => Promise.resolve();
  const service = useService(async () => {
    model = await ModelServer.start(async (request) => {
      if (asksForTitle(request)) return title;
      await beforeStep(request);
      return { text: 'Done.' };
    });
    return bootWorker({ config: { titles: true, models: [{ ...PRICED, baseUrl: model.url }] } });
  });
  /** Asks for none. */
  const plain = useService(() => bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } }));
  /** Its model is the runbook. */
  const runbook = useService(() => bootWorker({ config: { titles: true } }));
  let member: Member;
  beforeAll(async () => {
    member = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => model.stop());

  const titleRequests = () => model.requests.filter(({ body }) => asksForTitle(body));
  /** Calls of models that have come to an end, with an answer or without one. */
  const answered = async (): Promise<number> => {
    const { values } = await service.app.get(Metrics).modelCalls.get();
    return values.reduce((sum, { value }) => sum + value, 0);
  };
  /** A task whose first step is answered when the call for its title is over. */
  const titled = async (answer: Answer, content: string, more: object = {}): Promise<TaskBody> => {
    title = { usage: USED, ...answer };
    const before = await answered();
    beforeStep = () => until('the title to be answered', async () => (await answered()) > before);
    const { id } = await createTask(member.client, { content, ...more });
    return finished(member.client, id);
  };

  it('replaces the first line, and is there when the first answer is', async () => {
    const task = await titled({ text: 'Sort the words' }, 'Hello! I have words.\nPlease sort them.');
    expect(task.title).toBe('Sort the words');
    const events = await eventsOf(member.client, task.id);
    const [named, said] = ['task.updated', 'message.completed'].map((type) =>
      events.filter((one) => one.type === type),
    );
    expect(named?.map(({ data }) => data.changed)).toEqual([['title']]);
    expect(named?.[0]?.seq).toBeLessThan(said?.at(-1)?.seq ?? 0);
    const [request] = titleRequests().slice(-1);
    expect(userText(request?.body as ChatRequest)).toBe('Hello! I have words.\nPlease sort them.');
    expect(request?.body.tools).toBeUndefined();
    expect(texts(await readMessages(member.client, task.id))).toEqual(['Done.']);
  });

  it('is counted in the usage of the task and of the workspace, but not as a step or a turn', async () => {
    const ann = await makeMember(service, { role: 'owner' });
    title = { text: 'Count', usage: USED };
    const before = await answered();
    beforeStep = () => until('the title to be answered', async () => (await answered()) > before);
    const { usage, id } = await runTask(ann.client, 'Count them.');
    expect(usage).toMatchObject({
      inputTokens: 140,
      outputTokens: 16,
      steps: 1,
      cost: { amount: '0.0003', currency: 'USD' },
    });
    const rows = await service.db.query<{ tokens: string; turns: string; calls: string; cost: string }>(
      `SELECT sum(input_tokens + output_tokens) AS tokens, count(*) FILTER (WHERE starts_turn) AS turns, count(*) AS calls,
        sum(cost_micros) AS cost FROM usage_ledger WHERE task_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ tokens: '156', turns: '1', calls: '2', cost: '300' }]);
  });

  it('is no step of the budget', async () => {
    const task = await titled({ text: 'One step' }, 'Take one step.', { budget: { maxSteps: 1 } });
    expect([task.status, task.title]).toEqual(['completed', 'One step']);
  });

  it('is never waited for: when the first answer is there before it, the first line stays', async () => {
    title = { hang: true };
    beforeStep = () => until('the title to be asked for', () => titleRequests().length > 0);
    const task = await runTask(member.client, 'Be quick.');
    expect([task.status, task.title, task.usage.inputTokens]).toEqual(['completed', 'Be quick.', 100]);
    await until('the call to be given up', () => model.openRequests === 0);
  });

  it.each([
    ['fails', { status: 500 }, 'A first line.'],
    ['says nothing', { text: '' }, 'A first line.'],
    ['is cut off', { text: 'Something that', finish: 'length' }, 'A first line.'],
    ['calls a tool', { calls: [{ name: 'bash', arguments: {} }] }, 'A first line.'],
    ['is quoted, in Markdown and in lines', { text: '"**Sort** the words"\n\nThat is all.' }, 'Sort the words'],
    ['is long', { text: 'word '.repeat(40) }, `${'word '.repeat(16).trim().slice(0, 79)}…`],
    ['turns the line around', { text: 'Sort \u202ethe words' }, 'Sort the words'],
  ] as [string, Answer, string][])('when the answer %s, the task goes well', async (_how, answer, expected) => {
    const task = await titled(answer, 'A first line.');
    expect([task.status, task.title]).toEqual(['completed', expected]);
  });

  it('does not replace one that was given, or that a person gives meanwhile', async () => {
    const before = titleRequests().length;
    beforeStep = () => Promise.resolve();
    expect((await runTask(member.client, 'Sort them.', { title: 'Mine' })).title).toBe('Mine');
    expect(titleRequests()).toHaveLength(before);
    title = { text: 'Of the model', usage: USED };
    const calls = await answered();
    let id = '';
    beforeStep = async () => {
      await until('the title to be answered', async () => (await answered()) > calls);
      await until('the task to be known', () => id !== '');
      await member.client.patch(`/v1/tasks/${id}`, { title: 'Mine too' });
    };
    ({ id } = await createTask(member.client, { content: 'Sort them again.' }));
    const task = await finished(member.client, id);
    expect([task.title, task.usage.inputTokens]).toEqual(['Mine too', 140]);
  });

  it('is made once: later turns ask for none', async () => {
    const { id } = await titled({ text: 'Sort the words' }, 'Sort them once.');
    const before = titleRequests().length;
    beforeStep = () => Promise.resolve();
    await member.client.post(`/v1/tasks/${id}/messages`, { content: 'And now count them.' });
    await finished(member.client, id);
    expect(titleRequests()).toHaveLength(before);
    expect((await readTask(member.client, id)).title).toBe('Sort the words');
  });

  it('is not asked for with titles: false, and never of the runbook', async () => {
    const before = titleRequests().length;
    beforeStep = () => Promise.resolve();
    const { client } = await makeMember(plain);
    expect((await runTask(client, 'Sort the words.')).title).toBe('Sort the words.');
    expect(titleRequests()).toHaveLength(before);
    const person = await makeMember(runbook);
    expect((await runTask(person.client, '# Look\n\n```bash\ntrue\n```')).title).toBe('Look');
  });
});
