import { useService } from '../harness/app.js';
import { answerApproval, approvalOf } from '../harness/approvals.js';
import { makeMember, type Member } from '../harness/client.js';
import { McpHttpServer } from '../harness/mcp/http-server.js';
import { bootWithServers, programOf } from '../harness/mcp/worker.js';
import { byMarkers, ModelServer } from '../harness/model-server.js';
import { call, createTask, finished, finishedLater, readResults, script } from '../harness/tasks.js';

const program = (...args: string[]) => programOf('program.mjs', ...args);
const SENT = 'This call had been sent and may have been carried out. It was not sent again: find out before you go on.';

describe('Tools of MCP servers (reference §28)', () => {
  let model: ModelServer;
  let remote: McpHttpServer;
  let ann: Member;
  const service = useService(async () => {
    model = await ModelServer.start(byMarkers);
    const schema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    remote = await McpHttpServer.start([
      { name: 'get_page', description: 'Reads.', inputSchema: schema },
      { name: 'create', inputSchema: { type: 'object' } },
      { name: 'wrong', inputSchema: { type: 'object', 'x-mcp-header': 'No' } },
    ]);
    const servers = {
      docs: {
        ...program('noise'),
        env: { LOG: 'error' },
        readOnly: ['get_*', 'echo'],
        description: 'Our handbook',
      },
      odd: program('odd'),
      exits: program('exits'),
      many: program('many'),
      silent: program('silent'),
      line: program('line'),
      flood: { ...program('flood'), readOnly: ['*'] },
      absent: { command: 'no-such-program' },
      needed: { command: 'no-such-program', required: true },
      remote: {
        url: remote.url,
        headers: { Authorization: 'Bearer of-the-operator' },
        readOnly: ['get_*'],
        timeoutSeconds: 2,
      },
    };
    return bootWithServers(model, servers, {
      models: [
        { id: 'scripted', provider: 'openai-compatible', input: ['text', 'image'] },
        { id: 'runbook', provider: 'runbook' },
      ],
    });
  });
  beforeAll(async () => {
    ann = await makeMember(service);
  });
  afterAll(async () => {
    await Promise.all([model.stop(), remote.stop()]);
  });

  const make = (mcpServers: string[], ...steps: Parameters<typeof script>) =>
    createTask(ann.client, { content: script(...steps), model: 'scripted', mcpServers });
  const done = async (mcpServers: string[], ...steps: Parameters<typeof script>) => {
    // A server that never answers is waited for.
    const task = await finishedLater(ann.client, (await make(mcpServers, ...steps)).id);
    return { task, results: await readResults(ann.client, task.id) };
  };
  /** The names of the tools that the model was last offered. */
  const offered = () => (model.requests.at(-1)?.body.tools ?? []).map((tool) => tool.function.name);

  it('run in the sandbox of the task, as its agent, with their own environment and behind the built-in tools', async () => {
    const { task, results } = await done(
      ['docs'],
      call('mcp__docs__get_env', {}),
      call('mcp__docs__echo', { message: 'x', other: null }),
    );
    expect(task.status).toBe('completed');
    const [env, echo] = results.map(({ output }) => (output as { text: string }).text);
    expect(JSON.parse(env ?? '')).toMatchObject({ cwd: '/workdir', args: ['noise'], log: 'error' });
    expect(JSON.parse(env ?? '')).not.toHaveProperty('secret');
    expect(echo).toBe('echo {"message":"x","other":null}');
    const names = offered();
    const first = names.findIndex((name) => name.startsWith('mcp__'));
    expect(names.slice(first)).toEqual([...names.slice(first)].sort());
    expect(names.slice(0, first).every((name) => !name.startsWith('mcp__'))).toBe(true);
    expect(names).toContain('mcp__docs__odd_name_with_signs');
    expect(JSON.stringify(model.requests.at(-1))).toContain('- docs: Our handbook');
    expect(task.usage['toolCalls']).toBe(2);
  });

  it('come to results: data, errors, pictures, files and links', async () => {
    const { results } = await done(
      ['docs'],
      call('mcp__docs__fail', {}),
      call('mcp__docs__numbers', {}),
      call('mcp__docs__sound', {}),
      call('mcp__docs__link', {}),
      call('mcp__docs__ask_person', {}),
      call('mcp__docs__progress', {}),
      call('mcp__docs__picture', {}),
    );
    expect(results[0]).toMatchObject({ status: 'error', error: 'it went wrong' });
    expect(results[1]).toMatchObject({ status: 'success', output: { text: '', structured: { count: 3 } } });
    expect(results[2]).toMatchObject({
      output: { text: expect.stringMatching(/\/tmp\/mcp\/.+\/1\.wav, audio\/wav, 3 bytes/) },
    });
    expect(results[3]?.output).toMatchObject({ text: '[A page](https://docs.example/a)' });
    expect(results[4]?.error).toContain('The server asked for elicitation/create, which it is not given.');
    expect(results[5]?.output).toMatchObject({ text: 'done' });
    expect(results[6]?.output).toMatchObject({ text: expect.stringContaining('You are shown it') });
  });

  it('are read leniently: what is odd is left out alone', async () => {
    const { task, results } = await done(['odd', 'exits'], call('mcp__odd__nulls', {}), call('mcp__exits__echo', {}));
    expect(task.status).toBe('completed');
    expect(results.map(({ status }) => status)).toEqual(['success', 'success']);
    expect(offered()).not.toContain('mcp__odd__no_schema');
    expect(offered()).not.toContain('mcp__odd__null_schema');
  });

  it('stand behind mcp_search and mcp_call when they would fill the window', async () => {
    const { results } = await done(
      ['many'],
      call('mcp_search', { query: 'tool_33' }),
      call('mcp_call', { tool: 'mcp__many__tool_33', arguments: {} }),
    );
    expect(offered().filter((name) => name.startsWith('mcp_'))).toEqual(['mcp_call', 'mcp_search']);
    expect(JSON.stringify(results[0]?.output)).toContain('mcp__many__tool_33');
    expect(results[1]?.output).toMatchObject({ text: 'called tool_33' });
  });

  it('called by mcp_call are asked about and remembered as the tool that is called', async () => {
    const content = script(
      call('mcp_call', { tool: 'many__tool_33', arguments: {} }),
      call('mcp_call', { tool: 'many__tool_33', arguments: {} }),
      call('mcp_call', { tool: 'mcp__many__tool_34', arguments: {} }),
    );
    const given = { content, model: 'scripted', mcpServers: ['many'], approvals: 'writes' };
    const { id } = await createTask(ann.client, given);
    const first = await approvalOf(ann.client, id);
    expect(first.question).toContain('May the agent use the tool tool_33 of the server many?');
    await answerApproval(ann.client, id, first, { decision: 'approve', remember: 'task' });
    const second = await approvalOf(ann.client, id, first);
    expect(second.question).toContain('May the agent use the tool tool_34 of the server many?');
    await answerApproval(ann.client, id, second, { decision: 'approve' });
    expect((await finished(ann.client, id)).status).toBe('completed');
  });

  it('of a program that ends are errors, and it is started once more', async () => {
    const { results } = await done(
      ['docs'],
      call('mcp__docs__die', {}),
      call('mcp__docs__echo', {}),
      call('mcp__docs__die', {}),
      call('mcp__docs__echo', {}),
    );
    expect(results.map(({ status }) => status)).toEqual(['error', 'success', 'error', 'error']);
    expect(results[0]?.error).toBe(SENT);
    expect(results[3]?.error).toContain(
      'it has ended 2 times in this run, the last time so: It ended with exit code 3.',
    );
  });

  it('of a server that cannot be reached are not there, and the first message says why', async () => {
    const { task } = await done(['absent', 'line', 'docs'], call('mcp__docs__echo', {}));
    expect(task.status).toBe('completed');
    const sent = JSON.stringify(model.requests.at(-1));
    expect(sent).toContain(
      '- absent cannot be used: it cannot be reached (It ended with exit code 127.). Its tools are not there.',
    );
    // A busy machine may not get through so long a line in the time to connect.
    expect(sent).toMatch(/It wrote a line of more than 16 MiB, and was ended\.|nothing came within 10 s/);
    const { body } = await ann.client.get<{ mcpServers: { name: string; status: string; revision: string | null }[] }>(
      '/v1/mcp-servers',
    );
    const states = Object.fromEntries(body.mcpServers.map(({ name, status }) => [name, status]));
    expect(states).toMatchObject({ absent: 'unavailable', docs: 'ready', line: 'unavailable', needed: 'unknown' });
    expect(body.mcpServers.find(({ name }) => name === 'docs')?.revision).toBe('2025-06-18');
  });

  it('that a task cannot do without fail its turn', async () => {
    const { task } = await done(['needed'], call('todo', {}));
    expect(task).toMatchObject({ status: 'failed', statusReason: { code: 'mcp_unavailable', retryable: true } });
  });

  it('are bounded in time, and a server that never answers or floods holds nobody up', async () => {
    const { task } = await done(['silent', 'flood'], call('mcp__flood__echo', {}));
    expect(task.status).toBe('completed');
    expect(JSON.stringify(model.requests.at(-1))).toContain('- silent cannot be used');
  });

  it('of a url wait for a person before each call that is not readOnly, in every task', async () => {
    const task = await make(
      ['remote'],
      call('mcp__remote__get_page', { region: 'Köln' }),
      call('mcp__remote__create', { title: 'A' }),
      call('mcp__remote__create', { title: 'B' }),
    );
    const asked = await approvalOf(ann.client, task.id);
    expect(asked.question).toContain('May the agent use the tool create of the server remote?');
    expect(asked.question).toContain('"title": "A"');
    expect(remote.calls.map(({ name }) => name)).toEqual(['get_page']);
    expect(remote.calls[0]?.headers).toMatchObject({
      authorization: 'Bearer of-the-operator',
      'mcp-param-region': `=?base64?${Buffer.from('Köln').toString('base64')}?=`,
    });
    await answerApproval(ann.client, task.id, asked, { decision: 'approve', remember: 'task' });
    expect((await finished(ann.client, task.id)).status).toBe('completed');
    expect(remote.calls.map(({ name }) => name)).toEqual(['get_page', 'create', 'create']);
    expect(JSON.stringify(model.requests)).not.toContain('of-the-operator');
    expect(offered()).not.toContain('mcp__remote__wrong');
  });

  it('of a url are never sent twice, and redirects are refused', async () => {
    remote.answer = (name) =>
      name === 'get_page' ? { status: 307, headers: { location: 'http://127.0.0.1:1/' } } : { hang: true };
    const before = remote.calls.length;
    const task = await make(['remote'], call('mcp__remote__get_page', {}), call('mcp__remote__create', {}));
    await answerApproval(ann.client, task.id, await approvalOf(ann.client, task.id), { decision: 'approve' });
    await finished(ann.client, task.id);
    remote.answer = null;
    const results = await readResults(ann.client, task.id);
    expect(results.map(({ status }) => status)).toEqual(['error', 'error']);
    expect(results[1]?.error).toBe(SENT);
    expect(remote.calls.length - before).toBe(2);
  });

  it('are steps of a runbook', async () => {
    const content = '```tool name=mcp__docs__echo\n{"message": "hello"}\n```';
    const task = await createTask(ann.client, { content, model: 'runbook', mcpServers: ['docs'] });
    expect((await finished(ann.client, task.id)).result?.text).toContain('echo {"message":"hello"}');
  });
});
