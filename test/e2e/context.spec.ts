import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { ALL_SHOWN, EventWatch } from '../harness/events.js';
import { type Answer, ModelServer } from '../harness/model-server.js';
import { call, createTask, finished, readMessages, readResults } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { breaksOf, unpaired, WindowedModel } from '../harness/windowed-model.js';

const WINDOW = 16_384;

describe('The context of a model (reference §15)', () => {
  let server: ModelServer;
  let member: Member;
  let model: WindowedModel;
  let step: (n: number) => Answer | Promise<Answer>;
  let steps = 0;

  const service = useService(async () => {
    server = await ModelServer.start((request, attempt) => model.script(request, attempt));
    const models = [{ id: 'scripted', provider: 'openai-compatible', contextWindow: WINDOW }];
    const env = { OPENAI_COMPATIBLE_URL: server.url, LEASE_SECONDS: '600' };
    return bootWorker({ env, config: { models, transparency: ALL_SHOWN } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  beforeEach(() => {
    steps = 0;
    model = new WindowedModel(WINDOW, () => step(steps++));
  });
  afterAll(() => server.stop());

  it('is cut on record: the history stays whole, a summary is counted as a step, and another worker goes on with the same', async () => {
    const { client } = member;
    let release: (answer: Answer) => void = () => undefined;
    // Names without digits: calls that differ only in their digits look alike.
    const path = (n: number) => `${[...String(n)].map((digit) => 'abcdefghij'[Number(digit)]).join('')}.txt`;
    const write = (n: number): Answer => {
      if (n % 5 === 4) return call('read', { path: path(n - 1) });
      const content = `${path(n)} ${'A line of a file. '.repeat(n % 2 === 0 ? 150 : 5)}`;
      return { text: content, ...call('write', { path: path(n), content }) };
    };
    const held = () => new Promise<Answer>((resolve) => (release = resolve));
    step = (n) => (n === 40 ? { text: 'Done.' } : n === 30 ? held() : write(n > 30 ? n - 1 : n));
    const { id } = await createTask(client, { content: 'Write files.' });
    await until('the request that is held', () => steps === 31, { within: 150_000 });
    const late = release;
    await service.db.query(`UPDATE runs SET lease_until = now() - interval '1 second' WHERE task_id = $1`, [id]);
    await until('the request of the worker that takes over', () => steps >= 32, { within: 150_000 });
    late({ text: 'Too late.' });
    release(write(30));

    const task = await finished(client, id);
    expect(task).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
    expect(model.refused).toBe(0);
    expect(model.steps.flatMap(({ messages }) => unpaired(messages) ?? [])).toEqual([]);
    expect(model.steps[31]).toEqual(model.steps[30]);

    const messages = await readMessages(client, id);
    const cuts = messages.flatMap(({ parts }) =>
      parts.filter(({ type, name }) => type === 'data' && name === 'context'),
    );
    const summaries = cuts.filter(({ data }) => (data as { kind: string }).kind === 'summary');
    expect(summaries.length).toBeGreaterThan(0);
    expect(summaries).toHaveLength(model.summaries);
    expect(breaksOf(model.steps)).toBeLessThanOrEqual(cuts.length);
    expect(await readResults(client, id)).toHaveLength(39);

    // One answer went to the worker that had lost the run: nobody is charged for it.
    const counted = model.answered.filter(({ request }) => request !== model.steps[30]);
    const input = counted.reduce((sum, { tokens }) => sum + tokens, 0);
    expect(task.usage).toMatchObject({ steps: 40 + summaries.length, inputTokens: input });
    const [ledger] = await service.db.query(
      'SELECT count(*)::int AS calls, count(*) FILTER (WHERE starts_turn)::int AS turns FROM usage_ledger WHERE task_id = $1',
      [id],
    );
    expect(ledger).toEqual({ calls: 40 + summaries.length, turns: 1 });
    const watch = new EventWatch(service, client);
    await watch.events(id);
  });

  it('that was too short for a task does not end it: a further message goes on', async () => {
    step = () => ({ text: 'Read.' });
    model.window = 1;
    const { id } = await createTask(member.client, { content: 'Begin.' });
    expect(await finished(member.client, id)).toMatchObject({
      status: 'failed',
      statusReason: { code: 'model_error' },
    });
    model.window = WINDOW;
    await member.client.post(`/v1/tasks/${id}/messages`, { content: `Go on. ${'z'.repeat(150_000)}` });
    await until('the model to be asked', () => steps > 0, { within: 150_000 });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'Read.' } });
    expect(JSON.stringify(model.steps.at(-1))).toMatch(/Begin\..*Go on\. z+.*characters left out/s);
  });

  it('of a provider that counts nothing is not on record as short: it is guessed', async () => {
    const contextOf = async (usage?: Answer['usage']) => {
      step = () => ({ text: 'Read.', ...(usage === undefined ? {} : { usage }) });
      const { id } = await createTask(member.client, { content: 'Read.' });
      expect(await finished(member.client, id)).toMatchObject({ status: 'completed' });
      const [task] = await service.db.query('SELECT context_tokens::int AS tokens FROM tasks WHERE id = $1', [id]);
      return task as { tokens: number | null };
    };
    expect(await contextOf({ input: 0, output: 7 })).toEqual({ tokens: null });
    expect(await contextOf({ input: 5, output: 7 })).toEqual({ tokens: 12 });
  });
});
