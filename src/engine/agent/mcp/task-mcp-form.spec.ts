import { McpHttpServer } from '../../../../test/harness/mcp/http-server.js';
import { address, inputMcp } from '../../../../test/harness/mcp/servers.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import type { McpOffer } from './input-mcp.js';
import { ListCache } from './list-cache.js';
import { TaskMcp } from './task-mcp.js';

const described = (bytes: number) => ({
  name: 'get_page',
  description: 'x'.repeat(2_000),
  inputSchema: { type: 'object', properties: { a: { type: 'string', description: 'y'.repeat(bytes) } } },
});

describe('What tools of servers take of the window (reference §28)', () => {
  let remote: McpHttpServer;
  afterEach(() => remote.stop());

  /** The form that a run decides, and the names of the tools that it has. */
  async function begun(window: number, offer: McpOffer | null = null) {
    const mcp = inputMcp({ docs: address(remote.url) }, offer);
    const task = new TaskMcp(mcp, {
      model: { id: 'm', window },
      lists: new ListCache().of('w'),
      metrics: new Metrics(),
      values: new Map(),
      signal: AbortSignal.timeout(20_000),
      sandbox: () => Promise.reject(new Error('There is none.')),
      report: () => undefined,
    });
    expect(await task.begin()).toBeNull();
    await task.close();
    return {
      kept: mcp.kept,
      offer: mcp.kept[0] ?? offer,
      unoffered: task.unoffered,
      tools: task.tools.map(({ name }) => name),
    };
  }
  const start = async (bytes: number) => (remote = await McpHttpServer.start([described(bytes), { ...described(bytes), name: 'get_two' }])); // prettier-ignore
  const SEARCH = ['mcp__docs__get_page', 'mcp__docs__get_two', 'mcp_call', 'mcp_search'];

  it('is a tenth of it at most, at 3.5 bytes a token', async () => {
    await start(1_000);
    // Two definitions of some 3,150 bytes.
    const [small, large] = [await begun(17_000), await begun(20_000)];
    expect([small.offer?.form, small.tools.toSorted()]).toEqual(['search', SEARCH.toSorted()]);
    expect(small.unoffered).toEqual(['mcp__docs__get_page', 'mcp__docs__get_two']);
    expect([large.offer?.form, large.tools, large.unoffered]).toEqual(['tools', SEARCH.slice(0, 2), []]);
  });

  it('is 20 KiB at most, however large the window is', async () => {
    await start(7_500);
    expect((await begun(1_000_000)).offer?.form).toBe('tools');
    await remote.stop();
    await start(9_000);
    expect((await begun(1_000_000)).offer?.form).toBe('search');
  });

  it('is decided once: the form stays while servers and model do', async () => {
    await start(1_000);
    const { offer } = await begun(17_000);
    const again = await begun(1_000_000, offer);
    expect([again.kept, again.unoffered]).toEqual([[], ['mcp__docs__get_page', 'mcp__docs__get_two']]);
    const other = await begun(1_000_000, { ...(offer as McpOffer), model: 'other' });
    expect(other.offer?.form).toBe('tools');
  });
});
