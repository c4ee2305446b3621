// What holds for a program in the sandbox of a task, beside what it says.
import { NetworkProxy } from '../../src/engine/sandbox/network/network-proxy.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { bootWithServers, programOf, PROGRAMS } from '../harness/mcp/worker.js';
import { byMarkers, ModelServer } from '../harness/model-server.js';
import { call, createTask, finishedLater, readResults, script } from '../harness/tasks.js';
import { resolverOf, WebHosts } from '../harness/web-hosts.js';

const MIB = 1024 ** 2;

describe('Programs of MCP servers (reference §28)', () => {
  let hosts: WebHosts;
  let model: ModelServer;
  let ann: Member;
  const service = useService(async () => {
    hosts = await WebHosts.start();
    model = await ModelServer.start(byMarkers);
    const program = { ...programOf('program.mjs', 'plain'), readOnly: ['*'] };
    const servers = {
      plain: program,
      small: { ...program, memoryBytes: 400 * MIB },
      large: { ...program, memoryBytes: 1536 * MIB },
      open: { ...program, network: true },
    };
    return bootWithServers(model, servers, {
      sandbox: {
        programs: [PROGRAMS],
        network: 'allow',
        allowHosts: [`allowed.test:${hosts.http}`],
        wallClockSeconds: 8,
      },
    });
  });
  beforeAll(async () => {
    const { resolver } = resolverOf({ 'allowed.test': ['127.0.0.1'] });
    service.app.get(NetworkProxy, { strict: false }).egress = new Egress(['127.0.0.0/8'], resolver);
    ann = await makeMember(service);
  });
  afterAll(async () => {
    await Promise.all([model.stop(), hosts.stop()]);
  });

  const results = async (mcpServers: string[], ...steps: Parameters<typeof script>) => {
    const { id } = await createTask(ann.client, { content: script(...steps), model: 'scripted', mcpServers });
    expect((await finishedLater(ann.client, id)).status).toBe('completed');
    return readResults(ann.client, id);
  };
  const textOf = ({ output }: { output?: unknown }) => (output as { text: string }).text;

  it('have neither the wall clock nor the total of output of a command', async () => {
    const large = call('mcp__plain__large', { bytes: 6 * MIB });
    const slow = call('mcp__plain__slow', { ms: 10_000 });
    const [first, ...others] = await results(['plain'], slow, large, large, call('bash', { command: 'sleep 30' }));
    expect(textOf(first ?? {})).toBe('slow, and done');
    // Twice six MiB: a command has ten in all.
    expect(others.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
    expect(others[2]?.output).toMatchObject({ exitCode: 124 });
  });

  it('have a memory of their own', async () => {
    const grow = (server: string) => call(`mcp__${server}__grow`, { bytes: 600 * MIB });
    const [small, large] = await results(['small', 'large'], grow('small'), grow('large'));
    expect([small?.status, large?.status]).toEqual(['error', 'success']);
  });

  it('have no network, or that of commands where the operator says so', async () => {
    const url = `http://allowed.test:${hosts.http}/`;
    const curl = (server: string) => call(`mcp__${server}__curl`, { url });
    const [plain, open] = await results(['plain', 'open'], curl('plain'), curl('open'));
    expect(textOf(plain ?? {})).toMatch(/curl: \(\d+\)/);
    expect(textOf(open ?? {})).not.toContain('curl:');
    expect(hosts.requests).toHaveLength(1);
  });

  it('are listed as they were last seen', async () => {
    const { body } = await ann.client.get<{ mcpServers: object[] }>('/v1/mcp-servers');
    expect(body.mcpServers.find((one) => 'name' in one && one.name === 'plain')).toMatchObject({
      ...{ kind: 'program', status: 'ready', revision: '2025-06-18', checkedAt: expect.stringMatching(/Z$/) as string },
      tools: expect.arrayContaining([{ name: 'echo', description: 'It is echo.', readOnly: true }]) as object[],
    });
  });
});
