import { bootApp, useService } from '../harness/app.js';
import { loggedIn } from '../harness/browser.js';
import { type Answer, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { McpClient, REVISION } from '../harness/mcp.js';

const FRESH = { ttlMs: 3_600_000, cacheScope: 'private' };
const VERSION = 'io.modelcontextprotocol/protocolVersion';
/** A schema without its own description, of which a tool has the first sentence. */
const wordless = ({ description: _said, ...schema }: Record<string, unknown> = {}) => schema;
const codeOf = ({ status, body }: Answer<unknown>) => [status, (body as ErrorBody).error.code];

describe('POST /mcp (reference §29)', () => {
  let member: Member;
  let mcp: McpClient;
  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
    mcp = new McpClient(service.url, member.key.secret);
  });
  const post = (raw: string, headers: Record<string, string> = { 'Content-Type': 'application/json' }) =>
    member.client.request<ErrorBody>('POST', '/mcp', { raw, headers });

  describe('What comes before the message', () => {
    it.each(['GET', 'DELETE', 'PUT', 'OPTIONS'])('every other method is 405 with Allow: %s', async (method) => {
      const { status, headers } = await member.client.request(method, '/mcp');
      expect([status, headers.get('allow'), headers.get('cache-control')]).toEqual([405, 'POST', 'no-store']);
    });

    it('answers are one JSON object that nobody keeps, whatever Accept says', async () => {
      for (const accept of ['text/event-stream', 'application/json, text/event-stream', 'text/html', '*/*;q=0']) {
        const { status, headers, body } = await mcp.ask('ping', undefined, { accept });
        expect([status, body.result]).toEqual([200, {}]);
        expect([headers.get('content-type'), headers.get('cache-control')]).toEqual(['application/json; charset=utf-8', 'no-store']); // prettier-ignore
      }
    });

    it('pages of other origins are refused before anything is known, those of this machine are not', async () => {
      const { origin, port } = new URL(service.url);
      for (const wrong of ['https://evil.example', 'null', `http://localhost:${port}`, `${origin}.evil.example`]) {
        expect(codeOf(await mcp.ask('ping', undefined, { origin: wrong }))).toEqual([403, 'origin_not_allowed']);
        expect(codeOf(await new McpClient(service.url, null).ask('ping', undefined, { origin: wrong }))).toEqual([403, 'origin_not_allowed']); // prettier-ignore
      }
      expect((await mcp.ask('ping', undefined, { origin })).status).toBe(200);
    });

    it('needs a credential: 401', async () => {
      expect(codeOf(await new McpClient(service.url, null).ask('ping'))).toEqual([401, 'missing_credential']);
      expect(codeOf(await new McpClient(service.url, 'nonsense').ask('ping'))).toEqual([401, 'invalid_credential']);
    });

    it('needs a body of one JSON object: 400, 413, 415 in the form of the API, charged', async () => {
      const long = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'x'.repeat(1024 * 1024) } });
      const cases: [Promise<Answer<ErrorBody>>, number, string][] = [
        [post(''), 400, 'invalid_body'],
        [post('{'), 400, 'invalid_body'],
        [post('[{"jsonrpc":"2.0","id":1,"method":"ping"}]'), 400, 'invalid_body'],
        [post('{"a":1,"a":2}'), 400, 'invalid_body'],
        [post(long), 413, 'too_large'],
        [post('{}', { 'Content-Type': 'text/plain' }), 415, 'unsupported_media_type'],
      ];
      for (const [sent, ...expected] of cases) {
        const answer = await sent;
        expect(codeOf(answer)).toEqual(expected);
        expect(answer.headers.get('x-ratelimit-policy')).toBe('metadata_read');
        expect(answer.headers.get('cache-control')).toBe('no-store');
      }
    });

    it('any key will do, whatever its scopes and role', async () => {
      for (const role of ['viewer', 'member'] as const) {
        const { key } = await makeMember(service, { workspace: member.workspace, role, scopes: [] });
        expect((await new McpClient(service.url, key.secret).ask('tools/list')).status).toBe(200);
      }
    });

    it('the cookie of the console never counts', async () => {
      const browser = await loggedIn(service, member);
      const json = { jsonrpc: '2.0', id: 1, method: 'ping' };
      expect((await browser.get('/v1/models')).status).toBe(200);
      const { status, body } = await browser.send('POST', '/mcp', { json });
      expect([status, body.error?.code]).toEqual([401, 'missing_credential']);
    });
  });

  describe('The form of a message', () => {
    it.each([
      [{ id: 1, method: 'ping' }],
      [{ jsonrpc: '1.0', id: 1, method: 'ping' }],
      [{ jsonrpc: '2.0', id: 1 }],
      [{ jsonrpc: '2.0', id: 1, method: 5 }],
      [{ jsonrpc: '2.0', id: 1, result: {} }],
      [{ jsonrpc: '2.0', id: null, method: 'ping' }],
      [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }],
      [{ jsonrpc: '2.0', id: {}, method: 'ping' }],
      [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }],
      [{ jsonrpc: '2.0', id: 1, method: 'ping', params: null }],
    ])('%j is -32600 with 400', async (message) => {
      const { status, headers, body } = await mcp.send(message);
      const id = (message as { id?: unknown }).id === 1 ? 1 : null;
      expect([status, body.jsonrpc, body.id, body.error.code]).toEqual([400, '2.0', id, -32600]);
      expect(headers.get('x-ratelimit-policy')).toBe('metadata_read');
    });

    it('the id comes back as it was sent', async () => {
      for (const id of ['', 'a', 0, -7, Number.MAX_SAFE_INTEGER]) {
        expect((await mcp.send({ jsonrpc: '2.0', id, method: 'ping' })).body.id).toBe(id);
      }
    });

    it('a notification is 202 without body and effect, and charged', async () => {
      const args = { name: 'create_task', arguments: { content: 'x' } };
      for (const method of ['notifications/initialized', 'notifications/cancelled', 'tools/call']) {
        const { status, text, headers } = await mcp.send({ jsonrpc: '2.0', method, params: args });
        expect([status, text, headers.has('x-ratelimit-remaining')]).toEqual([202, '', true]);
      }
      expect((await member.client.get<{ tasks: unknown[] }>('/v1/tasks')).body.tasks).toEqual([]);
    });

    it('headers that disagree with the body are -32020, another revision is -32022 with those that there are', async () => {
      const message = (method: string, version: unknown, params = {}) => ({
        jsonrpc: '2.0',
        id: 1,
        method,
        params: { ...params, _meta: version === null ? {} : { [VERSION]: version } },
      });
      const headers = { 'MCP-Protocol-Version': REVISION, 'Mcp-Method': 'tools/list' };
      const call = { ...headers, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'list_models' };
      const cases: [object, Record<string, string>, number | null][] = [
        [message('tools/list', REVISION), headers, null],
        [message('tools/list', REVISION), { 'Mcp-Method': 'tools/list' }, -32020],
        [message('tools/list', null), headers, -32020],
        [message('tools/list', REVISION), { ...headers, 'MCP-Protocol-Version': '2025-11-25' }, -32020],
        [message('tools/list', REVISION), { ...headers, 'Mcp-Method': 'tools/call' }, -32020],
        [message('tools/call', REVISION, { name: 'list_models' }), call, null],
        [message('tools/call', REVISION, { name: 'list_tasks' }), call, -32020],
        [message('tools/call', REVISION, { name: 'list_models' }), { ...call, 'Mcp-Name': '' }, -32020],
        [message('tools/call', REVISION, { name: 'list_models' }), { ...call, 'Mcp-Name': `=?base64?${btoa('list_models')}?=` }, null],
        [message('tools/list', '2030-01-01'), { ...headers, 'MCP-Protocol-Version': '2030-01-01' }, -32022],
        [message('tools/list', null), { 'MCP-Protocol-Version': '2024-11-05' }, -32022],
        [message('tools/list', null), { 'MCP-Protocol-Version': '2025-03-26' }, null],
      ]; // prettier-ignore
      for (const [body, sent, code] of cases) {
        const answer = await mcp.send(body, sent);
        expect([answer.status, answer.body.error?.code ?? null]).toEqual([code === null ? 200 : 400, code]);
        if (code === -32022) expect(answer.body.error.data?.['supported']).toEqual([REVISION, '2025-11-25', '2025-06-18', '2025-03-26']); // prettier-ignore
      }
    });

    it('an unknown method is -32601: 404 in 2026-07-28, 200 before', async () => {
      for (const method of ['prompts/list', 'completion/complete', 'logging/setLevel', 'resources/subscribe', 'x']) {
        const [before, now] = [await mcp.ask(method), await mcp.askModern(method)];
        expect([before.status, before.body.error.code]).toEqual([200, -32601]);
        expect([now.status, now.body.error.code]).toEqual([404, -32601]);
      }
      // Each era has its own beginning.
      for (const method of ['initialize', 'ping']) expect((await mcp.askModern(method)).body.error.code).toBe(-32601);
      expect((await mcp.ask('server/discover')).body.error.code).toBe(-32601);
    });
  });

  describe('The methods', () => {
    it('initialize agrees on a revision that both speak, and nothing is kept', async () => {
      for (const [asked, agreed] of [['2025-11-25', '2025-11-25'], ['2025-06-18', '2025-06-18'], ['2025-03-26', '2025-03-26'], ['2024-11-05', '2025-11-25'], [REVISION, '2025-11-25']]) {
        const { body, headers } = await mcp.ask('initialize', { protocolVersion: asked, capabilities: {} });
        expect(body.result).toMatchObject({ protocolVersion: agreed, capabilities: { tools: {}, resources: {} }, serverInfo: { name: 'millwright' } });
        expect(headers.get('mcp-session-id')).toBeNull();
      }
    }); // prettier-ignore

    it('server/discover says what there is', async () => {
      const { body } = await mcp.askModern('server/discover');
      expect(body.result).toMatchObject({
        ...FRESH,
        resultType: 'complete',
        capabilities: { tools: {}, resources: {} },
      });
      expect(body.result['supportedVersions']).toEqual([REVISION, '2025-11-25', '2025-06-18', '2025-03-26']);
    });

    it('no resource is listed, files are by their template', async () => {
      const { body } = await mcp.askModern('resources/list');
      expect(body.result).toMatchObject({ ...FRESH, resources: [] });
      const templates = (await mcp.askModern('resources/templates/list')).body.result;
      expect(templates).toMatchObject({
        ...FRESH,
        resourceTemplates: [{ uriTemplate: 'millwright://files/{fileId}' }],
      });
    });

    it('the definitions are at most 10 KiB, in one order, the same for every caller', async () => {
      const { body } = await mcp.askModern<{ tools: { name: string }[] }>('tools/list');
      expect(body.result).toMatchObject(FRESH);
      const { tools } = body.result;
      expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThanOrEqual(10 * 1024);
      expect(tools.map(({ name }) => name)).toEqual([
        ...['create_task', 'get_task', 'list_tasks', 'list_messages', 'send_message', 'answer_task', 'cancel_task'],
        ...['list_files', 'list_projects', 'list_models', 'read_file', 'upload_file'],
        ...['list_automations', 'run_automation'],
      ]);
      const viewer = await makeMember(service, { role: 'viewer', scopes: ['billing:read'] });
      const theirs = await new McpClient(service.url, viewer.key.secret).ask<{ tools: object[] }>('tools/list');
      expect(theirs.body.result.tools).toEqual(tools);
    });

    it('their schemas are made of what /openapi.json is made of', async () => {
      const { body } = await mcp.ask<{ tools: { name: string; inputSchema: { properties: object; required?: string[] } }[] }>('tools/list');
      const schemaOf = (name: string) => body.result.tools.find((tool) => tool.name === name)?.inputSchema;
      const document = (await member.client.get<{ components: { schemas: Record<string, { properties: Record<string, object> }> } }>('/openapi.json')).body;
      const task = document.components.schemas['CreateTask']?.properties ?? {};
      const create = schemaOf('create_task');
      for (const name of ['content', 'effort', 'approvals', 'tags', 'metadata'])
        expect(task[name]).toMatchObject(wordless((create?.properties as Record<string, Record<string, unknown>>)[name]));
      expect(create?.required).toEqual(['content']);
      expect(schemaOf('list_tasks')?.properties).toMatchObject({ limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 } });
      expect(schemaOf('answer_task')?.required).toEqual(['taskId', 'interactionId']);
      expect(JSON.stringify(body.result.tools)).not.toContain('$ref');
    }); // prettier-ignore
  });
});

describe('POST /mcp with PUBLIC_URL (reference §29)', () => {
  const service = useService(() => bootApp({ env: { PUBLIC_URL: 'https://mill.example' } }));

  it('takes pages of PUBLIC_URL alone', async () => {
    const { key } = await makeMember(service);
    const mcp = new McpClient(service.url, key.secret);
    expect((await mcp.ask('ping', undefined, { origin: 'https://mill.example' })).status).toBe(200);
    expect((await mcp.ask('ping', undefined, { origin: new URL(service.url).origin })).status).toBe(403);
  });
});
