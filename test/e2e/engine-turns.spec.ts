// A task that an agent program drives (reference §30).
import { jest } from '@jest/globals';
import { FencedWrites } from '../../src/work/runs/fenced-writes.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { FakeModel } from '../harness/engines/fake-model.js';
import { bootWithEngines, engineOf, shell } from '../harness/engines/worker.js';
import { createTask, finishedLater, readMessages, readResults, script, texts } from '../harness/tasks.js';

const WIRES = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const;

describe('A task driven by an agent program (reference §30)', () => {
  let model: FakeModel;
  let ann: Member;
  const service = useService(async () => {
    model = await FakeModel.start();
    const engines = {
      chat: engineOf(),
      responses: engineOf({}, { wire: 'openai-responses' }),
      messages: engineOf({}, { wire: 'anthropic-messages' }),
      silent: engineOf({ SILENT: '1', SIDE_CALL: '1', PERMISSIONS: '1' }),
    };
    return bootWithEngines(model, engines);
  });
  beforeAll(async () => (ann = await makeMember(service)));
  beforeEach(() => (model.requests.length = 0));
  afterAll(() => model.stop());

  const run = async (id: string, content: string, more: Record<string, unknown> = {}) => {
    const task = await createTask(ann.client, { content, model: id, ...more });
    return finishedLater(ann.client, task.id);
  };
  const usage = { input: 100, output: 10, cached: 40, reasoning: 3 };

  it('is one of a model that says its engine by name, and nothing else of it', async () => {
    const { body, text } = await ann.client.get<{ models: { id: string; engine: string | null }[] }>('/v1/models');
    expect(Object.fromEntries(body.models.map(({ id, engine }) => [id, engine]))).toEqual({
      chat: 'chat',
      responses: 'responses',
      messages: 'messages',
      silent: 'silent',
      scripted: null,
    });
    expect(text).not.toMatch(/acp-program|openai|anthropic|real-|MODEL_/);
  });

  it.each(WIRES)('has its steps, calls, results and tokens on record, by %s', async (wire) => {
    const id = wire.split('-')[1] ?? '';
    const task = await run(
      id,
      script(
        { text: 'First I write.', reasoning: 'A file.', calls: [shell('echo hello > a.txt; pwd')], usage },
        { calls: [shell('cat a.txt', 'one'), { name: 'look', arguments: { path: 'none' }, id: 'two' }], usage },
        { text: 'All is done.', usage },
      ),
    );
    expect(task).toMatchObject({ status: 'completed', result: { text: 'All is done.' } });
    expect(task.usage).toMatchObject({ steps: 3, inputTokens: 300, outputTokens: 30, toolCalls: 3 });
    const messages = await readMessages(ann.client, task.id);
    expect(texts(messages)).toEqual(['First I write.', 'All is done.']);
    expect(messages.every(({ status }) => status === 'complete')).toBe(true);
    const results = await readResults(ann.client, task.id);
    expect(results).toMatchObject([
      { status: 'success', output: '/workdir\n' },
      { status: 'success', output: 'hello\n' },
      { status: 'error' },
    ]);
    expect(model.requests.map(({ wire: spoken }) => spoken)).toEqual([wire, wire, wire]);
    expect(model.requests[0]?.body['model']).toBe(`real-${id}`);
  });

  it('costs two writes a step: the step, which says that its call goes to the program, and the result', async () => {
    const writes = service.app.get(FencedWrites, { strict: false });
    const counted = async (...commands: string[]) => {
      const tried = jest.spyOn(writes, 'tried');
      const { id } = await run('chat', script(...commands.map((one) => ({ calls: [shell(one)] })), { text: 'Done.' }));
      const count = tried.mock.calls.length;
      tried.mockRestore();
      return { id, count };
    };
    const few = await counted('echo a');
    const many = await counted('echo a', 'pwd', 'ls', 'echo b');
    expect(many.count - few.count).toBe(2 * 3);
    const calls = await service.db.query(
      'SELECT v.stage, v.state FROM tool_invocations v JOIN messages m ON m.id = v.message_id WHERE m.task_id = $1',
      [few.id],
    );
    expect(calls).toEqual([{ stage: 'begun', state: 'success' }]);
  });

  it('is given results by what the program tells its model, where it tells nothing beside, and calls for titles leave no message', async () => {
    const task = await run('silent', script({ calls: [shell('echo quiet')], usage }, { text: 'Good.', usage }));
    expect(task).toMatchObject({ status: 'completed', result: { text: 'Good.' } });
    expect(await readResults(ann.client, task.id)).toMatchObject([{ status: 'success', output: 'quiet\n' }]);
    const answers = (await readMessages(ann.client, task.id)).filter(({ role }) => role === 'assistant');
    expect(answers).toHaveLength(2);
    expect(model.requests).toHaveLength(3);
  });

  it('goes on with its session at the next message', async () => {
    const first = await run('chat', script({ text: 'One.' }));
    await ann.client.post(`/v1/tasks/${first.id}/messages`, { content: script({ text: 'Two.' }) });
    const task = await finishedLater(ann.client, first.id);
    expect(task.result?.text).toBe('Two.');
    const [, second] = model.requests;
    expect(second?.messages.filter(({ role }) => role === 'assistant').map(({ text }) => text)).toEqual(['One.']);
    expect(JSON.stringify(await readMessages(ann.client, first.id))).not.toContain('engine_restarted');
  });
});
