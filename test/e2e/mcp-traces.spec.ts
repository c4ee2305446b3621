// The trace that a client begins goes on in what its call has made.
import { useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { McpClient, type ToolResult } from '../harness/mcp.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { attributesOf, TraceCollector } from '../harness/trace-collector.js';
import { until } from '../harness/until.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

describe('The trace of a call (reference §29, §16)', () => {
  const folder = temporaryFolder();
  const service = useService();
  let collector: TraceCollector;
  let running: ServiceProcess;
  beforeAll(async () => {
    collector = await TraceCollector.start();
    running = await ServiceProcess.start({
      DATABASE_URL: service.db.url,
      DATA_DIR: folder.path,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      ROLE: 'api',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    });
  });
  afterAll(async () => {
    await running.end('SIGKILL');
    await collector.stop();
    folder.remove();
  });

  it('is that of the client: one span of the request, its transaction within, and the task', async () => {
    const { key } = await makeMember(service);
    const headers = { traceparent: `00-${TRACE}-${CALLER}-01` };
    const params = { name: 'create_task', arguments: { content: 'x' } };
    const { body } = await new McpClient(running.url, key.secret).ask<ToolResult<{ task: { id: string } }>>('tools/call', params, headers); // prettier-ignore
    const { id } = body.result.structuredContent.task;
    const [run] = await service.db.query<{ traceparent: string }>('SELECT traceparent FROM runs WHERE task_id = $1', [id]); // prettier-ignore
    expect(run?.traceparent).toMatch(new RegExp(`^00-${TRACE}-[\\da-f]{16}-01$`));
    expect(await running.end('SIGTERM')).toBe(0);
    const spans = await until('its spans', () => {
      const own = collector.spans.filter(({ traceId }) => traceId === TRACE);
      return own.length >= 2 ? own : null;
    });
    const [request, ...others] = spans.filter(({ kind }) => kind === 2);
    expect(others).toEqual([]);
    expect([request?.name, request?.parentSpanId]).toEqual(['POST /mcp', CALLER]);
    expect(request && attributesOf(request)).toMatchObject({ 'http.route': '/mcp' });
    expect(spans.filter(({ parentSpanId }) => parentSpanId === request?.spanId).map(({ name }) => name)).toContain('transaction'); // prettier-ignore
  });
});
