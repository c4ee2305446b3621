import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { OlderMcpServer } from '../harness/mcp/older-server.js';
import { bootWithServers, programOf } from '../harness/mcp/worker.js';
import { byMarkers, ModelServer } from '../harness/model-server.js';
import { call, createTask, finished, readResults, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const OLDER = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
const FORMS = ['events', 'json'] as const;
const EACH = OLDER.flatMap((revision) => FORMS.map((form) => ({ revision, form, name: `${form[0]}${revision}` })));

describe('Revisions of the protocol (reference §28)', () => {
  let model: ModelServer;
  let ann: Member;
  const older = new Map<string, OlderMcpServer>();
  const service = useService(async () => {
    model = await ModelServer.start(byMarkers);
    for (const { revision, form, name } of EACH) older.set(name, await OlderMcpServer.start(revision, form));
    const url = ([name, { url }]: [string, OlderMcpServer]) => [name, { url, readOnly: ['*'], timeoutSeconds: 20 }];
    const servers = Object.fromEntries([...older].map(url)) as object;
    return bootWithServers(model, { ...servers, modern: programOf('modern.mjs') });
  });
  beforeAll(async () => {
    ann = await makeMember(service);
  });
  afterAll(async () => {
    await Promise.all([model.stop(), ...[...older.values()].map((one) => one.stop())]);
  });

  const done = async (server: string, ...tools: string[]) => {
    const content = script(...tools.map((name) => call(`mcp__${server}__${name}`, {})));
    const { id } = await createTask(ann.client, { content, model: 'scripted', mcpServers: [server] });
    expect((await finished(ann.client, id)).status).toBe('completed');
    const { body } = await ann.client.get<{ mcpServers: { name: string; revision: string }[] }>('/v1/mcp-servers');
    const revision = body.mcpServers.find(({ name }) => name === server)?.revision;
    return { revision, results: await readResults(ann.client, id) };
  };

  it.each(EACH)(
    '$revision by HTTP with $form: a session, no capability, and its end',
    async ({ revision, form, name }) => {
      const { revision: seen, results } = await done(name, 'get_page', 'ask_person');
      expect(seen).toBe(revision);
      expect(results[0]?.output).toEqual({ text: 'called get_page' });
      const server = older.get(name);
      if (server === undefined) throw new Error('It is there.');
      const greeting = server.took.find(({ method }) => method === 'initialize');
      expect(greeting?.params?.capabilities).toEqual({});
      const calls = server.took.filter(({ method }) => method === 'tools/call');
      for (const { headers } of calls) {
        expect(headers).toMatchObject({ 'mcp-session-id': `session-of-${revision}`, 'mcp-protocol-version': revision });
      }
      if (form === 'events') {
        expect(results[1]?.error).toBe(
          'nobody answered\nThe server asked for sampling/createMessage, which it is not given.',
        );
        expect(server.took.find(({ id, method }) => id === 'q1' && method === undefined)?.error?.code).toBe(-32601);
      }
      await until('the session to be over', () => server.ended.length > 0);
      expect(new Set(server.ended)).toEqual(new Set([`session-of-${revision}`]));
    },
  );

  it('2026-07-28 by standard input and output: no capability, and input is declined and said', async () => {
    const { revision, results } = await done('modern', 'get_meta', 'ask_person');
    expect(revision).toBe('2026-07-28');
    const meta = JSON.parse((results[0]?.output as { text: string }).text) as Record<string, unknown>;
    expect(meta['io.modelcontextprotocol/clientCapabilities']).toEqual({});
    expect(meta['io.modelcontextprotocol/protocolVersion']).toBe('2026-07-28');
    expect(results[1]).toMatchObject({
      status: 'error',
      error: 'The server modern asks for input of a person, which it is not given.',
    });
  });
});
