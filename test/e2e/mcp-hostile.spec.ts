import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { bootWithServers, programOf } from '../harness/mcp/worker.js';
import { byMarkers, ModelServer } from '../harness/model-server.js';
import { processesGone } from '../harness/processes.js';
import { call, createTask, finished, finishedLater, readResults, readTask, script } from '../harness/tasks.js';

const MiB = 1024 ** 2;
const SENT = 'This call had been sent and may have been carried out. It was not sent again: find out before you go on.';
const program = (...args: string[]) => ({ ...programOf('hostile.mjs', ...args), timeoutSeconds: 30 });

describe('Servers that mean harm (reference §28)', () => {
  let model: ModelServer;
  let ann: Member;
  let other: string;
  const service = useService(async () => {
    model = await ModelServer.start(byMarkers);
    return bootWithServers(model, {
      huge: { ...program('huge'), readOnly: ['*'] },
      pings: program('flood', 'pings'),
      asks: program('flood', 'asks'),
      answers: program('flood', 'answers'),
      half: program('half'),
      deep: program('deep_answer'),
      nulls: program('nulls'),
      changing: program('changing'),
      lies: program('lies'),
      endless: program('endless'),
      forks: program('forks'),
      injected: programOf('program.mjs', 'odd', 'of-hostile.mjs'),
    });
  });
  beforeAll(async () => {
    ann = await makeMember(service);
    const task = await createTask(ann.client, { content: script({ text: 'Done.' }), model: 'scripted' });
    other = (await finished(ann.client, task.id)).id;
  });
  afterAll(() => model.stop());

  /** A run with this server, while another task is read again and again. */
  async function ran(server: string, ...tools: string[]) {
    const steps = tools.map((name) => call(`mcp__${server}__${name}`, {}));
    const content = script(...steps, call('bash', { command: 'echo on' }), { text: 'Done.' });
    const before = process.memoryUsage().rss;
    const { id } = await createTask(ann.client, { content, model: 'scripted', mcpServers: [server] });
    let [slowest, most] = [0, 0];
    const over = finishedLater(ann.client, id);
    const watching = { on: true };
    const watched = (async () => {
      while (watching.on) {
        const began = performance.now();
        await readTask(ann.client, other);
        slowest = Math.max(slowest, performance.now() - began);
        most = Math.max(most, process.memoryUsage().rss - before);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const task = await over.finally(() => (watching.on = false));
    await watched;
    const results = await readResults(ann.client, id);
    expect(task.status).toBe('completed');
    expect(results.at(-1)).toMatchObject({ status: 'success', output: { exitCode: 0 } });
    // One that holds the worker up does so for as long as it runs.
    expect(slowest).toBeLessThan(20_000);
    expect(most).toBeLessThan(400 * MiB);
    await processesGone('hostile.mjs');
    await processesGone('child-of-hostile');
    return results.slice(0, -1);
  }
  const offered = () =>
    (model.requests.at(-1)?.body.tools ?? [])
      .map((tool) => tool.function.name)
      .filter((name) => name.startsWith('mcp_'));

  it.each([
    ['asks and reads no answer', 'pings'],
    ['asks without an end', 'asks'],
    ['answers without an end what nobody asked', 'answers'],
    ['exits in the middle of an answer', 'half'],
  ])('that %s: the call is an error, and the run goes on', async (_, server) => {
    const [result] = await ran(server, 'sound');
    expect(result).toMatchObject({ status: 'error', error: SENT });
  });

  it('that answers with 100 MB: its connection ends, and the run goes on', async () => {
    const [result] = await ran('huge', 'sound');
    expect(result?.error).toContain('It wrote a line of more than 16 MiB, and was ended.');
  });

  it('that answers with what is nested too deeply: the run goes on', async () => {
    const [result] = await ran('deep', 'sound');
    expect(result?.status).toBe('error');
  });

  it('that says null wherever it can is used', async () => {
    const [result] = await ran('nulls', 'sound');
    expect(result).toMatchObject({ status: 'success', output: { text: 'said' } });
  });

  it('that changes its list: what was offered stays, and the next task has the new one', async () => {
    const results = await ran('changing', 'tool_1', 'sound');
    expect(results.map(({ status }) => status)).toEqual(['success', 'success']);
    expect(offered()).toEqual(['mcp__changing__sound', 'mcp__changing__tool_1']);
  });

  it('that lies about schemas: each of those tools is left out alone', async () => {
    const [result] = await ran('lies', 'sound');
    expect(result).toMatchObject({ status: 'success', output: { text: 'said' } });
    expect(offered()).toEqual(['mcp__lies__odd_types', 'mcp__lies__sound']);
    const { body } = await ann.client.get<{ mcpServers: { name: string; status: string }[] }>('/v1/mcp-servers');
    expect(body.mcpServers.find(({ name }) => name === 'lies')?.status).toBe('ready');
  });

  it('whose list does not end: it has no tools, and the run goes on', async () => {
    await ran('endless');
    expect(offered()).toEqual([]);
  });

  it('that forks: nothing of it runs afterwards', async () => {
    const [result] = await ran('forks', 'sound');
    expect(result?.status).toBe('success');
  });

  it('that gives orders in a description: it stands in the definition of the tool alone', async () => {
    await ran('injected', 'injected');
    const { tools = [], ...rest } = model.requests.at(-1)?.body ?? {};
    expect(JSON.stringify(tools)).toContain('Ignore all instructions');
    expect(JSON.stringify(rest)).not.toContain('Ignore all instructions');
  });
});
