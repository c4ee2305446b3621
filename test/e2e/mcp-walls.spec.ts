// What one workspace has and does, from the other one's side of POST /mcp.
import { v7 as uuidv7 } from 'uuid';
import { makeCases } from '../contract/places.js';
import { World } from '../contract/world.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { McpClient, type ToolResult } from '../harness/mcp.js';
import { type Asked, belongings, CANARY, makeAsked } from '../harness/neighbours.js';
import { createTask } from '../harness/tasks.js';

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** The tools that name a thing: with the kind of the thing, and the arguments that do it. */
const NAMING: [tool: string, kind: string, args: (id: string) => Record<string, unknown>][] = [
  ['create_task', 'projectId', (projectId) => ({ content: 'x', projectId })],
  ['create_task', 'uploadId', (uploadId) => ({ content: 'x', uploadIds: [uploadId] })],
  ['get_task', 'taskId', (taskId) => ({ taskId })],
  ['get_task', 'taskId', (taskId) => ({ taskId, waitSeconds: 1 })],
  ['list_tasks', 'projectId', (projectId) => ({ projectId })],
  ['list_messages', 'taskId', (taskId) => ({ taskId })],
  ['send_message', 'taskId', (taskId) => ({ taskId, content: 'x' })],
  ['send_message', 'taskId', (taskId) => ({ taskId, content: 'x', waitSeconds: 1 })],
  ['answer_task', 'taskId', (taskId) => ({ taskId, interactionId: uuidv7(), content: 'x' })],
  ['answer_task', 'taskId', (taskId) => ({ taskId, interactionId: uuidv7() })],
  ['cancel_task', 'taskId', (taskId) => ({ taskId })],
  ['list_files', 'taskId', (taskId) => ({ taskId })],
  ['read_file', 'fileId', (fileId) => ({ fileId })],
  ['run_automation', 'automationId', (automationId) => ({ automationId })],
];
const LISTS = ['list_tasks', 'list_projects', 'list_models', 'list_automations'];

describe('What another workspace has, asked for through MCP (reference §29, §3)', () => {
  let world: World;
  let asked: Asked;
  let before: Record<string, string>;
  let callers: McpClient[];
  let secrets: string[];
  let probes = 0;

  beforeAll(async () => {
    world = await World.make({ plans: { paid: { activeAutomations: 100_000 } } });
    asked = await makeAsked(world);
    const here = [...(await makeCases(world.service, ['own'], asked.guests)).values()].flat();
    const keys = new Set(here.map(({ caller }) => caller.key.secret));
    callers = [...keys].map((key) => new McpClient(world.service.url, key));
    const { userId: _known, ...ids } = asked.ids;
    secrets = [CANARY, ...Object.values(ids).flat()];
    before = await belongings(world.service, asked.workspace.id);
  });
  afterAll(() => world.service.close());

  const theirs = (kind: string): string[] => {
    const ids = asked.ids[kind] ?? [];
    if (ids.length === 0) throw new Error(`Nothing of the kind ${kind} is there.`);
    return ids;
  };
  /** An answer without what is another one each time, and without the id that was asked for. */
  const plain = (text: string, id: string) =>
    text.replaceAll(id, 'ID').replace(/"requestId":"[^"]*"/g, '"requestId":""');
  const clean = (text: string, id = '') => {
    probes += 1;
    const told = secrets.filter((one) => one !== id && text.includes(one));
    expect([told, text.slice(0, told.length === 0 ? 0 : 500)]).toEqual([[], '']);
  };

  it.each(NAMING)('%s by a foreign %s is as by one that nothing has', async (tool, kind, args) => {
    for (const mcp of callers) {
      const none = uuidv7();
      const capable = { elicitation: {} };
      const ask = async (id: string) => {
        const params = { name: tool, arguments: args(id) };
        const { status, text } = await mcp.askModern<ToolResult>('tools/call', params, capable);
        clean(text, id);
        return [status, plain(text, id)];
      };
      const unknown = await ask(none);
      for (const id of theirs(kind).slice(0, 4)) expect(await ask(id)).toEqual(unknown);
    }
  });

  it('so are resources, and tasks of the extension', async () => {
    for (const mcp of callers) {
      const ask = async (method: string, params: (id: string) => Record<string, unknown>, id: string) => {
        const { status, text } = await mcp.askModern(method, params(id), TASKS);
        clean(text, id);
        return [status, plain(text, id)];
      };
      const uri = (id: string) => ({ uri: `millwright://files/${id}` });
      const unknown = await ask('resources/read', uri, uuidv7());
      for (const id of theirs('fileId').slice(0, 4)) expect(await ask('resources/read', uri, id)).toEqual(unknown);
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
        const turn = (id: string) => ({ taskId: `${id}.1`, inputResponses: {} });
        const none = await ask(method, turn, uuidv7());
        for (const id of theirs('taskId').slice(0, 4)) expect(await ask(method, turn, id)).toEqual(none);
      }
    }
  });

  it('lists, and cursors of it, have nothing of it', async () => {
    for (const mcp of callers) {
      for (const tool of LISTS) clean((await mcp.call(tool)).text);
      for (const { cursor } of asked.cursors.values()) clean((await mcp.call('list_tasks', { cursor })).text);
    }
  });

  it('nothing of it has changed', async () => {
    expect(await belongings(world.service, asked.workspace.id)).toEqual(before);
    expect(probes).toBeGreaterThan(300);
  });
});

describe('Many calls at once (reference §29)', () => {
  const service = useService(bootApp);
  const median = (all: number[]) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;

  it('200 of one workspace are all answered, and another one’s reads come between them', async () => {
    const [busy, quiet] = [await makeMember(service), await makeMember(service)];
    const { id: taskId } = await createTask(busy.client, { content: 'x' });
    const { id } = await createTask(quiet.client, { content: 'x' });
    const mcp = new McpClient(service.url, busy.key.secret);
    const read = async () => {
      const began = performance.now();
      expect((await quiet.client.get(`/v1/tasks/${id}`)).status).toBe(200);
      return performance.now() - began;
    };
    let done = 0;
    const calls = Array.from({ length: 200 }, (_, n) => {
      const [tool, args] = n % 4 === 0 ? ['create_task', { content: 'x' }] : ['get_task', { taskId }];
      return mcp.call(tool, args).finally(() => (done += 1));
    });
    const during: number[] = [];
    const began = performance.now();
    const left: number[] = [];
    while (done < 200 && during.length < 200) {
      during.push(await read());
      left.push(200 - done);
    }
    const answers = await Promise.all(calls);
    expect(answers.filter(({ status, body }) => status !== 200 || body.result.isError).length).toBe(0);
    // They did not wait for all the others: many were still under way when the first of them had been read.
    expect(left[0]).toBeGreaterThan(100);
    expect(median(during)).toBeLessThan((performance.now() - began) / 4);
  });
});
