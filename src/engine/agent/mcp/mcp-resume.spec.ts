import { AgentBench, assistant, call, user } from '../../../../test/harness/agent.js';
import { McpHttpServer } from '../../../../test/harness/mcp/http-server.js';
import { address, inputMcp, offeredTool } from '../../../../test/harness/mcp/servers.js';
import type { McpServerConfig } from '../../../platform/config/mcp-servers.js';
import type { ToolInvocation } from '../../models/conversation.js';
import type { McpOffer } from './input-mcp.js';

const SENT = 'This call had been sent and may have been carried out. It was not sent again: find out before you go on.';
const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });

describe('Calls of servers that a worker left begun (reference §28)', () => {
  let remote: McpHttpServer;
  let bench: AgentBench;
  beforeAll(async () => {
    remote = await McpHttpServer.start([tool('get_page'), tool('create')]);
    bench = await AgentBench.start(() => ({ text: 'Done.' }));
  });
  afterAll(async () => {
    await Promise.all([remote.stop(), bench.close()]);
  });

  interface Left {
    name: string;
    /** As the model called it. */
    as?: string;
    stage?: ToolInvocation['stage'];
    approval?: 'task' | 'always';
    /** Of the task now. */
    servers?: Record<string, McpServerConfig | null>;
    /** That decided what is offered. */
    model?: string;
  }

  /** The result of a call that was open when the run began, and how often the server was called. */
  async function resumed({ name, as = `mcp__docs__${name}`, stage = null, approval = 'task', servers, model }: Left) {
    const all = servers ?? { docs: address(remote.url, { approval }) };
    const tools = [offeredTool(name)];
    const offer: McpOffer = { model: model ?? bench.modelId, servers: ['docs'], form: 'tools', tools };
    const input = as === 'mcp_call' ? { tool: `mcp__docs__${name}`, arguments: {} } : {};
    const messages = [user('x'), assistant('', call('c1', as, input, null, stage))];
    const before = remote.calls.length;
    const { events, outcome } = await bench.run(bench.input(messages, { mcp: inputMcp(all, offer) }));
    const found = events.find((event) => event.type === 'tool');
    const result = found?.type === 'tool' ? found.result : null;
    return { result, outcome, calls: remote.calls.length - before };
  }

  it('are sent again when they only read', async () => {
    const { result, calls } = await resumed({ name: 'get_page', approval: 'always' });
    expect(result).toMatchObject({ status: 'success', output: { text: 'called get_page' } });
    expect(calls).toBe(1);
  });

  it.each([
    ['task', null],
    ['always', 'begun'],
  ] as const)('are never sent again otherwise, with approval %s', async (approval, stage) => {
    const { result, calls } = await resumed({ name: 'create', approval, stage });
    expect(result).toEqual({ status: 'error', error: SENT });
    expect(calls).toBe(0);
  });

  const SENT_ONCE = { result: { status: 'error', error: SENT }, calls: 0 };

  it.each([
    ['the task has no servers any more but another', { servers: { others: null } }],
    ['another model is offered others', { model: 'another' }],
    ['its tool is called through mcp_call, which is not there any more', { as: 'mcp_call' }],
    ['its server is called with other letters', { as: 'MCP__DOCS__create' }],
    ['the operator has it no more', { servers: { docs: null } }],
    ['calls of the server wait for a person by now', { approval: 'always' as const }],
  ])('are told as sent also when %s', async (_, left) => {
    expect(await resumed({ name: 'create', ...left })).toMatchObject(SENT_ONCE);
  });

  it('that a person has approved are on record as begun before they are sent, whatever the approvals are by then', async () => {
    const messages = [user('x'), assistant('', call('c1', 'mcp__docs__create', {}, null, 'approved'))];
    const offer: McpOffer = {
      ...{ model: bench.modelId, servers: ['docs'], form: 'tools' },
      tools: [offeredTool('create')],
    };
    const mcp = inputMcp({ docs: address(remote.url) }, offer);
    const before = remote.calls.length;
    const sentBefore: number[] = [];
    await bench.run(bench.input(messages, { mcp }), (event) => {
      if (event.type === 'begin') sentBefore.push(remote.calls.length - before);
      return [];
    });
    expect(sentBefore).toEqual([0]);
    expect(remote.calls.length - before).toBe(1);
  });
});
