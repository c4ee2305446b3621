import { bootWorker, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { bash, delegate, part, question, SubtaskBench } from '../harness/subtasks.js';
import { reaches, script } from '../harness/tasks.js';

/** Each step counts 100 tokens in and 10 out, and costs 42 millionths of a dollar. */
const PRICES = { input: 0.3, cachedInput: 0.03, output: 1.2 };

describe('The budget of tasks of tasks (reference §27)', () => {
  let model: ModelServer;
  let bench: SubtaskBench;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: {
        models: [
          { id: 'priced', provider: 'openai-compatible', prices: PRICES },
          { id: 'plain', provider: 'openai-compatible' },
        ],
      },
    });
  });
  beforeAll(async () => {
    bench = new SubtaskBench(await makeMember(service));
  });
  afterAll(() => model.stop());

  const budgets = async (id: string) => (await bench.childrenOf(id)).map(({ budget }) => budget);
  const reservedOf = async (id: string) => {
    const query = `SELECT turn_reserved_steps AS steps, turn_reserved_tokens::int AS tokens, turn_reserved_cost_micros::int AS cost FROM tasks WHERE id = $1`;
    return (await service.db.query<{ steps: number; tokens: number; cost: number }>(query, [id]))[0];
  };
  const failed = async (id: string) => {
    const [result] = await bench.results(id);
    return result?.error;
  };

  it('each gets what it asks for, else an equal share of half of what the turn of the parent has left', async () => {
    const budget = { maxSteps: 21, maxTokens: 8_110, maxCost: '0.800042' };
    const id = await bench.begin([delegate(part('A', [], { maxSteps: 7, maxCost: '0.3' }), part('B', [question()]))], {
      model: 'priced',
      budget,
    });
    const [, b] = await bench.waiting(id, 2);
    // 20 steps, 8,000 tokens and 0.80 USD were left.
    expect(await budgets(id)).toEqual([
      { maxSteps: 7, maxTokens: 2_000, maxDurationSeconds: null, maxCost: '0.30' },
      { maxSteps: 5, maxTokens: 2_000, maxDurationSeconds: null, maxCost: '0.20' },
    ]);
    expect(await reservedOf(id)).toEqual({ steps: 12, tokens: 4_000, cost: 500_000 });
    await bench.answer(b?.id ?? '');
    await bench.ended(id);
    // One step of A, two of B: the rest was given back when the parent went on.
    expect(await reservedOf(id)).toEqual({ steps: 3, tokens: 330, cost: 126 });
  });

  it('what is taken from the turn for them ends the parent too, and what they have not used is given back', async () => {
    const more = { budget: { maxSteps: 4 } };
    const back = await bench.run([delegate(part('A', [], { maxSteps: 3 })), bash('true')], more);
    expect(back).toMatchObject({ status: 'completed', usage: { steps: 3 }, children: { usage: { steps: 1 } } });
    const used = await bench.run([delegate(part('A', [bash('true')], { maxSteps: 3 })), bash('true')], more);
    expect(used).toMatchObject({ status: 'failed', statusReason: { code: 'budget_exceeded' }, usage: { steps: 2 } });
    expect(used.children).toMatchObject({ tasks: 1, usage: { steps: 2 } });
  });

  it('is never exceeded: a child that needs more fails, and the parent reads that', async () => {
    const steps = [delegate(part('A', [bash('a'), bash('b'), bash('c')], { maxSteps: 2 }))];
    const { id, status } = await bench.run(steps, { budget: { maxSteps: 5 } });
    expect(status).toBe('completed');
    expect(await bench.told(id)).toMatchObject([{ status: 'failed', statusReason: { code: 'budget_exceeded' }, text: null }]); // prettier-ignore
  });

  it('a person who changes the budget of a child lets it use no more of the turn', async () => {
    const id = await bench.begin([delegate(part('A', [question(), bash('a'), bash('b')], { maxSteps: 2 }))], {
      budget: { maxSteps: 9 },
    });
    const [a] = await bench.waiting(id, 1);
    const changed = await bench.client.patch(`/v1/tasks/${a?.id}`, { budget: { maxSteps: 50 } });
    expect(changed.status).toBe(200);
    await bench.answer(a?.id ?? '');
    expect(await bench.ended(a?.id ?? '')).toMatchObject({ status: 'failed', usage: { steps: 2 } });
    await bench.ended(id);
  });

  it('a child that goes on with a message before it was final has no second budget, and one afterwards has', async () => {
    const held = bash('sleep 2');
    const id = await bench.begin([delegate(part('A', [held], { maxSteps: 3 }))], { budget: { maxSteps: 9 } });
    const [a = { id: '' }] = await bench.waiting(id, 1);
    await reaches(bench.client, a.id, 'running');
    await bench.send(a.id, script(bash('true'), { text: 'Again.' }));
    expect(await bench.ended(a.id)).toMatchObject({ status: 'failed', statusReason: { code: 'budget_exceeded' }, usage: { steps: 3 } }); // prettier-ignore
    await bench.ended(id);
    expect(await reservedOf(id)).toMatchObject({ steps: 3 });
    // It was final: it is a task as any other now, with a budget for each turn, and counts on nobody.
    await bench.send(a.id, script(bash('true'), { text: 'Again.' }));
    expect(await bench.ended(a.id)).toMatchObject({ status: 'completed', usage: { steps: 5 } });
  });

  it('not enough is an error of the call with the figures, and nothing is made', async () => {
    const { id } = await bench.run([delegate(part('A', [], { maxSteps: 5 }), part('B', [], { maxSteps: 6 }))], {
      budget: { maxSteps: 11 },
    });
    expect(await failed(id)).toBe(
      'The turn has 10 steps left, which is not enough for these tasks. The tasks ask for 11 steps. Ask for less, or do the work yourself.',
    );
    expect(await bench.childrenOf(id)).toEqual([]);
    const cost = { budget: { maxCost: '0.000100' }, model: 'priced' };
    const poor = await bench.run([delegate(part('A', [], { maxCost: '1' }), part('B'))], cost);
    expect(await failed(poor.id)).toBe(
      'The turn has 0.000058 USD left, which is not enough for these tasks. The tasks ask for 1.00 USD. Without a limit of its own each would get 0.000014 USD. Ask for less, or do the work yourself.',
    );
    const few = await bench.run([delegate(part('A'), part('B'))], { budget: { maxSteps: 3 } });
    expect(await failed(few.id)).toContain('The turn has 2 steps left');
  });

  it('of a parent without a budget is what each asks for itself', async () => {
    const { id } = await bench.run([delegate(part('A', [], { maxTokens: 900 }), part('B'))]);
    expect(await budgets(id)).toEqual([
      { maxSteps: null, maxTokens: 900, maxDurationSeconds: null, maxCost: null },
      null,
    ]);
    expect(await reservedOf(id)).toMatchObject({ steps: 2 });
  });

  it('the ledger bills each step once, to the child: usage of the parent is its own, and children has theirs', async () => {
    const inner = part('B', [delegate(part('C', [bash('c')]))]);
    const task = await bench.run([delegate(part('A', [bash('a')]), inner)], { model: 'priced' });
    expect(task).toMatchObject({ usage: { steps: 2, cost: { amount: '0.000084' } } });
    expect(task.children).toMatchObject({
      tasks: 3,
      usage: { steps: 6, inputTokens: 600, cost: { amount: '0.000252' } },
    });
    const [, b] = await bench.childrenOf(task.id);
    expect(b).toMatchObject({ usage: { steps: 2 }, children: { tasks: 1, usage: { steps: 2 } } });
    const [entry] = await service.db.query<{ steps: number; cost: number }>(
      `SELECT count(*)::int AS steps, sum(cost_micros)::int AS cost FROM usage_ledger
       WHERE task_id IN (SELECT id FROM tasks WHERE id = $1 OR parent_task_id = $1 OR parent_task_id IN (SELECT id FROM tasks WHERE parent_task_id = $1))`,
      [task.id],
    );
    expect(entry).toEqual({ steps: 8, cost: 336 });
  });

  it('a waiting time counts to maxDurationSeconds, and ends the wait', async () => {
    const id = await bench.begin([delegate(part('A', [question()]))], { budget: { maxDurationSeconds: 300 } });
    const [a] = await bench.waiting(id, 1);
    const seconds = Number(a?.budget?.['maxDurationSeconds']);
    expect(seconds).toBeGreaterThan(200);
    expect(seconds).toBeLessThanOrEqual(300);
    await bench.asks(a?.id ?? '');
    await service.db.query(`UPDATE tasks SET waiting_since = waiting_since - interval '400 seconds' WHERE id = $1`, [
      id,
    ]);
    await bench.lookOf(service);
    const task = await bench.ended(id);
    expect(task).toMatchObject({ status: 'failed', statusReason: { code: 'budget_exceeded' } });
    expect(task.usage['durationMs' as 'steps']).toBeLessThan(100_000);
    expect(await bench.read(a?.id ?? '')).toMatchObject({ status: 'awaiting_input' });
    await bench.ask('cancel', a?.id ?? '');
  });

  it('a model without prices cannot have a share of an amount of money', async () => {
    const { id } = await bench.run([delegate(part('A', [], { model: 'plain' }))], { model: 'priced', budget: { maxCost: '1' } }); // prettier-ignore
    expect(await failed(id)).toMatch(/^tasks\[0\]: budget.maxCost: the model "plain" has no prices/);
  });
});
