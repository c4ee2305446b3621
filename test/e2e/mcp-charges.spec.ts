// What is charged for calls that need more than one request inside, and for methods of the extension.
import { type Scope, SCOPES } from '../../src/platform/http/endpoint.js';
import { bootApp, useService } from '../harness/app.js';
import { type Answer, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { attach, makeTask, upload } from '../harness/files.js';
import { McpClient, type RpcAnswer, type ToolResult } from '../harness/mcp.js';
import { Side } from '../harness/mcp-twins.js';
import { createTask } from '../harness/tasks.js';

type Json = Record<string, unknown>;
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const many = { capacity: 1000, windowSeconds: 86_400 };
const policies = { metadata_read: many, resource_read: many, resource_write: many, task_execution: many, file_upload: many }; // prettier-ignore
const plan = { global: many, policies };

describe('Charged once (reference §29)', () => {
  const service = useService(() => bootApp({ config: { rateLimits: { free: plan, paid: plan } } }));
  let side: Side;
  let owner: Member;
  let mcp: McpClient;
  beforeAll(async () => {
    side = await Side.make(service);
    ({ owner } = side);
    mcp = new McpClient(service.url, owner.key.secret);
  });
  /** What is left of the bucket and of all; by a request that is charged to that bucket too. */
  const left = async (path: string, json?: object): Promise<[number, number]> => {
    const { headers } = await (json ? owner.client.post(path, json) : owner.client.get(path));
    return [Number(headers.get('x-ratelimit-remaining')), Number(headers.get('x-ratelimit-global-remaining'))];
  };
  const said = ({ headers }: Answer<unknown>) => [headers.get('x-ratelimit-policy'), Number(headers.get('x-ratelimit-remaining')), Number(headers.get('x-ratelimit-global-remaining'))]; // prettier-ignore
  /** A call between two readings: itself and the second of them are two. */
  async function charges<R>(policy: string, path: string, json: object | undefined, call: () => Promise<Answer<RpcAnswer<R>>>): Promise<R> {
    const [own, all] = await left(path, json);
    const answer = await call();
    expect(said(answer)).toEqual([policy, own - 1, all - 1]);
    expect(await left(path, json)).toEqual([own - 2, all - 2]);
    return answer.body.result;
  } // prettier-ignore
  const read = <R>(call: () => Promise<Answer<RpcAnswer<R>>>) =>
    charges('resource_read', '/v1/projects', undefined, call);
  const NO_TASK = { content: '' };
  const execute = <R>(call: () => Promise<Answer<RpcAnswer<R>>>) =>
    charges('task_execution', '/v1/tasks', NO_TASK, call);

  it('a list that is asked for again', async () => {
    for (let n = 0; n < 6; n += 1) await createTask(owner.client, { content: 'x', outputSchema: { description: 'x'.repeat(12_000) } }); // prettier-ignore
    const result = await read(() => mcp.call<{ tasks: object[] }>('list_tasks', {}));
    expect(result.structuredContent.tasks.length).toBeLessThan(6);
  });

  it('an image that is read a second time as a whole', async () => {
    const bytes = Buffer.concat([Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64'), Buffer.alloc(200_000, 7)]); // prettier-ignore
    const { id } = await upload(service, owner, bytes, { name: 'a.png', type: 'image/png' });
    const [file] = await attach(service, owner, await makeTask(service, owner), [id]);
    const result = await read(() => mcp.call('read_file', { fileId: file?.id }));
    expect(result.content[0]?.type).toBe('image');
  });

  it('a wait, of what reads and of what creates', async () => {
    const { id: taskId } = await createTask(owner.client, { content: 'x' });
    await read(() => mcp.call('get_task', { taskId, waitSeconds: 1 }));
    await execute(() => mcp.call('create_task', { content: 'x', waitSeconds: 1 }));
  });

  it('a question that is read before its answer: each of the two requests of the client once', async () => {
    const { asking, interaction } = await side.things();
    const ask = (more: Json = {}) => mcp.askModern<ToolResult>('tools/call', { name: 'answer_task', arguments: { taskId: asking, interactionId: interaction }, ...more }, { elicitation: {} }); // prettier-ignore
    expect((await execute(() => ask())).resultType).toBe('input_required');
    const inputResponses = { [interaction]: { action: 'accept', content: { answer: 'Yes.' } } };
    expect((await execute(() => ask({ inputResponses }))).isError).toBeUndefined();
  });

  it('tasks/get as a reading, tasks/update as an execution, whatever they read', async () => {
    const { asking, interaction } = await side.things();
    const ask = (method: string, more: Json = {}) => mcp.askModern<{ status: string }>(method, { taskId: `${asking}.1`, ...more }, TASKS); // prettier-ignore
    expect((await read(() => ask('tasks/get'))).status).toBe('input_required');
    const inputResponses = { [interaction]: { action: 'accept', content: { answer: 'Yes.' } } };
    await execute(() => ask('tasks/update', { inputResponses }));
    expect((await read(() => ask('tasks/get'))).status).toBe('working');
  });

  it('a wrong argument, and one who may not, are charged to the operation too', async () => {
    await execute(() => mcp.call('create_task', { content: 'x', waitSeconds: 99 }));
    await execute(() => mcp.call('create_task', { content: 'x', colour: 'red' }));
    await read(() => mcp.call('get_task', {}));
  });
});

describe('Who may use the extension (reference §29)', () => {
  const service = useService();
  let side: Side;
  beforeAll(async () => {
    side = await Side.make(service);
  });

  it.each<[string, Scope[], boolean]>([
    ['tasks/get', ['tasks:read'], false],
    ['tasks/get', ['tasks:write'], true],
    ['tasks/update', ['tasks:read'], false],
    ['tasks/update', ['tasks:write'], false],
    ['tasks/cancel', ['tasks:read'], false],
    ['tasks/cancel', ['tasks:write'], false],
    ['tasks/cancel', ['files:read', 'files:write'], true],
  ])('%s by a key without %s; works: %s', async (method, gone, works) => {
    const { asking, interaction } = await side.things();
    const scopes = SCOPES.filter((one) => !gone.includes(one));
    const { key } = await makeMember(service, { workspace: side.owner.workspace, role: 'admin', scopes });
    const inputResponses = { [interaction]: { action: 'accept', content: { answer: 'Yes.' } } };
    const params = { taskId: `${asking}.1`, inputResponses };
    const { status, body } = await new McpClient(service.url, key.secret).askModern(method, params, TASKS);
    expect(status).toBe(200);
    if (works) return expect(body.error).toBeUndefined();
    expect([body.error.code, (body.error.data as unknown as ErrorBody).error.code]).toEqual([-32602, 'missing_scope']);
    expect(body.error.message).toContain(gone[0]);
  });

  it('an answer counts once: again it answers nothing, and neither does one behind another’s', async () => {
    const { asking, interaction } = await side.things();
    const mcp = new McpClient(service.url, side.owner.key.secret);
    const update = (answer: string) => mcp.askModern('tasks/update', { taskId: `${asking}.1`, inputResponses: { [interaction]: { action: 'accept', content: { answer } } } }, TASKS); // prettier-ignore
    expect((await update('The first.')).body.error).toBeUndefined();
    expect((await update('The second.')).body.error).toBeUndefined();
    const direct = await side.owner.client.post<ErrorBody>(`/v1/tasks/${asking}/interaction`, { interactionId: interaction, content: 'The third.' }); // prettier-ignore
    expect(direct.body.error.code).toBe('interaction_not_pending');
    const messages = (await side.owner.client.get(`/v1/tasks/${asking}/messages`)).text;
    expect([messages.includes('The first.'), messages.includes('The second.')]).toEqual([true, false]);
    const other = await side.things();
    const given = await side.owner.client.post(`/v1/tasks/${other.asking}/interaction`, { interactionId: other.interaction, content: 'By another.' }); // prettier-ignore
    expect(given.status).toBe(202);
    const late = await mcp.askModern('tasks/update', { taskId: `${other.asking}.1`, inputResponses: { [other.interaction]: { action: 'accept', content: { answer: 'Late.' } } } }, TASKS); // prettier-ignore
    expect(late.body.error).toBeUndefined();
    expect((await side.owner.client.get(`/v1/tasks/${other.asking}/messages`)).text).not.toContain('Late.');
  });
});
