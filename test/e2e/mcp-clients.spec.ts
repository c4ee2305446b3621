// The official clients of the protocol, as people's tools use them, against the service.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';
import type { JsonValue } from '@modelcontextprotocol/ext-tasks/core';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { McpClient, REVISION, type ToolResult } from '../harness/mcp.js';
import type { TaskBody } from '../harness/tasks.js';

const CONTENT = `
\`\`\`ask
Which colour?

- red: Red
- blue: Blue
\`\`\`

\`\`\`sh
echo "chosen $ANSWER" > chosen.txt
\`\`\`

\`\`\`publish path=chosen.txt
\`\`\`
`;

/** What the tests use of a client, whichever it is. */
interface Used {
  listTools(): Promise<{ tools: { name: string }[] }>;
  listResources(): Promise<{ resources: object[] }>;
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>;
  readResource(params: { uri: string }): Promise<{ contents: object[] }>;
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

let member: Member;
const service = useService(() => bootWorker({ config: { models: [{ id: 'runbook', provider: 'runbook' }] } }));
beforeAll(async () => {
  member = await makeMember(service);
});
const url = () => new URL('/mcp', service.url);
const requestInit = () => ({ headers: { Authorization: `Bearer ${member.key.secret}` } });
const ABOUT = { name: 'a-client', version: '1' };
type Mode = 'legacy' | 'auto' | { pin: string };

const newClient = (mode: Mode, capabilities = {}): Client =>
  new Client(ABOUT, { capabilities, versionNegotiation: { mode } });
async function v2(mode: Mode, revision: string): Promise<Used> {
  const client = newClient(mode);
  await client.connect(new StreamableHTTPClientTransport(url(), { requestInit: requestInit() }));
  expect(client.getNegotiatedProtocolVersion()).toBe(revision);
  return client;
}
async function v1(): Promise<Used> {
  const client = new ClientV1(ABOUT);
  await client.connect(new TransportV1(url(), { requestInit: requestInit() }));
  return client;
}

const CLIENTS: [string, () => Promise<Used>][] = [
  ['v1', v1],
  ['v2, legacy', () => v2('legacy', '2025-11-25')],
  ['v2, auto', () => v2('auto', '2026-07-28')],
  ['v2, pinned to 2026-07-28', () => v2({ pin: '2026-07-28' }, '2026-07-28')],
];

describe('Official clients (reference §29)', () => {
  it.each(CLIENTS)('%s drives a task from its beginning to its file', async (_name, open) => {
    const client = await open();
    const call = async <T>(name: string, args: Record<string, unknown> = {}) => {
      const result = (await client.callTool({ name, arguments: args })) as ToolResult<T>;
      if (result.isError) throw new Error(result.content[0]?.text);
      return result.structuredContent;
    };
    try {
      expect((await client.listTools()).tools).toHaveLength(14);
      expect((await client.listResources()).resources).toEqual([]);
      expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
      const { task } = await call<{ task: TaskBody }>('create_task', { content: CONTENT, waitSeconds: 50 });
      expect([task.status, task.pendingInteraction?.question]).toEqual(['awaiting_input', 'Which colour?']);
      const args = {
        taskId: task.id,
        interactionId: task.pendingInteraction?.id,
        optionIds: ['blue'],
        waitSeconds: 50,
      };
      expect((await call<{ task: TaskBody }>('answer_task', args)).task.status).toBe('completed');
      const { files } = await call<{ files: { id: string; name: string }[] }>('list_files', { taskId: task.id });
      expect(files.map(({ name }) => name)).toEqual(['chosen.txt']);
      const uri = `millwright://files/${files[0]?.id}`;
      expect((await client.readResource({ uri })).contents).toMatchObject([{ uri, text: 'chosen blue\n' }]);
      expect(await call('read_file', { fileId: files[0]?.id })).toMatchObject({ text: 'chosen blue\n' });
      const wrong = (await client.callTool({ name: 'get_task', arguments: { taskId: 'nonsense' } })) as ToolResult;
      expect([wrong.isError, wrong.content[0]?.text]).toEqual([true, 'There is no such task.']);
      await expect(client.callTool({ name: 'no_tool', arguments: {} })).rejects.toMatchObject({ code: -32602 });
    } finally {
      await client.close();
    }
  });

  it('a client that can ask its user asks for the answer, and sends it', async () => {
    const client = newClient({ pin: '2026-07-28' }, { elicitation: { form: {} } });
    let asked: unknown;
    client.setRequestHandler('elicitation/create', (request) => {
      asked = request.params;
      return Promise.resolve({ action: 'accept', content: { option: 'red' } });
    });
    await client.connect(new StreamableHTTPClientTransport(url(), { requestInit: requestInit() }));
    try {
      const call = async (name: string, args: Record<string, unknown>) =>
        ((await client.callTool({ name, arguments: args })) as unknown as ToolResult<{ task: TaskBody }>).structuredContent.task; // prettier-ignore
      const task = await call('create_task', { content: CONTENT, waitSeconds: 50 });
      const done = await call('answer_task', { taskId: task.id, interactionId: task.pendingInteraction?.id, waitSeconds: 50 }); // prettier-ignore
      expect(asked).toMatchObject({ mode: 'form', message: 'Which colour?' });
      expect(done.status).toBe('completed');
    } finally {
      await client.close();
    }
  });

  it('the client of the extension Tasks drives one, answers its question, and takes it up again', async () => {
    const answer = () => ({ action: 'accept', content: { option: 'blue' } });
    const [session, later] = [await taskSession(answer), await taskSession(answer)];
    try {
      const execution = await session.callTool('create_task', { content: CONTENT });
      if (execution.kind !== 'task') throw new Error('It is no task.');
      // A session that begins later knows it by its reference.
      const reference = execution.serializeReference();
      await execution.detach();
      const { outcome } = await (await later.resumeTask(reference)).settle();
      const { structuredContent } = resultFromTaskOutcome(outcome) as unknown as ToolResult<{ task: TaskBody }>;
      expect(structuredContent.task.status).toBe('completed');
      const { files } = (await member.client.get<{ files: { id: string }[] }>(`/v1/tasks/${structuredContent.task.id}/files`)).body; // prettier-ignore
      expect((await member.client.get(`/v1/files/${files[0]?.id}/content`)).text).toBe('chosen blue\n');
    } finally {
      await Promise.all([session.close(), later.close()]);
    }
  });

  it('the client of the extension Tasks cancels one', async () => {
    const session = await taskSession(() => new Promise(() => {}));
    try {
      const execution = await session.callTool('create_task', { content: CONTENT });
      await execution.cancel();
      expect((await execution.settle()).outcome.status).toBe('cancelled');
    } finally {
      await session.close();
    }
  });

  /** What the package itself leaves to the program that uses it: sending its requests as they are. */
  async function taskSession(answer: () => object | Promise<object>) {
    const capabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const client = newClient({ pin: REVISION }, capabilities);
    await client.connect(new StreamableHTTPClientTransport(url(), { requestInit: requestInit() }));
    const mcp = new McpClient(service.url, member.key.secret);
    return createTaskSessionFromClient(client, {
      endpointId: 'millwright',
      v2RequestFraming: { protocolVersion: REVISION, clientInfo: ABOUT, clientCapabilities: capabilities },
      rawDispatch: async (request) => {
        const { method, params } = request as { method: string; params: Record<string, string> };
        const name = params['name'] ?? params['taskId'];
        const headers = { 'MCP-Protocol-Version': REVISION, 'Mcp-Method': method, ...(name && { 'Mcp-Name': name }) };
        const { body } = await mcp.ask(method, params, headers);
        return body.error === undefined ? { kind: 'result', result: body.result as JsonValue } : { kind: 'error', error: body.error as never }; // prettier-ignore
      },
      onInputRequest: answer as never,
    });
  }
});
