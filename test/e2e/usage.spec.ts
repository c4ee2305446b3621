import { bootApp, bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { bash, HeldModel } from '../harness/held-model.js';
import { byMarkers, ModelServer } from '../harness/model-server.js';
import { call, createTask, finished, reaches, runTask, script, type TaskBody } from '../harness/tasks.js';
import { imbalances } from '../faults/accounts.js';

const PRICES = { input: 0.5, cachedInput: 0.05, output: 3.3 };
const STEP = call('bash', { command: 'true' });
const EXHAUSTED = { code: 'usage_exhausted', retryable: true };

describe('Usage (reference §14)', () => {
  let model: ModelServer;
  let member: Member;

  const models = (url: string) =>
    [
      { id: 'priced', provider: 'openai-compatible', baseUrl: url, prices: PRICES },
      { id: 'plain', provider: 'openai-compatible', baseUrl: url },
      { id: 'priced-gone', provider: 'openai-compatible', baseUrl: url, prices: PRICES, fallback: 'plain' },
      { id: 'plain-gone', provider: 'openai-compatible', baseUrl: url, fallback: 'priced' },
    ] as const;
  const service = useService(async () => {
    model = await ModelServer.start((request, attempt) =>
      request.model.endsWith('-gone') ? { status: 404 } : byMarkers(request, attempt),
    );
    return bootWorker({ config: { models: [...models(model.url)] } });
  });
  beforeEach(async () => {
    member = await makeMember(service);
  });
  afterAll(() => model.stop());

  /** Gives the member's workspace windows of its own and a top-up of so many micro-dollars. */
  const allow = (windows: object[], topUp = 0) =>
    service.db.query('UPDATE workspaces SET usage_windows = $2, top_up_micros = $3 WHERE id = $1', [
      member.workspace.id,
      JSON.stringify(windows),
      topUp,
    ]);
  const topUp = async () => {
    const [row] = await service.db.query<{ n: string }>('SELECT top_up_micros AS n FROM workspaces WHERE id = $1', [
      member.workspace.id,
    ]);
    return Number(row?.n);
  };
  const today = async () => {
    const rows = await service.db.query<Record<string, string>>(
      `SELECT sum(tasks) AS tasks, sum(tokens) AS tokens, sum(cost_micros) AS cost_micros FROM usage_days WHERE workspace_id = $1
       HAVING count(*) > 0`,
      [member.workspace.id],
    );
    return rows.map(({ tasks, tokens, cost_micros }) => [Number(tasks), Number(tokens), Number(cost_micros)]);
  };
  const send = (id: string, content: string) => member.client.post(`/v1/tasks/${id}/messages`, { content });
  const tokens = (allowance: number) => [{ window: 'month', unit: 'tokens', allowance }];

  it('is counted for each model call, and the sum over the steps is the task, the ledger and the counters', async () => {
    const usage = { input: 1001, output: 7, cached: 500, reasoning: 3 };
    const { id } = await runTask(member.client, script({ ...STEP, usage }, { text: 'Done.', usage }));
    await send(id, script({ text: 'Again.', usage: { input: 1, output: 0 } }));
    // 501 × 0.5 + 500 × 0.05 + 7 × 3.3 = 298.6, and 1 × 0.5: each rounded by itself.
    expect((await finished(member.client, id)).usage).toMatchObject({
      inputTokens: 2003,
      outputTokens: 14,
      cachedInputTokens: 1000,
      reasoningTokens: 6,
      steps: 3,
      cost: { amount: '0.000599', currency: 'USD' },
    });
    const rows = await service.db.query(
      `SELECT model, automation_id, created_by, starts_turn, cost_micros::int AS cost,
         message_id IN (SELECT id FROM messages WHERE role = 'assistant') AS known
       FROM usage_ledger WHERE task_id = $1 ORDER BY at`,
      [id],
    );
    const entry = { model: 'priced', automation_id: null, created_by: member.user.id, known: true };
    expect(rows).toEqual([
      { ...entry, starts_turn: true, cost: 299 },
      { ...entry, starts_turn: false, cost: 299 },
      { ...entry, starts_turn: true, cost: 1 },
    ]);
    expect(await today()).toEqual([[2, 2017, 599]]);
    const [{ cost } = { cost: null }] = await service.db.query<{ cost: unknown }>(
      `SELECT data -> 'usage' -> 'cost' AS cost FROM task_events WHERE task_id = $1 ORDER BY seq DESC LIMIT 1`,
      [id],
    );
    expect(cost).toEqual({ amount: '0.000599', currency: 'USD' });
    expect(await imbalances(service.db)).toEqual([]);
  });

  it('on a model without prices has tokens and no cost', async () => {
    const task = await runTask(member.client, script({ text: 'Done.' }), { model: 'plain' });
    expect(task.usage).toMatchObject({ inputTokens: 100, outputTokens: 10, cost: null });
    expect(await today()).toEqual([[1, 110, 0]]);
    expect(await service.db.query('SELECT cost_micros FROM usage_ledger WHERE task_id = $1', [task.id])).toEqual([
      { cost_micros: null },
    ]);
  });

  it('stays when its task and its project are deleted', async () => {
    const { body } = await member.client.post<{ project: { id: string } }>('/v1/projects', { name: 'P' });
    const projectId = body.project.id;
    const { id } = await runTask(member.client, script({ text: 'Done.' }), { projectId });
    expect((await member.client.delete(`/v1/tasks/${id}`)).status).toBe(200);
    expect((await member.client.delete(`/v1/projects/${projectId}`)).status).toBe(200);
    const kept = { task_id: id, project_id: projectId, cost_micros: '83' };
    expect(
      await service.db.query('SELECT task_id, project_id, cost_micros FROM usage_ledger WHERE workspace_id = $1', [
        member.workspace.id,
      ]),
    ).toEqual([kept]);
    expect(await today()).toEqual([[1, 110, 83]]);
  });

  it.each([
    ['tokens', { window: 'month', unit: 'tokens', allowance: 220 }, '220 tokens that it has for a month'],
    ['cost', { window: 'day', unit: 'cost', allowance: 0.000166 }, '0.000166 USD that it has for a day'],
  ])(
    'of %s is looked at before each model call: at its allowance the turn fails, and more of it lets a message go on',
    async (_unit, window, words) => {
      await allow([window]);
      const before = model.requests.length;
      const task = await runTask(member.client, script(STEP, STEP, STEP, { text: 'Done.' }));
      expect(task).toMatchObject({
        status: 'failed',
        statusReason: { ...EXHAUSTED, message: expect.stringContaining(words) as string },
        usage: { steps: 2, toolCalls: 2 },
      });
      expect(model.requests.length - before).toBe(2);
      await allow([{ ...window, allowance: 1_000_000 }]);
      await send(task.id, 'Go on.');
      expect((await finished(member.client, task.id)).status).toBe('completed');
    },
  );

  it('beyond a window is paid by the top-up, by the prices of the model, until it is used up and never below 0', async () => {
    // A step is 110 tokens and 83 micro-dollars. Of the second one 55 tokens lie beyond, of the third one all.
    await allow(tokens(165), 42 + 83 + 10);
    const task = await runTask(member.client, script(...Array.from({ length: 9 }, () => STEP)));
    expect(task).toMatchObject({ status: 'failed', statusReason: EXHAUSTED, usage: { steps: 4 } });
    expect(await topUp()).toBe(0);
  });

  it('beyond several windows is paid once, and what lies within all of them costs no top-up', async () => {
    await allow([...tokens(110), { window: 'day', unit: 'cost', allowance: 0.0001 }], 1_000_000);
    await runTask(member.client, script(STEP, { text: 'Done.' }));
    expect(await topUp()).toBe(1_000_000 - 83);
  });

  it('beyond a window is not opened by a top-up on a model without prices', async () => {
    await allow(tokens(110), 1_000_000);
    const task = await runTask(member.client, script(STEP, STEP), { model: 'plain' });
    expect(task).toMatchObject({ status: 'failed', statusReason: EXHAUSTED, usage: { steps: 1 } });
    expect(await topUp()).toBe(1_000_000);
  });

  it.each([
    ['goes on when the model of the task has prices', 'priced-gone', { status: 'completed', usage: { steps: 2 } }],
    ['ends when it has none', 'plain-gone', { status: 'failed', statusReason: EXHAUSTED, usage: { steps: 1 } }],
  ])('beyond a window that a top-up opens, a turn for which a fallback answers %s', async (_, id, ended) => {
    await allow(tokens(110), 1_000_000);
    expect(await runTask(member.client, script(STEP, { text: 'Done.' }), { model: id })).toMatchObject(ended);
  });

  describe('of turns', () => {
    let held: HeldModel;
    let owner: Member;
    const one = useService(async () => {
      held = await HeldModel.start();
      return bootWorker({ config: { models: [...models(held.server.url)], plans: { paid: { runningTasks: 1 } } } });
    });
    beforeEach(async () => {
      owner = await makeMember(one);
    });
    afterAll(() => held.server.stop());

    /** A turn under way, and a task that waits for its end; then the workspace has this many turns. */
    const begin = async (allowance: number, micros: number): Promise<[TaskBody, TaskBody]> => {
      const first = await createTask(owner.client, { content: 'First' });
      await reaches(owner.client, first.id, 'running');
      const second = await createTask(owner.client, { content: 'Second' });
      await allowNow([{ window: 'week', unit: 'tasks', allowance }], micros);
      return [first, second];
    };
    const answer = async (...answers: object[]) => {
      for (const one of answers) (await held.asked()).answer(one);
    };
    const allowNow = (windows: object[], micros: number) =>
      one.db.query('UPDATE workspaces SET usage_windows = $2, top_up_micros = $3 WHERE id = $1', [
        owner.workspace.id,
        JSON.stringify(windows),
        micros,
      ]);
    const left = async () => {
      const rows = await one.db.query<{ tasks: string; micros: string }>(
        `SELECT d.tasks, w.top_up_micros AS micros FROM workspaces w JOIN usage_days d ON d.workspace_id = w.id
         WHERE w.id = $1 AND d.lane = 0`,
        [owner.workspace.id],
      );
      return rows.map(({ tasks, micros }) => [Number(tasks), Number(micros)]);
    };

    it('ends no turn that has begun; the next one is not counted, calls no model and fails', async () => {
      const [first, second] = await begin(1, 0);
      await answer(bash('true'), { text: 'Done.' });
      expect((await finished(owner.client, first.id)).status).toBe('completed');
      expect(await finished(owner.client, second.id)).toMatchObject({
        status: 'failed',
        statusReason: {
          ...EXHAUSTED,
          message: expect.stringContaining('the 1 turn that it has for a week') as string,
        },
        usage: { steps: 0 },
      });
      expect(await left()).toEqual([[1, 0]]);
    });

    it('beyond the window has all of its steps paid by the top-up, and those before it none', async () => {
      const [first, second] = await begin(1, 1000);
      await answer(bash('true'), { text: 'Done.' });
      await finished(owner.client, first.id);
      await answer(bash('true'), { text: 'Done.' });
      expect((await finished(owner.client, second.id)).status).toBe('completed');
      expect(await left()).toEqual([[2, 1000 - 2 * 83]]);
    });

    it('beyond the window is within it when the window is wider or begins anew: it goes on, and the top-up pays no more', async () => {
      const [first, second] = await begin(1, 1000);
      await answer({ text: 'Done.' });
      await finished(owner.client, first.id);
      const asked = await held.asked();
      await allowNow([{ window: 'week', unit: 'tasks', allowance: 10 }], 0);
      asked.answer(bash('true'));
      await answer({ text: 'Done.' });
      expect((await finished(owner.client, second.id)).status).toBe('completed');
      await allowNow([], 500);
      expect(await left()).toEqual([[2, 500]]);
    });

    it('that has some left is not what is told when the window of another unit is used up', async () => {
      const [first, second] = await begin(100, 0);
      await allowNow(
        ['month:tasks', 'day:tokens'].map((one) => {
          const [window, unit] = one.split(':');
          return { window, unit, allowance: 100 };
        }),
        0,
      );
      await answer({ text: 'Done.' });
      await finished(owner.client, first.id);
      const { statusReason } = await finished(owner.client, second.id);
      expect(statusReason?.message).toContain('the 100 tokens that it has for a day');
    });

    it('and of cost: a call of a model without prices that ends beyond one costs no top-up', async () => {
      const { id } = await createTask(owner.client, { content: 'Do it.', model: 'plain' });
      const asked = await held.asked();
      await allowNow([{ window: 'month', unit: 'cost', allowance: 0.0001 }], 1000);
      await one.db.query('UPDATE usage_days SET cost_micros = 400 WHERE workspace_id = $1', [owner.workspace.id]);
      asked.answer({ text: 'Done.' });
      await finished(owner.client, id);
      expect(await left()).toEqual([[1, 1000]]);
    });
  });

  it('of turns is exact: of ten that are claimed at once as many begin as the window has left', async () => {
    const api = await bootApp({ config: { models: [...models(model.url)] } });
    try {
      const owner = await makeMember(api);
      const content = script({ text: 'Done.' });
      const ids = [];
      for (let n = 0; n < 10; n++) ids.push((await createTask(owner.client, { content })).id);
      await api.db.query(
        `UPDATE workspaces SET usage_windows = '[{"window": "day", "unit": "tasks", "allowance": 3}]' WHERE id = $1`,
        [owner.workspace.id],
      );
      const worker = await bootWorker({ db: api.db, config: { models: [...models(model.url)] } });
      try {
        const ended = await Promise.all(ids.map((id) => finished(owner.client, id)));
        expect(ended.filter(({ status }) => status === 'completed')).toHaveLength(3);
        expect(await api.db.query('SELECT tasks::int FROM usage_days WHERE lane = 0')).toEqual([{ tasks: 3 }]);
      } finally {
        await worker.close();
      }
    } finally {
      await api.close();
    }
  });
});
