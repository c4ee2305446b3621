// How a turn of an agent program ends, and what ends one (reference §30).
import { EngineSettings } from '../../src/engine/agent/engine-settings.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { byScript, FakeModel } from '../harness/engines/fake-model.js';
import { bootWithEngines, engineOf, shell } from '../harness/engines/worker.js';
import { McpHttpServer } from '../harness/mcp/http-server.js';
import { createTask, finishedLater, readMessages, readResults, script, texts } from '../harness/tasks.js';

/** A program that says nothing for so long has failed. Milliseconds. */
const SILENT_MS = 20_000;

describe('A turn of an agent program (reference §30)', () => {
  let model: FakeModel;
  let vital: McpHttpServer;
  let gone: Promise<void> | undefined;
  let ann: Member;
  const service = useService(async () => {
    model = await FakeModel.start();
    const engines = {
      program: engineOf(),
      hang: engineOf({ FAULT: 'hang' }),
      flood: engineOf({ FAULT: 'flood' }),
      exit: engineOf({ FAULT: 'exit' }),
      garbage: engineOf({ FAULT: 'garbage' }),
      'long-line': engineOf({ FAULT: 'long-line' }),
      'slow-start': engineOf({ FAULT: 'slow-start' }, { startSeconds: 5 }),
      absent: engineOf({}, { command: ['node', '{path}/none.mjs'] }),
      unprepared: engineOf({}, { prepare: 'echo not today >&2; false' }),
      refused: engineOf(),
      searching: engineOf({ EXTRA_TOOL: '{"type":"web_search"}' }, { wire: 'openai-responses' }),
      found: engineOf(
        { EXTRA_TOOL: '{"type":"web_search"}' },
        { wire: 'openai-responses', providerTools: ['web_search'] },
      ),
      hiding: engineOf({}, { hide: ['look'] }),
      forgetful: engineOf({ FAULT: 'no-resume' }),
      tools: engineOf({ MCP: '1' }),
    };
    vital = await McpHttpServer.start([{ name: 'get_page', inputSchema: { type: 'object' } }]);
    const mcpServers = { vital: { url: vital.url, required: true, readOnly: ['*'] } };
    const config = { transparency: { custom: true }, mcpServers };
    return bootWithEngines(model, engines, { config });
  });
  beforeAll(async () => {
    ann = await makeMember(service);
    Object.assign(service.app.get(EngineSettings, { strict: false }), { engineSilentMs: SILENT_MS, backoffMs: 10 });
  });
  beforeEach(() => {
    model.requests.length = 0;
    model.script = byScript;
  });
  afterAll(() => Promise.all([model.stop(), (gone ??= vital.stop())]));

  const run = async (id: string, content: string, more: Record<string, unknown> = {}) => {
    const task = await createTask(ann.client, { content, model: id, ...more });
    return finishedLater(ann.client, task.id);
  };
  const reasonOf = async (...given: Parameters<typeof run>) => (await run(...given)).statusReason;
  const failed = { code: 'engine_failed', retryable: true };

  it.each(['hang', 'exit', 'long-line', 'slow-start', 'absent', 'unprepared'])(
    'is failed when the program does this: %s',
    async (id) => {
      const reason = await reasonOf(id, script({ text: 'Never.' }));
      expect(reason).toMatchObject(failed);
      expect(reason?.message).not.toMatch(/luck|none\.mjs|not today/);
    },
  );

  it('goes well with a program that writes garbage between its messages', async () => {
    expect(await run('garbage', script({ text: 'All the same.' }))).toMatchObject({
      result: { text: 'All the same.' },
    });
  });

  it('with a program that floods can be cancelled', async () => {
    const { id } = await createTask(ann.client, { content: 'Flood.', model: 'flood' });
    expect((await ann.client.post(`/v1/tasks/${id}/cancel`)).status).toBe(200);
    expect((await finishedLater(ann.client, id)).status).toBe('cancelled');
  });

  it('ends with its budget, before the model is called once more', async () => {
    const calls = { calls: [shell('true')], usage: { input: 100, output: 10 } };
    const steps = await run('program', script(calls, calls, calls), { budget: { maxSteps: 2 } });
    expect(steps).toMatchObject({ statusReason: { code: 'budget_exceeded' }, usage: { steps: 2 } });
    expect(model.requests).toHaveLength(2);
    expect(await readResults(ann.client, steps.id)).toHaveLength(2);
    const time = await run('program', script({ calls: [shell('sleep 600')] }), { budget: { maxDurationSeconds: 10 } });
    expect(time.statusReason).toMatchObject({ code: 'budget_exceeded' });
    expect(await readResults(ann.client, time.id)).toMatchObject([{ status: 'error' }]);
  });

  it('is tried again while its provider fails, and fails as in the loop', async () => {
    const twice = await run(
      'program',
      script({ status: 503 }, { breakOff: true, text: 'Half an answer' }, { text: 'Whole.' }),
    );
    expect(twice).toMatchObject({ status: 'completed', result: { text: 'Whole.' } });
    expect(model.requests).toHaveLength(3);
    model.script = () => ({ status: 401 });
    expect(await reasonOf('refused', 'Try.')).toMatchObject({ code: 'model_credentials' });
  });

  it('ends at the output limit with the code of the program', async () => {
    const reason = await reasonOf('program', script({ text: 'And so', finish: 'length' }));
    expect(reason).toMatchObject({ code: 'max_tokens' });
  });

  it('goes in no circles', async () => {
    model.script = () => ({ calls: [shell('echo again')] });
    expect(await reasonOf('program', 'Again.')).toMatchObject({ code: 'no_progress' });
    expect(model.requests).toHaveLength(8);
  });

  it('ends with a call at its door of a server that is gone and that the task cannot do without, as in the loop', async () => {
    model.script = async (request) => {
      await (gone ??= vital.stop());
      return byScript(request);
    };
    const asks = { name: 'mcp__millwright__mcp__vital__get_page', arguments: {} };
    const steps = script({ calls: [asks, shell('echo later')] }, { text: 'Without it.' });
    const { id, ...task } = await run('tools', steps, { mcpServers: ['vital'] });
    expect(task).toMatchObject({ status: 'failed', statusReason: { code: 'mcp_unavailable', retryable: true } });
    const [asked, later] = await readResults(ann.client, id);
    expect(asked?.error).toMatch(/^Nothing was sent: vital, /);
    expect(later).toMatchObject({ status: 'error' });
    expect(model.requests).toHaveLength(1);
  });

  it('has no tools that are hidden', async () => {
    await run('hiding', script({ text: 'Yes.' }));
    expect(model.requests[0]?.tools).toEqual(['shell']);
  });

  it('has no tool that its provider would run, but for those that the operator names', async () => {
    await run('searching', script({ text: 'No.' }));
    await run('found', script({ text: 'Yes.' }));
    const types = model.requests.map(({ body }) => (body['tools'] as { type: string }[]).map(({ type }) => type));
    expect(types).toEqual([
      ['function', 'function'],
      ['function', 'function', 'web_search'],
    ]);
    expect(model.requests[0]?.body['store']).toBe(false);
  });

  it('begins anew, with what was said so far, when the session is gone', async () => {
    const first = await run(
      'forgetful',
      `My colour is teal. ${script({ calls: [shell('echo sea')] }, { text: 'One.' })}`,
    );
    await ann.client.post(`/v1/tasks/${first.id}/messages`, { content: 'And now?' });
    expect((await finishedLater(ann.client, first.id)).status).toBe('completed');
    const told = model.requests.at(-1)?.messages.find(({ role }) => role === 'user')?.text ?? '';
    expect(told).toContain('My colour is teal.');
    expect(told).toContain('sea');
    expect(told).toMatch(/And now\?$/);
    const messages = await readMessages(ann.client, first.id);
    const parts = messages.flatMap(({ parts: all }) => all.filter(({ type }) => type === 'custom'));
    expect(parts).toMatchObject([{ kind: 'engine_restarted', data: { engine: 'forgetful' } }]);
  });

  it('is followed by one of the loop, and the other way round, when the model of the task is another', async () => {
    const first = await run('program', `Remember teal. ${script({ text: 'One.' })}`);
    const change = async (id: string, content: string) => {
      expect((await ann.client.patch(`/v1/tasks/${first.id}`, { model: id })).status).toBe(200);
      await ann.client.post(`/v1/tasks/${first.id}/messages`, { content });
      return finishedLater(ann.client, first.id);
    };
    expect((await change('scripted', script({ text: 'Two.' }))).result?.text).toBe('Two.');
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('Remember teal.');
    expect((await change('program', script({ text: 'Three.' }))).result?.text).toBe('Three.');
    expect(texts(await readMessages(ann.client, first.id))).toEqual(['One.', 'Two.', 'Three.']);
  });

  it('fits its outputSchema, after one further prompt at most', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const mended = await run('program', 'A number.', { outputSchema }).catch(() => null);
    expect(mended?.statusReason).toMatchObject({ code: 'output_invalid' });
    expect(model.requests).toHaveLength(2);
    let count = 0;
    model.script = () => ({ text: count++ === 0 ? 'Seven.' : '{"n": 7}' });
    const task = await run('program', 'A number.', { outputSchema });
    expect(task).toMatchObject({ status: 'completed', result: { output: { n: 7 } } });
  });
});
