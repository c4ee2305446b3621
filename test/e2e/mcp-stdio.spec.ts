// `mw mcp`: the same server for clients that only start programs.
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';
import { REVISION, type ToolResult } from '../harness/mcp.js';
import { createTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));

describe('mw mcp (reference §19, §29)', () => {
  let member: Member;
  const service = useService(bootApp);
  const running: ChildProcess[] = [];
  beforeAll(async () => {
    member = await makeMember(service);
  });
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
  });
  const env = (url = service.url) => ({
    PATH: process.env['PATH'] ?? '',
    HOME: '/nonexistent',
    MILLWRIGHT_URL: url,
    MILLWRIGHT_API_KEY: member.key.secret,
  });
  const start = (url?: string) => {
    const command = new Command(spawn(process.execPath, [MW, 'mcp'], { env: env(url) }));
    running.push(command.child);
    return command;
  };
  const say = ({ child }: Command, ...messages: unknown[]) =>
    child.stdin?.write(messages.map((one) => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`).join(''));
  const call = (id: number, name: string, args: object) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }); // prettier-ignore
  const said = ({ out }: Command) => out.split('\n').filter(Boolean).map((line) => JSON.parse(line) as { id: unknown; result?: object; error?: { code: number } }); // prettier-ignore

  it('official clients of both eras use it', async () => {
    const about = { name: 'a-client', version: '1' };
    const program = { command: process.execPath, args: [MW, 'mcp'], env: env() };
    const v1 = new ClientV1(about);
    await v1.connect(new TransportV1(program));
    const v2 = new Client(about, { versionNegotiation: { mode: 'auto' } });
    await v2.connect(new StdioClientTransport(program));
    expect(v2.getNegotiatedProtocolVersion()).toBe(REVISION);
    for (const client of [v1, v2]) {
      try {
        expect((await client.listTools()).tools).toHaveLength(14);
        const made = (await client.callTool({ name: 'create_task', arguments: { content: 'x' } })) as unknown as ToolResult<{ task: { status: string } }>; // prettier-ignore
        expect(made.structuredContent.task.status).toBe('queued');
      } finally {
        await client.close();
      }
    }
  });

  it('each line is one message, and nothing but answers is on standard output', async () => {
    const command = start();
    say(command, { jsonrpc: '2.0', id: 'a', method: 'ping' }, { jsonrpc: '2.0', method: 'notifications/initialized' }, 'nonsense', '[]', { jsonrpc: '2.0', id: 'b', method: 'no/such' }); // prettier-ignore
    command.child.stdin?.end();
    expect(await command.code()).toBe(0);
    const answers = said(command).map(({ id, result, error }) => [id, result ?? error?.code]);
    expect(answers.toSorted()).toEqual(
      [
        [null, -32700],
        [null, -32700],
        ['a', {}],
        ['b', -32601],
      ].toSorted(),
    );
  });

  it('a call that the client cancels ends, and is not answered', async () => {
    const { id: taskId } = await createTask(member.client, { content: 'x' });
    const command = start();
    const waiting = async (many: number) =>
      (await (await fetch(`${service.url}/metrics`)).text()).includes(`millwright_event_streams ${many}\n`);
    say(command, call(1, 'get_task', { taskId, waitSeconds: 50 }));
    await until('the call to wait', () => waiting(1));
    say(command, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await until('the call to end', () => waiting(0));
    command.child.stdin?.end();
    expect([await command.code(), command.out]).toEqual([0, '']);
  });

  it('what the service refuses is an error of the protocol, said beside it too', async () => {
    await service.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [member.key.id]);
    const command = start();
    say(command, { jsonrpc: '2.0', id: 1, method: 'ping' });
    command.child.stdin?.end();
    expect(await command.code()).toBe(0);
    expect(said(command)).toMatchObject([{ id: 1, error: { code: -32603, data: { status: 401, code: 'invalid_credential' } } }]); // prettier-ignore
    expect(command.err).not.toBe('');
  });

  it('reads, and tools with a key, are sent again when the service does not answer; no other call is', async () => {
    const seen: string[] = [];
    const failing: Server = createServer((req, res) => {
      let text = '';
      req.on('data', (chunk) => (text += String(chunk)));
      req.on('end', () => {
        const { id, params } = JSON.parse(text) as { id: number; params: { name: string; arguments: object } };
        seen.push(`${id}`);
        if (seen.filter((one) => one === `${id}`).length === 1) return req.socket.destroy();
        res.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result: params }));
      });
    });
    await new Promise<void>((resolve) => failing.listen(0, '127.0.0.1', resolve));
    try {
      const command = start(`http://127.0.0.1:${(failing.address() as AddressInfo).port}`);
      say(command, call(1, 'get_task', { taskId: 'x' }), call(2, 'create_task', { content: 'x' }), call(3, 'create_task', { content: 'x', idempotencyKey: 'k' }), call(4, 'create_task', { content: 'x', idempotencyKey: null })); // prettier-ignore
      command.child.stdin?.end();
      expect(await command.code()).toBe(0);
      const results = said(command).map(({ id, error }) => [id, error === undefined]);
      expect(results.toSorted()).toEqual([[1, true], [2, false], [3, true], [4, false]]); // prettier-ignore
      expect(seen.toSorted()).toEqual(['1', '1', '2', '3', '3', '4']);
    } finally {
      failing.close();
    }
  });
});
