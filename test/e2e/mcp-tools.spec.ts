import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { bootApp, useService } from '../harness/app.js';
import { acts } from '../harness/audit.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { attach, makeTask, upload } from '../harness/files.js';
import { McpClient, type ToolResult } from '../harness/mcp.js';
import { createTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const NONE = uuidv7();
const LIMITS = ['x-ratelimit-policy', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-global-remaining'];

/** A tool's arguments, and the request that its operation takes. */
type Situation = [tool: string, args: Record<string, unknown>, method: string, path: string, json?: object];
const call = (taskId: string): Situation[] => [
  ['create_task', { content: '' }, 'POST', '/v1/tasks', { content: '' }],
  ['create_task', { content: 5 }, 'POST', '/v1/tasks', { content: 5 }],
  ['create_task', { content: 'x', projectId: NONE }, 'POST', '/v1/tasks', { content: 'x', projectId: NONE }],
  ['create_task', { content: 'x', projectId: null }, 'POST', '/v1/tasks', { content: 'x', projectId: null }],
  ['create_task', { content: 'x', model: 'no-such' }, 'POST', '/v1/tasks', { content: 'x', model: 'no-such' }],
  ['create_task', { content: 'x', budget: { maxSteps: 0 } }, 'POST', '/v1/tasks', { content: 'x', budget: { maxSteps: 0 } }],
  ['create_task', { content: 'x', budget: { colour: 1 } }, 'POST', '/v1/tasks', { content: 'x', budget: { colour: 1 } }],
  ['create_task', { content: 'x', tags: ['a', 'a'] }, 'POST', '/v1/tasks', { content: 'x', tags: ['a', 'a'] }],
  ['create_task', { content: 'x', uploadIds: [NONE] }, 'POST', '/v1/tasks', { content: 'x', attachments: [{ uploadId: NONE }] }],
  ['create_task', { content: 'x', repository: { url: 'ftp://x' } }, 'POST', '/v1/tasks', { content: 'x', repository: { url: 'ftp://x' } }],
  ['create_task', { content: 'x', colour: 'red' }, 'POST', '/v1/tasks', { content: 'x', colour: 'red' }],
  ['get_task', { taskId }, 'GET', `/v1/tasks/${taskId}`],
  ['get_task', { taskId: NONE }, 'GET', `/v1/tasks/${NONE}`],
  ['get_task', { taskId: 'nonsense' }, 'GET', '/v1/tasks/nonsense'],
  ['get_task', { taskId: taskId.toUpperCase() }, 'GET', `/v1/tasks/${taskId.toUpperCase()}`],
  ['list_tasks', {}, 'GET', '/v1/tasks?limit=20'],
  ['list_tasks', { limit: 1 }, 'GET', '/v1/tasks?limit=1'],
  ['list_tasks', { limit: 0 }, 'GET', '/v1/tasks?limit=0'],
  ['list_tasks', { status: 'late' }, 'GET', '/v1/tasks?limit=20&status=late'],
  ['list_tasks', { cursor: 'nonsense' }, 'GET', '/v1/tasks?limit=20&cursor=nonsense'],
  ['list_messages', { taskId }, 'GET', `/v1/tasks/${taskId}/messages?limit=20`],
  ['list_messages', { taskId, order: 'up' }, 'GET', `/v1/tasks/${taskId}/messages?limit=20&order=up`],
  ['list_messages', { taskId, after: NONE }, 'GET', `/v1/tasks/${taskId}/messages?limit=20&after=${NONE}`],
  ['send_message', { taskId, content: ' ' }, 'POST', `/v1/tasks/${taskId}/messages`, { content: ' ' }],
  ['send_message', { taskId, content: 'x', mode: 'shout' }, 'POST', `/v1/tasks/${taskId}/messages`, { content: 'x', mode: 'shout' }],
  ['send_message', { taskId: NONE, content: 'x' }, 'POST', `/v1/tasks/${NONE}/messages`, { content: 'x' }],
  ['answer_task', { taskId, interactionId: NONE, content: 'x' }, 'POST', `/v1/tasks/${taskId}/interaction`, { interactionId: NONE, content: 'x' }],
  ['answer_task', { taskId, interactionId: 5, content: 'x' }, 'POST', `/v1/tasks/${taskId}/interaction`, { interactionId: 5, content: 'x' }],
  ['cancel_task', { taskId: NONE }, 'POST', `/v1/tasks/${NONE}/cancel`],
  ['list_files', { taskId }, 'GET', `/v1/tasks/${taskId}/files?limit=20`],
  ['list_files', { taskId: NONE }, 'GET', `/v1/tasks/${NONE}/files?limit=20`],
  ['list_projects', { limit: 51 }, 'GET', '/v1/projects?limit=51'],
  ['list_projects', {}, 'GET', '/v1/projects?limit=20'],
  ['list_models', {}, 'GET', '/v1/models'],
  ['read_file', { fileId: NONE }, 'GET', `/v1/files/${NONE}/content`],
  ['list_automations', {}, 'GET', '/v1/automations?limit=20'],
  ['run_automation', { automationId: NONE }, 'POST', `/v1/automations/${NONE}/run`],
]; // prettier-ignore

describe('A tool call is its operation (reference §29)', () => {
  let member: Member;
  let taskId: string;
  const service = useService();
  const mcpOf = ({ key }: Member) => new McpClient(service.url, key.secret);
  beforeAll(async () => {
    member = await makeMember(service);
    taskId = (await createTask(member.client, { content: 'x' })).id;
  });

  /** Two of each: the limits of one are not taken by the other. */
  const callers: [who: string, make: () => Promise<Member>][] = [
    ['a member', () => makeMember(service, { workspace: member.workspace, role: 'owner' })],
    ['a viewer', () => makeMember(service, { workspace: member.workspace, role: 'viewer' })],
    ['a key without scopes', () => makeMember(service, { workspace: member.workspace, scopes: [] })],
    ['a key without files:write', () => makeMember(service, { workspace: member.workspace, role: 'admin', scopes: SCOPES.filter((one) => one !== 'files:write') })],
    ['another workspace', () => makeMember(service)],
  ]; // prettier-ignore

  it.each(callers)('answers, errors, limits and the audit log are those of the route: %s', async (_who, make) => {
    const [by, beside] = [await make(), await make()];
    let refused = 0;
    for (const [tool, args, method, path, json] of call(taskId)) {
      const through = await mcpOf(by).call(tool, args);
      const headers = { 'Idempotency-Key': randomUUID() };
      const direct = await beside.client.request<ErrorBody>(method, path, { headers, ...(json && { json }) });
      const about = [tool, args];
      if (direct.status === 403) refused += 1;
      expect([...about, through.status, through.headers.has('retry-after')]).toEqual([...about, 200, false]);
      const { result } = through.body;
      const told = LIMITS.map((name) => through.headers.get(name));
      expect([...about, told]).toEqual([...about, LIMITS.map((name) => direct.headers.get(name))]);
      if (direct.status >= 400) {
        const requestId = through.headers.get('x-request-id');
        expect([...about, result.isError]).toEqual([...about, true]);
        expect(result.structuredContent).toEqual({ error: { ...direct.body.error, requestId } });
        expect(result.content).toEqual([{ type: 'text', text: direct.body.error.message }]);
      } else {
        expect([...about, result.isError]).toEqual([...about, undefined]);
        expect(JSON.parse(result.content[0]?.text ?? '')).toEqual(result.structuredContent);
        if (method === 'GET') expect(unstable(result.structuredContent)).toEqual(unstable(direct.body));
      }
    }
    // Refusals go on record after their answers.
    const recorded = (who: Member) =>
      until('refusals to be on record', async () => {
        const all = (await acts(service, who)).map(({ action, outcome }) => `${action} ${outcome}`);
        return all.filter((one) => one.endsWith(' refused')).length === refused ? all.sort() : null;
      });
    expect(await recorded(by)).toEqual(await recorded(beside));
  });

  it('unknown and wrong arguments are errors that name them, also those that no route sees', async () => {
    const mcp = mcpOf(member);
    const wrong: [string, unknown, string, string][] = [
      ['create_task', { content: 'x', agent: 'a' }, 'unknown_field', 'agent'],
      ['create_task', { content: 'x', waitSeconds: 51 }, 'invalid_field', 'waitSeconds'],
      ['create_task', { content: 'x', waitSeconds: '5' }, 'invalid_field', 'waitSeconds'],
      ['create_task', { content: 'x', idempotencyKey: 5 }, 'invalid_field', 'idempotencyKey'],
      ['create_task', { content: 'x', uploadIds: 'x' }, 'invalid_field', 'uploadIds'],
      ['create_task', [], 'invalid_field', 'arguments'],
      ['get_task', {}, 'invalid_field', 'taskId'],
      ['get_task', { taskId: '' }, 'invalid_field', 'taskId'],
      ['get_task', { taskId: '../projects' }, 'invalid_field', 'taskId'],
      ['list_tasks', { status: ['running'] }, 'invalid_field', 'status'],
      ['read_file', { fileId: NONE, length: 49_153 }, 'invalid_field', 'length'],
      ['read_file', { fileId: NONE, offset: -1 }, 'invalid_field', 'offset'],
      ['upload_file', { name: 'a', text: 'a', base64: 'YQ==' }, 'invalid_field', 'text'],
      ['upload_file', { name: 'a', base64: 'no base64' }, 'invalid_field', 'base64'],
      ['upload_file', { text: 'a' }, 'invalid_field', 'name'],
      ['upload_file', { name: '', text: 'a' }, 'invalid_field', 'name'],
    ];
    for (const [tool, args, code, param] of wrong) {
      const { body } = await mcp.call<{ error: object }>(tool, args as Record<string, unknown>);
      const { isError, structuredContent } = body.result;
      expect([tool, args, isError, structuredContent.error]).toEqual([tool, args, true, expect.objectContaining({ code, param })]);
    }
  }); // prettier-ignore

  it('an unknown tool is -32602, and charged to metadata_read', async () => {
    for (const name of ['no_tool', 'toString', '', 5, null]) {
      const { status, body, headers } = await mcpOf(member).ask('tools/call', { name });
      expect([status, body.error.code, headers.get('x-ratelimit-policy')]).toEqual([200, -32602, 'metadata_read']);
    }
  });

  it('an Idempotency-Key works as with the route, in the scope of its path', async () => {
    const args = { content: 'once', idempotencyKey: randomUUID() };
    const first = await mcpOf(member).done<{ task: { id: string } }>('create_task', args);
    const again = await mcpOf(member).done<{ task: { id: string } }>('create_task', args);
    expect(again).toEqual(first);
    const direct = await member.client.post<{ task: { id: string } }>('/v1/tasks', { content: 'once' }, { headers: { 'Idempotency-Key': args.idempotencyKey } });
    expect([direct.headers.get('idempotent-replayed'), direct.body.task.id]).toEqual(['true', first.task.id]);
    const other = await mcpOf(member).call<ErrorBody>('create_task', { ...args, content: 'twice' });
    expect(other.body.result.structuredContent.error.code).toBe('idempotency_key_reused');
    // Without one each call is its own.
    const ids = [await mcpOf(member).done<{ task: { id: string } }>('create_task', { content: 'x' }), await mcpOf(member).done<{ task: { id: string } }>('create_task', { content: 'x' })];
    expect(new Set(ids.map(({ task }) => task.id)).size).toBe(2);
  }); // prettier-ignore

  it('links are made of the host that the client asks, and the request id is one', async () => {
    const own = await makeTask(service, member);
    const uploaded = await upload(service, member, 'text');
    const [file] = await attach(service, member, own, [uploaded.id]);
    const answer = await mcpOf(member).call<{ files: { id: string; downloadUrl: string }[] }>('list_files', { taskId: own }); // prettier-ignore
    const { files } = answer.body.result.structuredContent;
    expect(files.map(({ downloadUrl }) => downloadUrl)).toEqual([`${service.url}/v1/files/${file?.id}/content`]);
    expect(answer.body.result.content.slice(1)).toEqual([
      { type: 'resource_link', uri: `millwright://files/${file?.id}`, name: 'a.txt', mimeType: 'text/plain', size: 4 },
    ]);
    const old = await mcpOf(member).ask<ToolResult>('tools/call', { name: 'list_files', arguments: { taskId: own } });
    expect(old.body.result.content).toHaveLength(1);
    const { headers } = await mcpOf(member).call('create_task', { content: 'audited' });
    const ids = await service.db.query<{ id: string }>(`SELECT request_id AS id FROM audit_log WHERE action = 'task.create' ORDER BY at DESC LIMIT 1`); // prettier-ignore
    expect(ids[0]?.id).toBe(headers.get('x-request-id'));
  });

  it('a key that has ended is 401 of the API', async () => {
    const ended = await makeMember(service);
    await service.db.query(`UPDATE api_keys SET revoked_at = now() WHERE id = $1`, [ended.key.id]);
    const { status, body } = await mcpOf(ended).call('list_models');
    expect([status, (body as unknown as ErrorBody).error.code]).toEqual([401, 'invalid_credential']);
  });

  describe('Results', () => {
    it('a list that is too long has as many items as fit, and goes on where they end', async () => {
      const by = await makeMember(service);
      for (let n = 0; n < 8; n += 1) await createTask(by.client, { content: 'x', outputSchema: { description: `${n}`.repeat(12_000) } }); // prettier-ignore
      const seen: string[] = [];
      let cursor: string | undefined;
      let pages = 0;
      do {
        const args = { limit: 8, ...(cursor && { cursor }) };
        const page = await mcpOf(by).done<{ tasks: { id: string }[]; nextCursor: string | null }>('list_tasks', args);
        expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(48 * 1024);
        seen.push(...page.tasks.map(({ id }) => id));
        cursor = page.nextCursor ?? undefined;
        pages += 1;
      } while (cursor !== undefined);
      const { body } = await by.client.get<{ tasks: { id: string }[] }>('/v1/tasks');
      expect([seen, pages]).toEqual([body.tasks.map(({ id }) => id), 3]);
    });

    it('what is too long alone loses the middle of its longest texts, and names the route that has all', async () => {
      const content = `begin ${'ü'.repeat(100_000)} end`;
      const { id } = await createTask(member.client, { content });
      const { body } = await mcpOf(member).call<{ messages: { parts: { text: string }[] }[] }>('list_messages', { taskId: id }); // prettier-ignore
      const { structuredContent, content: items } = body.result;
      const text = structuredContent.messages[0]?.parts[0]?.text ?? '';
      expect(Buffer.byteLength(JSON.stringify(structuredContent))).toBeLessThanOrEqual(48 * 1024);
      expect(Buffer.byteLength(items[0]?.text ?? '')).toBeLessThanOrEqual(48 * 1024);
      expect(text).toMatch(/^begin ü+\n\[… \d+ characters are left out here; GET \/v1\/tasks\/[\w-]+\/messages\S* has all …\]\nü+ end$/); // prettier-ignore
    });
  });
});

/** Without what is another one for each caller: cursors, and in a workspace of their own ids, times and names. */
function unstable(json: unknown): unknown {
  const text = JSON.stringify(json)
    .replace(/"nextCursor":"[^"]*"/g, '"nextCursor":"…"')
    // What a task waits for is told after a while.
    .replace(/"waitingFor":\{[^}]*\}/g, '"waitingFor":null');
  return JSON.parse(text.replace(/"[\da-f]{8}-[\da-f-]{27}"|"\d{4}-\d\d-[^"]*Z"|"User \d+"/g, '"…"')) as unknown;
}

describe('Limits of tools (reference §29)', () => {
  const most = (capacity: number) => ({ capacity, windowSeconds: 3600 });
  const plan = {
    global: most(100),
    policies: { metadata_read: most(2), task_execution: most(2), resource_read: most(9), file_upload: most(9) },
  };
  const service = useService(() => bootApp({ config: { rateLimits: { free: plan, paid: plan } } }));

  it('each tool is charged to the buckets of its operation, once', async () => {
    const by = await makeMember(service);
    const mcp = new McpClient(service.url, by.key.secret);
    const taskId = await makeTask(service, by);
    const left = async (tool: string, args: object) => {
      const { headers } = await mcp.call(tool, args as Record<string, unknown>);
      return [headers.get('x-ratelimit-policy'), Number(headers.get('x-ratelimit-global-remaining'))] as const;
    };
    const charged: [string, object, string][] = [
      ['create_task', { content: 'x' }, 'task_execution'],
      ['answer_task', { taskId, interactionId: NONE }, 'task_execution'],
      ['cancel_task', { taskId }, 'resource_write'],
      ['list_tasks', {}, 'resource_read'],
      ['list_models', {}, 'metadata_read'],
      ['upload_file', { name: 'a', text: 'a' }, 'file_upload'],
      ['read_file', { fileId: NONE }, 'resource_read'],
    ];
    let [, before] = await left('list_models', {});
    for (const [tool, args, policy] of charged) {
      const [name, remaining] = await left(tool, args);
      expect([tool, name, before - remaining]).toEqual([tool, policy, 1]);
      before = remaining;
    }
  });

  it('a refused charge is 429 of the API for a method, and a result that says the seconds for a tool', async () => {
    const { key } = await makeMember(service);
    const mcp = new McpClient(service.url, key.secret);
    for (let n = 0; n < 2; n += 1) expect((await mcp.ask('ping')).status).toBe(200);
    const refused = await mcp.ask('ping');
    expect([refused.status, (refused.body as unknown as ErrorBody).error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1000);
    expect((await mcp.send({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(429);
    for (let n = 0; n < 2; n += 1) await mcp.done('create_task', { content: 'x' });
    const { status, headers, body } = await mcp.call<ErrorBody>('create_task', { content: 'x' });
    expect([status, headers.get('retry-after'), headers.get('x-ratelimit-remaining')]).toEqual([200, null, '0']);
    expect(body.result.isError).toBe(true);
    expect(body.result.structuredContent.error.code).toBe('rate_limit_exceeded');
    expect(body.result.content[0]?.text).toMatch(/try again in \d+ seconds\.$/);
  });
});
