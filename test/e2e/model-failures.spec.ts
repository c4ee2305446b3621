import { readFileSync } from 'node:fs';
import { bootApp, bootWorker, type TestApp, useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { type Answer, ModelServer } from '../harness/model-server.js';
import { WindowedModel } from '../harness/windowed-model.js';
import { call, createTask, finished, readMessages, runTask, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { ModelCatalog } from '../../src/engine/models/model-catalog.js';
import { slowIt } from '../harness/slow.js';

type Task = TaskBody & { model: string; effort: string | null };
const FAILURES: Record<string, { answer: Answer; retryable: boolean }> = {
  model_gone: { answer: { status: 404 }, retryable: false },
  model_quota: { answer: { status: 402 }, retryable: false },
  model_overloaded: { answer: { status: 429, headers: { 'retry-after': '3600' } }, retryable: true },
};
/** Of the model `narrow`. */
const WINDOW = 12_000;
type Models = { models: { id: string; status: string }[] };

describe('Models that fail, and what they are exchanged for (reference §4, §15)', () => {
  let server: ModelServer;
  let member: Member;
  /** Another process on the same database, which does no work. */
  let api: TestApp;
  /** What each model answers now. */
  const answers: Record<string, Answer> = {};

  const narrow = new WindowedModel(WINDOW, () => ({ text: 'I am narrow.' }));

  const config = () => {
    const common = { provider: 'openai-compatible', baseUrl: server.url };
    const prices = (output: number) => ({ prices: { input: 0, output } });
    return {
      transparency: { data: true },
      models: [
        { ...common, id: 'main', fallback: 'spare', ...prices(1) },
        { ...common, id: 'spare', ...prices(100), efforts: ['low' as const] },
        { ...common, id: 'alone', efforts: ['low' as const, 'high' as const], defaultEffort: 'high' as const },
        { ...common, id: 'free', efforts: ['low' as const] },
        { ...common, id: 'partly-free', fallback: 'free', ...prices(1) },
        { ...common, id: 'wide', fallback: 'narrow' },
        { ...common, id: 'narrow', contextWindow: WINDOW },
        ...Object.keys(FAILURES).map((id) => ({ ...common, id })),
      ],
    };
  };
  const service = useService(async () => {
    server = await ModelServer.start((request, attempt) => {
      const { model } = request;
      return model === 'narrow' ? narrow.script(request, attempt) : (answers[model] ?? { text: `I am ${model}.` });
    });
    return bootWorker({ config: config() });
  });
  beforeAll(async () => {
    member = await makeMember(service, { role: 'owner' });
    api = await bootApp({ config: config(), db: service.db });
  });
  afterAll(async () => {
    await api.close();
    await server.stop();
  });
  beforeEach(() => {
    for (const id of Object.keys(answers)) delete answers[id];
  });

  const health = () => service.app.get(ModelCatalog, { strict: false }).health;
  const statusOf = async (id: string, origin: TestApp) => {
    const { body } = await new Client(origin.url, member.key.secret).get<Models>('/v1/models');
    return body.models.find((model) => model.id === id)?.status;
  };

  it('the fallback answers for a model that refuses: the task keeps its model, the step is priced and counted as the fallback’s', async () => {
    answers['main'] = { status: 401 };
    const task = (await runTask(member.client, 'Who are you?', { model: 'main' })) as Task;
    expect(task).toMatchObject({ status: 'completed', model: 'main', result: { text: 'I am spare.' } });
    // 10 tokens out at 100 USD for a million.
    expect(task.usage).toMatchObject({ steps: 1, cost: { amount: '0.001', currency: 'USD' } });
    const { body } = await member.client.get<{ messages: { parts: object[] }[] }>(`/v1/tasks/${task.id}/messages`);
    const data = { from: 'main', to: 'spare', code: 'model_credentials' };
    expect(body.messages.at(-1)?.parts).toEqual([
      { type: 'data', name: 'fallback', id: expect.any(String) as string, data },
      { type: 'text', text: 'I am spare.' },
    ]);
    const used = await member.client.get<{ usage: object[] }>('/v1/billing/usage?groupBy=model');
    expect(used.body.usage).toMatchObject([{ key: 'spare', steps: 1, cost: { amount: '0.001' } }]);
    // The next step does not wait for a call that would fail.
    answers['main'] = {};
    expect(await runTask(member.client, 'And now?', { model: 'main' })).toMatchObject({ status: 'completed' });
    expect(server.requests.filter((request) => request.body.model === 'main').length).toBe(1);
  });

  it('a fallback with a smaller window is sent less: the cut is on record, with the model that wrote the notes', async () => {
    answers['wide'] = { text: `I am wide. ${'And so on. '.repeat(8_000)}` };
    const { id } = await runTask(member.client, 'Who are you?', { model: 'wide' });
    answers['wide'] = { status: 401 };
    await member.client.post(`/v1/tasks/${id}/messages`, { content: 'And now?' });
    await until('the fallback to answer', () => narrow.steps.length > 0);
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', result: { text: 'I am narrow.' } });
    expect([narrow.refused > 0, narrow.summaries]).toEqual([true, 1]);
    const messages = await readMessages(member.client, id);
    const fallback = { name: 'fallback', data: { from: 'wide', to: 'narrow', code: 'model_credentials' } };
    expect(messages.slice(-2).map(({ parts }) => parts)).toMatchObject([
      [fallback, { name: 'context', data: { kind: 'summary' } }],
      [fallback, { type: 'text', text: 'I am narrow.' }],
    ]);
  });

  it('a model whose key is refused is unavailable in every process, tasks for it are taken, and a call that succeeds ends that', async () => {
    answers['alone'] = { status: 401 };
    const failed = { status: 'failed', statusReason: { code: 'model_credentials', retryable: false } };
    expect(await runTask(member.client, 'Who are you?', { model: 'alone' })).toMatchObject(failed);
    for (const origin of [service, api]) {
      await until('it to be unavailable', async () => (await statusOf('alone', origin)) === 'unavailable');
    }
    expect(await runTask(member.client, 'And now?', { model: 'alone' })).toMatchObject(failed);
    expect(server.requests.filter((request) => request.body.model === 'alone').length).toBe(1);
    delete answers['alone'];
    // A minute later, for the test at once.
    health().pauseMs = 0;
    health().hear('alone', { code: 'model_credentials', message: 'Refused.' });
    expect(await runTask(member.client, 'Are you there?', { model: 'alone' })).toMatchObject({ status: 'completed' });
    for (const origin of [service, api]) {
      await until('it to be available', async () => (await statusOf('alone', origin)) === 'available');
    }
  });

  it.each(Object.keys(FAILURES))('%s is the reason of the failed task', async (code) => {
    const { answer, retryable } = FAILURES[code] ?? {};
    answers[code] = answer ?? {};
    // The model is called as the code.
    const task = await runTask(member.client, 'x', { model: code });
    expect(task).toMatchObject({ status: 'failed', statusReason: { code, retryable } });
  });

  it('a PATCH changes model and effort for the next turn; a new model keeps the effort that it takes', async () => {
    const task = (await runTask(member.client, 'x', { model: 'alone' })) as Task;
    expect(task).toMatchObject({ model: 'alone', effort: 'high', result: { text: 'I am alone.' } });
    const change = async (json: object) => {
      const { status, body } = await member.client.patch<ErrorBody & { task: Task }>(`/v1/tasks/${task.id}`, json);
      return status === 200 ? [body.task.model, body.task.effort] : [status, body.error.code, body.error.param];
    };
    expect(await change({ effort: 'low' })).toEqual(['alone', 'low']);
    expect(await change({ model: 'spare' })).toEqual(['spare', 'low']);
    expect(await change({ model: 'alone', effort: 'high' })).toEqual(['alone', 'high']);
    expect(await change({ model: 'spare' })).toEqual(['spare', null]);
    expect(await change({ effort: 'high' })).toEqual([400, 'invalid_field', 'effort']);
    expect(await change({ model: 'gone' })).toEqual([400, 'model_not_available', 'model']);
    expect(await change({ model: null })).toEqual([400, 'invalid_field', 'model']);
    expect(await change({ budget: { maxCost: '1.00' } })).toEqual(['spare', null]);
    expect(await change({ model: 'free' })).toEqual([400, 'invalid_field', 'budget.maxCost']);
    expect(await change({ model: 'partly-free' })).toEqual([400, 'invalid_field', 'budget.maxCost']);
    expect(await change({ model: 'free', budget: null })).toEqual(['free', null]);
    await member.client.post(`/v1/tasks/${task.id}/messages`, { content: 'Who are you?' });
    const after = await finished(member.client, task.id);
    expect(after).toMatchObject({ status: 'completed', model: 'free', result: { text: 'I am free.' } });
  });

  slowIt('maxDurationSeconds ends a command that runs past it, and the turn with it', async () => {
    answers['alone'] = call('bash', { command: 'sleep 600' });
    const budget = { maxDurationSeconds: 5 };
    const { id } = await createTask(member.client, { content: 'x', model: 'alone', budget });
    const task = await finished(member.client, id);
    expect(task).toMatchObject({ status: 'failed', statusReason: { code: 'budget_exceeded' }, usage: { steps: 1 } });
    const { body } = await member.client.get<{ messages: { parts: object[] }[] }>(`/v1/tasks/${id}/messages`);
    expect(JSON.stringify(body.messages.at(-1))).toMatch(/the time that the budget gives the turn was over/);
  });
});

it('the configuration that the reference prints boots as it stands (reference §16)', async () => {
  const reference = readFileSync('docs/reference.md', 'utf8');
  const printed = /`CONFIG_FILE`: every part is optional[\s\S]*?```json\n([\s\S]*?)```/.exec(reference)?.[1] ?? '';
  const env = { STRIPE_SECRET_KEY: 'sk_test_0', STRIPE_WEBHOOK_SECRET: 'whsec_0' };
  const service = await bootApp({ env, config: JSON.parse(printed) as object });
  try {
    const { client } = await makeMember(service);
    const { body } = await client.get<Models>('/v1/models');
    expect(body.models).toMatchObject([{ id: 'default', name: 'House model', default: true, status: 'available' }]);
  } finally {
    await service.close();
  }
});
