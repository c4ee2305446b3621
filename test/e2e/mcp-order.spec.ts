// Of two faults of a request the earlier check answers, and a role that serves nothing has no route.
import { v7 as uuidv7 } from 'uuid';
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { McpClient, REVISION, type RpcAnswer } from '../harness/mcp.js';
import { rawRequest } from '../harness/raw.js';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

describe('The order of the checks of /mcp (reference §29)', () => {
  const one = { capacity: 1, windowSeconds: 3600 };
  const many = { capacity: 1000, windowSeconds: 3600 };
  const plan = { global: many, policies: { metadata_read: one, resource_read: one, task_execution: one } };
  const service = useService(() => bootApp({ config: { rateLimits: { free: plan, paid: plan } } }));
  /** Has nothing left for methods, for reads, and for tasks. */
  let spent: Member;
  beforeAll(async () => {
    spent = await makeMember(service);
    const mcp = new McpClient(service.url, spent.key.secret);
    await mcp.ask('ping');
    await mcp.call('list_tasks');
    await mcp.call('create_task', { content: 'x' });
  });

  interface Sent {
    method?: string;
    key?: string | null | undefined;
    body?: unknown;
    type?: string;
    headers?: Record<string, string>;
  }
  const send = async ({ method = 'POST', key, body = PING, type = 'application/json', headers = {} }: Sent) => {
    const response = await fetch(`${service.url}/mcp`, {
      method,
      headers: { ...(key && { Authorization: `Bearer ${key}` }), 'Content-Type': type, ...headers },
      ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const { error } = (await response.json()) as Partial<ErrorBody> & Partial<RpcAnswer>;
    return [response.status, error?.code];
  }; // prettier-ignore
  const foreign = { Origin: 'https://evil.example' };
  const formless = { jsonrpc: '1.0', id: 1, method: 'ping' };
  const modern = { 'MCP-Protocol-Version': REVISION };

  it.each<[string, Sent, number, unknown]>([
    ['route before origin', { method: 'GET', headers: foreign }, 405, 'method_not_allowed'],
    ['route before credential', { method: 'DELETE', key: null }, 405, 'method_not_allowed'],
    ['origin before credential', { headers: foreign, key: null }, 403, 'origin_not_allowed'],
    ['origin before body', { headers: foreign, body: '{' }, 403, 'origin_not_allowed'],
    ['origin before form', { headers: foreign, body: formless }, 403, 'origin_not_allowed'],
    ['credential before body', { key: null, body: '{' }, 401, 'missing_credential'],
    ['credential before the length of the body', { key: 'no', body: 'x'.repeat(2 ** 20 + 1) }, 401, 'invalid_credential'],
    ['credential before the type of the body', { key: null, type: 'text/plain' }, 401, 'missing_credential'],
    ['credential before form', { key: null, body: formless }, 401, 'missing_credential'],
    ['type before what the body says', { type: 'text/plain', body: '{' }, 415, 'unsupported_media_type'],
    ['a batch before the form of its parts', { body: [formless] }, 400, 'invalid_body'],
    ['form before method', { body: { ...PING, jsonrpc: '1.0', method: 'no/such' } }, 400, -32600],
    ['form before what the headers say', { body: formless, headers: modern }, 400, -32600],
    ['headers before method', { body: { ...PING, method: 'no/such' }, headers: modern }, 400, -32020],
  ])('%s', async (_what, sent, status, code) => {
    const { key } = await makeMember(service);
    expect(await send({ key: key.secret, ...sent })).toEqual([status, code]);
  }); // prettier-ignore

  it.each<[string, unknown, number, unknown]>([
    ['body before rate limit', '{', 400, 'invalid_body'],
    ['a batch before rate limit', [PING], 400, 'invalid_body'],
    ['form before rate limit', formless, 400, -32600],
    ['the revision before rate limit', { ...PING, params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '1999-01-01' } } }, 400, -32020],
    ['rate limit before an unknown method', { ...PING, method: 'no/such' }, 429, 'rate_limit_exceeded'],
    ['rate limit before an unknown tool', { ...PING, method: 'tools/call', params: { name: 'no_tool' } }, 429, 'rate_limit_exceeded'],
    ['rate limit before an unknown resource', { ...PING, method: 'resources/read', params: { uri: 'x:y' } }, 429, 'rate_limit_exceeded'],
  ])('%s', async (_what, body, status, code) => {
    expect(await send({ key: spent.key.secret, body })).toEqual([status, code]);
  }); // prettier-ignore

  it('what is refused for its form has the headers of its charge, with nothing left', async () => {
    const { headers } = await new McpClient(service.url, spent.key.secret).send(formless);
    expect([headers.get('x-ratelimit-policy'), headers.get('x-ratelimit-remaining')]).toEqual(['metadata_read', '0']);
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['arguments that are wrong', 'create_task', { content: 5 }],
    ['arguments that are unknown', 'create_task', { content: 'x', colour: 'red' }],
    ['arguments of its own that are wrong', 'create_task', { content: 'x', waitSeconds: 51 }],
    ['an unknown task', 'list_tasks', { projectId: uuidv7() }],
  ])('rate limit of a tool before %s', async (_what, tool, args) => {
    const { body } = await new McpClient(service.url, spent.key.secret).call<ErrorBody>(tool, args);
    expect(body.result.structuredContent.error.code).toBe('rate_limit_exceeded');
  });
});

describe('The origin of a page, where the host is no loopback (reference §29)', () => {
  const service = useService();

  it('without PUBLIC_URL no page is let in, also one of that very host; a program is', async () => {
    const { key } = await makeMember(service);
    const body = JSON.stringify(PING);
    const ask = async (host: string, ...more: string[]) => {
      const lines = ['POST /mcp HTTP/1.1', `Authorization: Bearer ${key.secret}`, 'Content-Type: application/json'];

      const { status, body: text } = await rawRequest(service.url, [...lines, `Content-Length: ${body.length}`, ...more], body, false, host); // prettier-ignore
      return [status, text.includes('origin_not_allowed')];
    };
    for (const host of ['mill.example', 'mill.example:3000', '192.0.2.7:3000', '[2001:db8::1]:3000']) {
      expect([host, ...(await ask(host, `Origin: http://${host}`))]).toEqual([host, 403, true]);
      expect([host, ...(await ask(host))]).toEqual([host, 200, false]);
    }
    for (const host of ['127.0.0.1:3000', 'localhost:3000', '[::1]:3000']) {
      expect([host, ...(await ask(host, `Origin: http://${host}`))]).toEqual([host, 200, false]);
    }
  });
});

describe('A worker (reference §29)', () => {
  const service = useService(() => bootApp({ env: { ROLE: 'worker' } }));

  it('does not serve /mcp, whatever is sent', async () => {
    const { key } = await makeMember(service);
    const headers = { Authorization: `Bearer ${key.secret}`, 'Content-Type': 'application/json' };
    for (const method of ['POST', 'GET']) {
      const body = method === 'POST' ? { body: JSON.stringify(PING) } : {};
      const response = await fetch(`${service.url}/mcp`, { method, headers, ...body });
      expect([method, response.status]).toEqual([method, 404]);
    }
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
  });
});
