// What a worker tells of the servers of tasks: in its log, figures and spans; and what it never does, the values of headers.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useService } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { McpHttpServer } from '../harness/mcp/http-server.js';
import { programOf, PROGRAMS } from '../harness/mcp/worker.js';
import { byMarkers, ModelServer } from '../harness/model-server.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, createTask, finishedLater, readResults, script } from '../harness/tasks.js';
import { attributesOf, TraceCollector } from '../harness/trace-collector.js';
import { until } from '../harness/until.js';

const TOKEN = 'token-of-the-operator-4711';
const LITERAL = 'literal-of-the-operator-4711';

describe('What a worker tells of servers (reference §28, §16)', () => {
  const folder = temporaryFolder();
  const service = useService();
  let [model, remote, collector, running] = [] as unknown as [ModelServer, McpHttpServer, TraceCollector, ServiceProcess]; // prettier-ignore
  let member: Member;
  let client: Client;
  beforeAll(async () => {
    model = await ModelServer.start(byMarkers);
    remote = await McpHttpServer.start([{ name: 'get_page', inputSchema: { type: 'object' } }]);
    collector = await TraceCollector.start();
    const path = join(folder.path, 'millwright.json');
    const config = {
      models: [{ id: 'scripted', provider: 'openai-compatible' }],
      titles: false,
      sandbox: { programs: [PROGRAMS] },
      mcpServers: {
        docs: { ...programOf('program.mjs', 'plain'), readOnly: ['*'] },
        remote: {
          url: remote.url,
          headers: { Authorization: 'Bearer ${REMOTE_TOKEN}', 'X-Key': LITERAL },
          readOnly: ['*'],
        },
      },
    };
    writeFileSync(path, JSON.stringify(config));
    mkdirSync(join(folder.path, 'data'));
    running = await ServiceProcess.start({
      DATABASE_URL: service.db.url,
      DATA_DIR: join(folder.path, 'data'),
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      ROLE: 'all',
      LOG_LEVEL: 'debug',
      CONFIG_FILE: path,
      REMOTE_TOKEN: TOKEN,
      OPENAI_COMPATIBLE_URL: model.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    });
    member = await makeMember(service);
    client = new Client(running.url, member.key.secret);
  }, 120_000);
  afterAll(async () => {
    await running.end('SIGKILL');
    await Promise.all([model.stop(), remote.stop(), collector.stop()]);
    folder.remove();
  });

  const done = async (...steps: Parameters<typeof script>) => {
    const given = { content: script(...steps), model: 'scripted', mcpServers: ['docs', 'remote'] };
    const { id } = await createTask(client, given);
    expect((await finishedLater(client, id)).status).toBe('completed');
    return { id, results: await readResults(client, id) };
  };

  it('the log has the last 4 KiB of what a program says on standard error before it fails', async () => {
    await done(call('mcp__docs__die', { lines: 500 }));
    const all = Array.from({ length: 500 }, (_, n) => `line ${n} of the last words\n`).join('');
    const line = await until('its line', () => running.log.split('\n').find((one) => one.includes('exit code 3')));
    const { msg } = JSON.parse(line) as { msg: string };
    const before = 'The MCP server docs: It ended with exit code 3. ';
    expect(msg).toContain(before);
    // Its very end is white space, which stands before nothing.
    expect(msg.slice(msg.indexOf(before) + before.length)).toBe(all.slice(-4096).trimEnd());
  });

  it('no value of a header reaches the sandbox, the model, an event or an answer, and the log has none', async () => {
    const look =
      'env; cat /proc/*/environ /proc/*/cmdline; grep -rs "of-the-operator" /workdir /tmp ~ /etc /opt || true';
    // One that says back what it was sent.
    const content = [{ type: 'text', text: `I was sent Bearer ${TOKEN} and ${LITERAL}.` }];
    remote.answer = () => ({ result: { resultType: 'complete', content } });
    const { id, results } = await done(call('mcp__remote__get_page', {}), call('bash', { command: look }));
    remote.answer = null;
    expect(results[0]?.output).toEqual({ text: 'I was sent Bearer [hidden] and [hidden].' });
    expect(results.map(({ status }) => status)).toEqual(['success', 'success']);
    expect(remote.calls.at(-1)?.headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, 'x-key': LITERAL });
    const answers = await Promise.all(
      ['', '/messages?limit=100', '/events?limit=100', '/files'].map((path) => client.get(`/v1/tasks/${id}${path}`)),
    );
    const servers = await client.get('/v1/mcp-servers');
    const said = [...answers, servers].map(({ status, text }) => [status, text]);
    expect(said.map(([status]) => status)).toEqual([200, 200, 200, 200, 200]);
    for (const value of [TOKEN, LITERAL]) {
      expect(JSON.stringify([said, results, model.requests])).not.toContain(value);
    }
    expect(running.log).not.toContain(TOKEN);
  });

  it('files of a repository that name servers are not read', async () => {
    const named = { mcpServers: { planted: { command: 'node', args: ['/opt/programs/mcp/program.mjs', 'plain'] } } };
    const files = ['.mcp.json', '.cursor/mcp.json', '.vscode/mcp.json', '.claude/settings.json', 'repo/.mcp.json'];
    const writes = files.map((path) => call('write', { path, content: JSON.stringify(named) }));
    const { id } = await done(...writes);
    const before = model.requests.length;
    expect((await client.post(`/v1/tasks/${id}/messages`, { content: script({ text: 'Done.' }) })).status).toBe(202);
    expect((await finishedLater(client, id)).status).toBe('completed');
    const offered = model.requests
      .slice(before)
      .flatMap(({ body }) => (body.tools ?? []).map((one) => one.function.name));
    expect(offered.filter((name) => name.startsWith('mcp__docs__')).length).toBeGreaterThan(0);
    expect(offered.filter((name) => name.includes('planted'))).toEqual([]);
  });

  it('figures count each call and how long it took, and each has a span', async () => {
    const figure = async (name: string, labels: string) => {
      const text = await (await fetch(`${running.url}/metrics`)).text();
      return Number(new RegExp(`^${name}\\{${labels}\\} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
    };
    const counts = async () => [
      await figure('millwright_mcp_calls_total', 'server="docs",outcome="success"'),
      await figure('millwright_mcp_call_seconds_count', 'server="docs"'),
      await figure('millwright_mcp_call_seconds_count', 'server="remote"'),
    ];
    const seconds = () => figure('millwright_mcp_call_seconds_sum', 'server="docs"');
    const [before, took] = [await counts(), await seconds()];
    await done(call('mcp__docs__slow', { ms: 300 }), call('mcp__docs__echo', {}), call('mcp__remote__get_page', {}));
    expect((await counts()).map((count, n) => count - (before[n] ?? 0))).toEqual([2, 2, 1]);
    expect((await seconds()) - took).toBeGreaterThan(0.29);
    const names = ['tool mcp__docs__slow', 'tool mcp__docs__echo', 'tool mcp__remote__get_page'];
    const slow = await until('its span', () => collector.spans.find(({ name }) => name === names[0]), {
      within: 60_000,
    });
    // Spans of the task before may come only now.
    const own = () => collector.spans.filter((span) => span.traceId === slow.traceId && span.name.startsWith('tool '));
    await until('a span for each call', () => names.every((name) => own().some((span) => span.name === name)), { within: 60_000 }); // prettier-ignore
    expect(own()).toHaveLength(3);
    expect(attributesOf(slow)).toMatchObject({
      'gen_ai.tool.name': 'mcp__docs__slow',
      'millwright.tool.status': 'success',
    });
  });
});
