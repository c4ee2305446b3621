// What the operator sees of POST /mcp: lines of the log, and figures.
import { useService } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { McpClient } from '../harness/mcp.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { createTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface Line {
  context?: string;
  route: string | null;
  tool?: string;
  status: number | string;
  requestId: string;
  workspaceId?: string;
}

describe('What is told of POST /mcp (reference §29, §16)', () => {
  const folder = temporaryFolder();
  const service = useService();
  let running: ServiceProcess;
  let member: Member;
  let taskId: string;
  let mcp: McpClient;
  beforeAll(async () => {
    running = await ServiceProcess.start({
      DATABASE_URL: service.db.url,
      DATA_DIR: folder.path,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      ROLE: 'api',
      LOG_LEVEL: 'info',
    });
    member = await makeMember(service);
    taskId = (await createTask(member.client, { content: 'x' })).id;
    mcp = new McpClient(running.url, member.key.secret);
  });
  afterAll(async () => {
    await running.end('SIGKILL');
    folder.remove();
  });
  const lines = (): Line[] =>
    running.log
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []))
      .filter(({ context, route }) => context === 'http' && (route === '/mcp' || route?.startsWith('/v1/') === true));
  const figures = async (route: string): Promise<number> => {
    const text = await (await fetch(`${running.url}/metrics`)).text();
    const counts = text.matchAll(new RegExp(`_duration_seconds_count\\{[^}]*route="${route}"[^}]*\\} (\\d+)`, 'g'));
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };

  it('one line and one observation for each request of a client, with the tool; the one inside adds none', async () => {
    const { headers } = await mcp.call('get_task', { taskId, waitSeconds: 1 });
    await mcp.call('get_task', { taskId: 'nonsense' });
    await mcp.call('no_tool');
    await mcp.ask('ping');
    const told = await until('four lines', () => (lines().length >= 4 ? lines() : null));
    expect(told.map(({ route, tool, status }) => [route, tool, status])).toEqual([
      ['/mcp', 'get_task', 200],
      ['/mcp', 'get_task', 200],
      ['/mcp', undefined, 200],
      ['/mcp', undefined, 200],
    ]);
    expect([told[0]?.requestId, told[0]?.workspaceId]).toEqual([headers.get('x-request-id'), member.workspace.id]);
    expect(await figures('/mcp')).toBe(4);
    expect([await figures('/v1/tasks/{taskId}'), await figures('/v1/tasks/{taskId}/events')]).toEqual([0, 0]);
    await new Client(running.url, member.key.secret).get(`/v1/tasks/${taskId}`);
    expect(await figures('/v1/tasks/{taskId}')).toBe(1);
    await until('its line', () => lines().length === 5);
  });

  it('aborted is only what the client has left', async () => {
    const before = lines().length;
    const abort = new AbortController();
    const params = { name: 'get_task', arguments: { taskId, waitSeconds: 50 } };
    const asked = fetch(`${running.url}/mcp`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${member.key.secret}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      signal: abort.signal,
    });
    asked.catch(() => undefined);
    await until('the call to wait', async () => (await (await fetch(`${running.url}/metrics`)).text()).includes('millwright_event_streams 1\n')); // prettier-ignore
    abort.abort();
    const told = await until('its line', () => lines()[before]);
    expect([told.route, told.tool, told.status]).toEqual(['/mcp', 'get_task', 'aborted']);
    expect(lines()).toHaveLength(before + 1);
  });
});
