import { bootApp, bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { SLOW } from '../harness/slow.js';
import { call, createTask, finished, reaches, readMessages, runTask, script, type TaskBody } from '../harness/tasks.js';

describe('Budgets (reference §4)', () => {
  let model: ModelServer;
  let member: Member;

  const service = useService(async () => {
    model = await ModelServer.start();
    const prices = { input: 0.3, cachedInput: 0.03, output: 1.2 };
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: {
        models: [
          { id: 'priced', provider: 'openai-compatible', prices },
          { id: 'plain', provider: 'openai-compatible' },
        ],
      },
    });
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.stop());

  /** So many steps with a command each, then an answer. */
  const steps = (count: number, command = 'date +%N') =>
    script(...Array.from({ length: count }, (_, n) => call('bash', { command: `${command} # ${n}` })), {
      text: 'Done.',
    });
  const over = {
    status: 'failed',
    statusReason: { code: 'budget_exceeded', message: expect.any(String), retryable: false },
  };
  const asked = call('ask', { question: 'Why?' });
  /** Answers the question of a task, after so many hours by all that is on record. */
  const answer = async (id: string, hours = 0) => {
    const { pendingInteraction } = await reaches(member.client, id, 'awaiting_input');
    const earlier = `- make_interval(hours => ${hours})`;
    await service.db.query(
      `WITH runs AS (UPDATE runs SET created_at = created_at ${earlier}, claimed_at = claimed_at ${earlier} WHERE task_id = $1)
       UPDATE tasks SET created_at = created_at ${earlier}, started_at = started_at ${earlier} WHERE id = $1`,
      [id],
    );
    const json = { interactionId: pendingInteraction?.id, content: 'Because.' };
    expect((await member.client.post(`/v1/tasks/${id}/interaction`, json)).status).toBe(202);
    return finished(member.client, id);
  };

  const LIMITS = [
    ['maxSteps', { maxSteps: 2 }, 'true'],
    // Each step counts 100 tokens in and 10 out.
    ['maxTokens', { maxTokens: 220 }, 'true'],
    // Each step costs 42 micro-dollars.
    ['maxCost', { maxCost: '0.000084' }, 'true'],
    // The second one is what takes the time; the first has all of it, however busy the machine is.
    ['maxDurationSeconds', { maxDurationSeconds: 6 }, '[ ! -e second ] || sleep 6; touch second'],
  ] as const;
  it.each(LIMITS.filter(([name]) => SLOW || name !== 'maxDurationSeconds'))(
    '%s is looked at before each model call: the last step is carried out, and no other begun',
    async (_name, budget, command) => {
      const before = model.requests.length;
      const task = await runTask(member.client, steps(5, command), { budget });
      expect(task).toMatchObject({ ...over, usage: { steps: 2, toolCalls: 2 } });
      expect(model.requests.length - before).toBe(2);
      const last = (await readMessages(member.client, task.id)).at(-1);
      expect(last).toMatchObject({ status: 'complete', parts: [{ type: 'tool_call' }, { status: 'success' }] });
    },
  );

  it('a turn that ends within its budget completes', async () => {
    const budget = { maxSteps: 3, maxTokens: 331, maxDurationSeconds: 60, maxCost: '0.000127' };
    expect(await runTask(member.client, steps(2), { budget })).toMatchObject({
      status: 'completed',
      usage: { steps: 3 },
    });
  });

  it.each([{ maxSteps: 2 }, { maxCost: '0.000084' }])(
    'it counts one turn: the next one has all of it again: %j',
    async (budget) => {
      const { id } = await runTask(member.client, steps(1), { budget });
      await member.client.post(`/v1/tasks/${id}/messages`, { content: steps(1) });
      expect(await finished(member.client, id)).toMatchObject({ status: 'completed', usage: { steps: 4 } });
      await member.client.post(`/v1/tasks/${id}/messages`, { content: steps(2) });
      expect(await finished(member.client, id)).toMatchObject({ ...over, usage: { steps: 6 } });
    },
  );

  it('maxCost needs a model with prices: else 400, in a task, its PATCH and an automation', async () => {
    const budget = { maxCost: '0.50' };
    const refused = { code: 'invalid_field', param: 'budget.maxCost' };
    const make = (json: object) =>
      member.client.post<ErrorBody & { task: TaskBody }>('/v1/tasks', { content: 'x', ...json });
    expect((await make({ model: 'plain', budget })).body.error).toMatchObject(refused);
    const { task } = (await make({ model: 'plain' })).body;
    const changed = await member.client.patch<ErrorBody>(`/v1/tasks/${task.id}`, { budget });
    expect([changed.status, changed.body.error]).toMatchObject([400, refused]);
    const json = { name: 'A', content: 'x', cron: '0 3 * * *', model: 'plain', budget };
    expect((await member.client.post<ErrorBody>('/v1/automations', json)).body.error).toMatchObject(refused);
    expect((await member.client.post('/v1/automations', { ...json, model: 'priced' })).status).toBe(201);
    expect((await make({ budget })).body.task).toMatchObject({ budget: { maxSteps: null, maxCost: '0.50' } });
  });

  it('an answer goes on with the same turn, and with what is left of its budget', async () => {
    const content = script(asked, ...Array.from({ length: 5 }, () => call('bash', { command: 'date +%N' })));
    const { id } = await createTask(member.client, { content, budget: { maxSteps: 9, maxCost: '0.000126' } });
    expect(await answer(id)).toMatchObject({ ...over, usage: { steps: 3 } });
  });

  it('waiting for a person does not count', async () => {
    const content = script(asked, { text: 'Thanks.' });
    const { id } = await createTask(member.client, { content, budget: { maxDurationSeconds: 60 } });
    expect(await answer(id, 1)).toMatchObject({ status: 'completed', result: { text: 'Thanks.' } });
  });

  it('it may be changed between two turns', async () => {
    const { id } = await runTask(member.client, steps(3), { budget: { maxSteps: 1 } });
    expect((await member.client.patch(`/v1/tasks/${id}`, { budget: { maxSteps: 4 } })).status).toBe(200);
    await member.client.post(`/v1/tasks/${id}/messages`, { content: steps(3) });
    expect(await finished(member.client, id)).toMatchObject({ status: 'completed', usage: { steps: 5 } });
  });

  it('the effort is one that the model lists, else 400; without it the default of the model, and the task says which', async () => {
    const own = await bootApp({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: {
        models: [
          { id: 'plain', provider: 'openai-compatible' },
          { id: 'deep', provider: 'openai-compatible', efforts: ['low', 'high'], defaultEffort: 'high' },
        ],
      },
    });
    try {
      const { client } = await makeMember(own);
      const make = (json: object) =>
        client.post<ErrorBody & { task: { model: string; effort: string | null } }>('/v1/tasks', {
          content: 'x',
          ...json,
        });
      for (const [json, task] of [
        [{}, { model: 'plain', effort: null }],
        [{ model: 'deep' }, { model: 'deep', effort: 'high' }],
        [
          { model: 'deep', effort: 'low' },
          { model: 'deep', effort: 'low' },
        ],
      ])
        expect((await make(json ?? {})).body.task).toMatchObject(task ?? {});
      for (const json of [{ effort: 'low' }, { model: 'deep', effort: 'medium' }]) {
        const { status, body } = await make(json);
        expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_field', 'effort']);
      }
    } finally {
      await own.close();
    }
  });
});
