// Requests that no proper client sends, and answers that do not come whole.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { bootApp, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { attach, makeTask, upload } from '../harness/files.js';
import { McpClient, REVISION, type ToolResult } from '../harness/mcp.js';
import { createTask } from '../harness/tasks.js';

type Json = Record<string, unknown>;

describe('Odd requests to /mcp (reference §29)', () => {
  let member: Member;
  let mcp: McpClient;
  const service = useService(bootApp);
  beforeAll(async () => {
    member = await makeMember(service);
    mcp = new McpClient(service.url, member.key.secret);
  });

  it('a file whose bytes cannot be read is 500, and the process goes on', async () => {
    const taskId = await makeTask(service, member);
    const [file] = await attach(service, member, taskId, [(await upload(service, member, 'x'.repeat(1000))).id]);
    const fileId = file?.id ?? '';
    const root = join(service.app.get(DataDir).path, 'files');
    const [stored] = readdirSync(root, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    const path = join(stored?.parentPath ?? '', stored?.name ?? '');
    rmSync(path);
    mkdirSync(path);
    for (const answer of [
      await mcp.call('read_file', { fileId }),
      await mcp.ask('resources/read', { uri: `millwright://files/${fileId}` }),
    ]) {
      expect([answer.status, (answer.body as unknown as ErrorBody).error.code]).toEqual([500, 'internal_error']);
    }
    expect((await mcp.ask('ping')).status).toBe(200);
  });

  it('methods and names of every object are unknown, and charged', async () => {
    for (const method of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      for (const answer of [await mcp.ask(method), await mcp.askModern(method, { name: 'x' })]) {
        expect([answer.body.error.code, answer.headers.get('x-ratelimit-policy')]).toEqual([-32601, 'metadata_read']);
      }
      expect((await mcp.call(method)).body.error.code).toBe(-32602);
    }
  });

  it.each([{ toString: 1, valueOf: 1 }, ['list_models'], [['millwright://files/x']], 5, null])(
    'a name, an address, a task and a revision that are no text: %j',
    async (odd) => {
      const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
      const headers = { 'MCP-Protocol-Version': '2025-11-25' };
      expect((await mcp.ask('tools/call', { name: odd }, headers)).body.error.code).toBe(-32602);
      expect((await mcp.ask('resources/read', { uri: odd })).body.error.code).toBe(-32602);
      // The header names none that the body could agree with.
      expect((await mcp.askModern('tasks/get', { taskId: odd }, tasks)).body.error.code).toBe(-32020);
      const { result } = (await mcp.ask<{ protocolVersion: string }>('initialize', { protocolVersion: odd })).body;
      expect(result.protocolVersion).toBe('2025-11-25');
    },
  );

  it('a service key without a scope is refused, and charged for it', async () => {
    const { client } = await makeMember(service, { role: 'owner' });
    const accounts = '/v1/service-accounts';
    const account = (await client.post<{ serviceAccount: { id: string } }>(accounts, { name: 'Robot' })).body;
    const path = `${accounts}/${account.serviceAccount.id}/keys`;
    const { secret } = (await client.post<{ secret: string }>(path, { name: 'ci', scopes: ['tasks:read'] })).body;
    await service.db.query(`UPDATE api_keys SET scopes = '{}' WHERE user_id = $1`, [account.serviceAccount.id]);
    const { status, body, headers } = await new McpClient(service.url, secret).ask('ping');
    expect([status, (body as unknown as ErrorBody).error.code]).toEqual([403, 'missing_scope']);
    expect(headers.get('x-ratelimit-policy')).toBe('metadata_read');
  });

  it('arguments may be as deep and as many as the route takes them, and what is more is its error', async () => {
    const deep = (levels: number): Json => (levels === 0 ? {} : { properties: { a: deep(levels - 1) } });
    const given = (levels: number) => ({ content: 'x', outputSchema: { type: 'object', ...deep(levels) } });
    for (const levels of [1, 14, 15, 16]) {
      const byRoute = await member.client.post<ErrorBody>('/v1/tasks', given(levels));
      const { status, body } = await mcp.call<ErrorBody>('create_task', given(levels));
      expect([levels, status]).toEqual([levels, 200]);
      expect([levels, body.result.isError ?? false]).toEqual([levels, byRoute.status >= 400]);
      expect(body.result.structuredContent.error?.code).toBe(byRoute.body.error?.code);
    }
  });

  it('what a client can counts in the revision that says it with each request, and not in an older one', async () => {
    const { id: taskId } = await createTask(member.client, { content: 'x' });
    const _meta = {
      'io.modelcontextprotocol/clientCapabilities': {
        elicitation: { form: {} },
        extensions: { 'io.modelcontextprotocol/tasks': {} },
      },
    };
    const ask = (name: string, args: Json) =>
      mcp.ask<ToolResult<Json>>(
        'tools/call',
        { name, arguments: args, _meta },
        { 'MCP-Protocol-Version': '2025-11-25' },
      );
    const answered = await ask('answer_task', { taskId, interactionId: taskId });
    expect([answered.body.result.isError, answered.body.result.resultType]).toEqual([true, undefined]);
    const made = await ask('create_task', { content: 'x' });
    expect(made.body.result.structuredContent).toHaveProperty('task.status', 'queued');
  });

  it('null is an absent argument: a task of the extension, and no key', async () => {
    const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const args = { content: 'x', waitSeconds: null, idempotencyKey: null };
    const call = () => mcp.askModern<{ resultType: string; taskId: string }>('tools/call', { name: 'create_task', arguments: args }, tasks); // prettier-ignore
    const [first, second] = [(await call()).body.result, (await call()).body.result];
    expect([first.resultType, first.taskId === second.taskId]).toEqual(['task', false]);
  });

  it('the revision of the header decides, whatever else is said', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await mcp.send(message, { 'MCP-Protocol-Version': REVISION })).body.error.code).toBe(-32020);
  });
});
