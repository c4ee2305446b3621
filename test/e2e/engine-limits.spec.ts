// What a task of an agent program may use, and what is counted of it (reference §14, §30).
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { byScript, type FakeCall, FakeModel } from '../harness/engines/fake-model.js';
import { bootWithEngines, engineOf, shell } from '../harness/engines/worker.js';
import { createTask, finishedLater, readMessages, script, texts } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const usage = { input: 100, output: 10 };

describe('What a task of an agent program uses (reference §30)', () => {
  let model: FakeModel;
  let ann: Member;
  const service = useService(async () => {
    model = await FakeModel.start();
    const engines = {
      program: engineOf(),
      lonely: engineOf({}, { concurrency: 1 }),
      titles: engineOf({ SIDE_CALL: 'last' }),
      titled: engineOf({ SIDE_CALL: '1' }),
      threads: engineOf({ SIDE_THREAD: '1' }),
    };
    const common = { engine: 'program', provider: 'openai-compatible' as const, baseUrl: model.url };
    const models = [
      { ...common, id: 'main', model: 'real-main', fallback: 'spare', prices: { input: 0, output: 1 } },
      { ...common, id: 'spare', model: 'real-spare', prices: { input: 0, output: 100 } },
      ...['titles', 'titled'].flatMap((engine) => [
        { ...common, engine, id: `${engine}-main`, model: 'real-main', fallback: `${engine}-spare`, prices: { input: 0, output: 1 } },
        { ...common, engine, id: `${engine}-spare`, model: 'real-spare', prices: { input: 0, output: 100 } },
      ]), // prettier-ignore
    ];
    const plans = {
      free: { storageBytes: 1024 ** 2 },
      paid: { windows: [{ window: 'day' as const, unit: 'tokens' as const, allowance: 5_000 }] },
    };
    return bootWithEngines(model, engines, { config: { models, plans, transparency: { data: true } } });
  });
  beforeEach(async () => {
    ann = await makeMember(service);
    model.requests.length = 0;
    model.script = byScript;
  });
  afterAll(() => model.stop());

  const begin = (id: string, content: string) => createTask(ann.client, { content, model: id });
  const run = async (id: string, content: string) => finishedLater(ann.client, (await begin(id, content)).id);
  const call = (command: string): { calls: FakeCall[]; usage: typeof usage } => ({ calls: [shell(command)], usage });

  it('is one place of its engine: a task beyond those waits in the queue, and nobody is warned of it', async () => {
    const warned = jest.spyOn(Logger.prototype, 'warn');
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (go = resolve));
    model.script = async () => {
      await held;
      return { text: 'Done.' };
    };
    const first = await begin('lonely', 'First.');
    await until('the first to ask its model', () => model.requests.length === 1);
    const second = await begin('lonely', 'Second.');
    const claims = async () => {
      const [row] = await service.db.query<{ epoch: number }>('SELECT epoch FROM runs WHERE task_id = $1', [second.id]);
      return row?.epoch ?? 0;
    };
    await until('the second to have been claimed and let go again', async () => (await claims()) > 1);
    expect(model.requests).toHaveLength(1);
    go();
    for (const { id } of [first, second]) expect((await finishedLater(ann.client, id)).status).toBe('completed');
    expect(JSON.stringify(warned.mock.calls)).not.toContain('goes back to the queue');
    warned.mockRestore();
  });

  it('is that of the fallback where that answers, which is noted and priced as in the loop', async () => {
    model.script = ({ body }) => (body['model'] === 'real-main' ? { status: 401 } : { text: 'I am spare.', usage });
    const task = await run('main', 'Who are you?');
    expect(task).toMatchObject({ status: 'completed', result: { text: 'I am spare.' } });
    // 10 tokens out at 100 USD for a million.
    expect(task.usage).toMatchObject({ steps: 1, inputTokens: 100, cost: { amount: '0.001' } });
    const parts = (await readMessages(ann.client, task.id)).at(-1)?.parts;
    const data = { from: 'main', to: 'spare', code: 'model_credentials' };
    expect(parts?.filter(({ type }) => type !== 'step_start')).toMatchObject([
      { type: 'data', name: 'fallback', data },
      { type: 'text', text: 'I am spare.' },
    ]);
  });

  it('ends the turn before the model is called once more when the workspace may use no more', async () => {
    const task = await run('program', script({ ...call('true'), usage: { input: 6_000, output: 10 } }, call('true')));
    expect(task.statusReason).toMatchObject({ code: 'usage_exhausted' });
    expect(model.requests).toHaveLength(1);
  });

  it('ends the turn before the model is called once more when the workspace can store no more', async () => {
    ann = await makeMember(service, { plan: 'free' });
    // While a program runs, its folders are measured every few seconds.
    const fills = call('head -c 3000000 /dev/zero > f');
    const waits = Array.from({ length: 20 }, (_, n) => call(`sleep ${1 + n / 100}; date`));
    const task = await run('program', script(fills, ...waits));
    expect(task.statusReason).toMatchObject({ code: 'storage_exhausted' });
    expect(model.requests.length).toBeLessThan(20);
  });

  it('has the tokens of calls without tools also when no step comes behind them', async () => {
    model.script = ({ tools }) => ({ text: tools.length === 0 ? 'A title' : 'Done.', usage });
    const task = await run('titles', 'Do it.');
    expect(task).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
    expect(task.usage).toMatchObject({ steps: 1, inputTokens: 200, outputTokens: 20 });
    expect(texts(await readMessages(ann.client, task.id))).toEqual(['Done.']);
    const { body } = await (
      await makeMember(service, { workspace: ann.workspace, role: 'owner' })
    ).client.get<{
      usage: object[];
    }>('/v1/billing/usage?groupBy=model');
    expect(body.usage).toMatchObject([{ key: 'titles', inputTokens: 200 }]);
  });

  it.each([
    ['behind a step', 'titles-main', (tools: number) => tools === 0],
    ['before a step', 'titled-main', (tools: number) => tools > 0],
  ])('has the tokens of a call without tools %s by the prices of the model that answered it', async (_, id, falls) => {
    model.script = ({ body, tools }) =>
      body['model'] === 'real-main' && falls(tools.length) ? { status: 401 } : { text: 'Done.', usage };
    const task = await run(id, 'Do it.');
    expect(task).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
    // 10 tokens out at 1 USD for a million, and 10 at 100 USD.
    expect(task.usage).toMatchObject({ steps: 1, inputTokens: 200, cost: { amount: '0.00101' } });
  });

  it('has the steps of its other threads, whose words are on record and are not the answer of the turn', async () => {
    model.script = ({ messages }) => ({ text: messages.length === 1 && messages[0]?.text === 'Write a title.' ? 'A title' : 'Done.', usage }); // prettier-ignore
    const task = await run('threads', 'Do it.');
    expect(task).toMatchObject({ status: 'completed', result: { text: 'Done.' }, usage: { steps: 2 } });
    expect(texts(await readMessages(ann.client, task.id))).toEqual(['Done.', 'A title']);
  });
});
