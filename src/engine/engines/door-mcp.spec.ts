import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { serveMcp } from '../../../test/harness/engines/mcp-door.js';
import { until } from '../../../test/harness/until.js';
import { answerMcp, type DoorResult, type DoorTools } from './door-mcp.js';

const SCHEMA = { type: 'object' as const, properties: { question: { type: 'string' } }, required: ['question'] };
const NEVER = new AbortController().signal;
const ABOUT = { name: 'a-program', version: '1' };

function tools(outcome: (name: string, args: object) => DoorResult | Promise<DoorResult>): DoorTools {
  return {
    tools: [
      { name: 'ask', description: 'Asks a person.', inputSchema: SCHEMA, readOnly: false },
      { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, readOnly: true },
    ],
    call: (name, args) => Promise.resolve(outcome(name, args)),
  };
}

const echo = tools((name, args) => ({ text: `${name} ${JSON.stringify(args)}`, isError: name === 'look' }));

interface Used {
  listTools(): Promise<{ tools: { name: string; annotations?: { readOnlyHint?: boolean | undefined } | undefined }[] }>;
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

async function v2(url: URL, mode: 'legacy' | 'auto' | { pin: string }, revision: string): Promise<Used> {
  const client = new Client(ABOUT, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(url));
  expect(client.getNegotiatedProtocolVersion()).toBe(revision);
  return client;
}

async function v1(url: URL): Promise<Used> {
  const client = new ClientV1(ABOUT);
  await client.connect(new TransportV1(url));
  return client;
}

it.each([
  ['of the older revisions', (url: URL) => v1(url)],
  ['that begins with initialize', (url: URL) => v2(url, 'legacy', '2025-11-25')],
  ['that asks what is spoken', (url: URL) => v2(url, 'auto', '2026-07-28')],
  ['of the newest revision alone', (url: URL) => v2(url, { pin: '2026-07-28' }, '2026-07-28')],
])('the official client %s finds the tools and calls them', async (_, connect) => {
  const server = await serveMcp(echo);
  const client = await connect(server.url);
  try {
    const listed = await client.listTools();
    expect(listed.tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['ask', false],
      ['look', true],
    ]);
    const said = await client.callTool({ name: 'ask', arguments: { question: 'Which?' } });
    expect(said).toMatchObject({ content: [{ type: 'text', text: 'ask {"question":"Which?"}' }] });
    expect(said).not.toHaveProperty('isError');
    expect(await client.callTool({ name: 'look' })).toMatchObject({ isError: true, content: [{ text: 'look {}' }] });
    await expect(client.callTool({ name: 'nothing' })).rejects.toThrow(/no tool nothing/);
  } finally {
    await client.close();
    await server.stop();
  }
});

it('a client that leaves ends its call', async () => {
  let left = false;
  const server = await serveMcp({
    ...echo,
    call: (_name, _args, { signal }) => {
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          left = true;
          reject(signal.reason as Error);
        });
      });
    },
  });
  try {
    const abort = new AbortController();
    const params = { name: 'ask', arguments: {} };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const going = fetch(server.url, { method: 'POST', body, signal: abort.signal });
    await until('the call', () => server.asked.length > 0);
    abort.abort();
    await expect(going).rejects.toThrow();
    await until('the end of the call', () => left);
  } finally {
    await server.stop();
  }
});

const asked = async (body: unknown, revision?: string) => answerMcp(echo, { body, revision }, NEVER);
const message = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) });

it.each([
  [null],
  [[message('ping')]],
  ['text'],
  [{}],
  [{ jsonrpc: '1.0', id: 1, method: 'ping' }],
  [{ jsonrpc: '2.0', id: 1.5, method: 'ping' }],
  [{ jsonrpc: '2.0', id: null, method: 'ping' }],
  [{ jsonrpc: '2.0', id: 1, method: 7 }],
  [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }],
])('%j is no request', async (body) => {
  expect(await asked(body)).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
});

it.each([[{ jsonrpc: '2.0', method: 'notifications/initialized' }], [{ jsonrpc: '2.0', id: 1, result: {} }]])(
  '%j has no answer',
  async (body) => {
    expect(await asked(body)).toEqual({ status: 202, body: null });
  },
);

it.each([
  [message('resources/list'), undefined, 200, -32601],
  [message('resources/list'), '2026-07-28', 404, -32601],
  [message('server/discover'), undefined, 200, -32601],
  [message('initialize'), '2026-07-28', 404, -32601],
  [message('ping'), '1999-01-01', 400, -32022],
  [message('tools/call', { name: 'nothing' }), undefined, 200, -32602],
  [message('tools/call', { name: 'ask', arguments: [] }), undefined, 200, -32602],
])('%j in %s is refused', async (body, revision, status, code) => {
  expect(await asked(body, revision)).toMatchObject({ status, body: { id: 1, error: { code } } });
});

it('agrees on the revision that a client asks for, where it is spoken', async () => {
  const agreed = async (protocolVersion: string) => {
    const { body } = await asked(message('initialize', { protocolVersion }));
    return (body?.['result'] as { protocolVersion: string }).protocolVersion;
  };
  expect(await agreed('2025-03-26')).toBe('2025-03-26');
  expect(await agreed('2024-11-05')).toBe('2025-11-25');
});

it('shows pictures, and tells the caller what the client says beside the arguments', async () => {
  const given: unknown[] = [];
  const offered: DoorTools = {
    ...echo,
    call: (_name, _args, { meta }) => {
      given.push(meta);
      return Promise.resolve({ text: '', isError: false, images: [{ data: 'AAAA', mediaType: 'image/png' }] });
    },
  };
  const params = { name: 'look', _meta: { 'claudecode/toolUseId': 'c1' } };
  const { body } = await answerMcp(offered, { body: message('tools/call', params), revision: undefined }, NEVER);
  expect(body).toMatchObject({ result: { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] } });
  expect(given).toEqual([{ 'claudecode/toolUseId': 'c1' }]);
});
