import { AgentBench, assistant, call, user } from '../../../../test/harness/agent.js';
import { McpHttpServer } from '../../../../test/harness/mcp/http-server.js';
import { address, inputMcp, offeredTool, program } from '../../../../test/harness/mcp/servers.js';
import { steps } from '../../../../test/harness/model-server.js';
import { until } from '../../../../test/harness/until.js';
import type { McpServerConfig } from '../../../platform/config/mcp-servers.js';
import type { AgentEvent, AgentInput } from '../agent-engine.js';

const SENT = 'This call had been sent and may have been carried out. It was not sent again: find out before you go on.';

describe('Calls of tools of servers (reference §28)', () => {
  let remote: McpHttpServer;
  let bench: AgentBench;
  beforeEach(async () => {
    remote = await McpHttpServer.start([{ name: 'get_page', inputSchema: { type: 'object' } }]);
    bench = await AgentBench.start(steps({ text: 'Done.' }));
  });
  afterEach(() => Promise.all([remote.stop(), bench.close()]));

  /** The calls are those of a step that stands already. */
  function input(server: McpServerConfig, names: string[], more: Partial<AgentInput> = {}) {
    const calls = names.map((name, at) => call(`c${at}`, `mcp__docs__${name}`, {}));
    const tools = [...new Set(names)].map((name) => offeredTool(name));
    const mcp = inputMcp({ docs: server }, { model: bench.modelId, servers: ['docs'], form: 'tools', tools });
    return bench.input([user('x'), assistant('', ...calls)], { mcp, untouched: true, ...more });
  }
  const results = (events: AgentEvent[]) => events.flatMap((event) => (event.type === 'tool' ? [event.result] : []));

  it('run beside each other when they only read, at most eight at once', async () => {
    remote.answer = () => ({ hang: true });
    const stop = new AbortController();
    const names = Array.from({ length: 12 }, () => 'get_page');
    const running = bench.run(input(address(remote.url), names, { signal: stop.signal }));
    const stopped = expect(running).rejects.toThrow();
    await until('eight calls', () => remote.open === 8);
    // The stop closes their streams.
    stop.abort();
    await stopped;
    await until('all of them to be closed', () => remote.open === 0);
    expect([remote.most, remote.calls.length]).toEqual([8, 8]);
  });

  it('run one after another when they do not', async () => {
    const { events } = await bench.run(input(address(remote.url), ['create', 'create', 'create']));
    expect(results(events).map(({ status }) => status)).toEqual(['success', 'success', 'success']);
    expect(remote.most).toBe(1);
  });

  it('end with their time, and a program is told that they are cancelled', async () => {
    const server = program(['plain'], { timeoutSeconds: 1 });
    const { events } = await bench.run(input(server, ['wait', 'get_cancelled']));
    expect(results(events)).toMatchObject([{ status: 'error', error: SENT }, { output: { text: '1' } }]);
  });

  it('end with the time of the turn', async () => {
    remote.answer = () => ({ hang: true });
    const began = performance.now();
    const server = address(remote.url, { timeoutSeconds: 600 });
    const { events } = await bench.run(input(server, ['create'], { budget: { maxDurationSeconds: 2 } }));
    expect(results(events)).toEqual([{ status: 'error', error: SENT }]);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('go on by a url in a workspace that can store no more, and not by a program', async () => {
    const full = { storageExhausted: 'The workspace is full' };
    const one = await bench.run(input(address(remote.url), ['create'], full));
    expect(results(one.events)).toMatchObject([{ status: 'success' }]);
    const other = await bench.run(input(program(['plain']), ['add_line'], full));
    expect(other.outcome).toMatchObject({ type: 'failed', code: 'storage_exhausted' });
  });

  it('say why a server cannot be reached, and end the turn where it is required', async () => {
    await remote.stop();
    const error = 'The server docs cannot be used: it cannot be reached (ECONNREFUSED). Nothing was sent.';
    const { events } = await bench.run(input(address(remote.url), ['create']));
    expect(results(events)).toMatchObject([{ status: 'error', error }]);
    const { outcome } = await bench.run(input(address(remote.url, { required: true }), ['create']));
    expect(outcome).toMatchObject({ type: 'failed', code: 'mcp_unavailable', retryable: true });
    remote = await McpHttpServer.start([]);
  });

  it('follow no redirect', async () => {
    const target = await McpHttpServer.start([]);
    remote.answer = () => ({ status: 307, headers: { location: target.url } });
    const { events } = await bench.run(input(address(remote.url), ['get_page']));
    expect(results(events)).toMatchObject([{ status: 'error' }]);
    expect([remote.calls.length, target.calls.length]).toEqual([1, 0]);
    await target.stop();
  });

  it('have no result of more than 16 MiB', async () => {
    const text = 'x'.repeat(16 * 1024 ** 2);
    remote.answer = () => ({ result: { resultType: 'complete', content: [{ type: 'text', text }] } });
    const { events } = await bench.run(input(address(remote.url), ['get_page']));
    expect(results(events)).toMatchObject([
      { status: 'error', error: 'The server docs answered with more than 16 MiB.' },
    ]);
  });
});
