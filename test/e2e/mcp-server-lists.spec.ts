import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { McpHttpServer } from '../harness/mcp/http-server.js';
import { bootWithServers, programOf } from '../harness/mcp/worker.js';
import { byMarkers, ModelServer } from '../harness/model-server.js';
import { call, createTask, finished, script } from '../harness/tasks.js';

describe('Lists of servers and workspaces (reference §28)', () => {
  let model: ModelServer;
  let remote: McpHttpServer;
  let [ann, bob]: Member[] = [];
  const service = useService(async () => {
    model = await ModelServer.start(byMarkers);
    remote = await McpHttpServer.start([{ name: 'get_page', inputSchema: { type: 'object' } }]);
    return bootWithServers(model, { local: programOf('hostile.mjs', 'workdir'), remote: { url: remote.url } });
  });
  beforeAll(async () => {
    [ann, bob] = [await makeMember(service), await makeMember(service)];
  });
  afterAll(async () => {
    await Promise.all([model.stop(), remote.stop()]);
  });

  const member = (one: Member | undefined) => {
    if (one === undefined) throw new Error('There is one.');
    return one.client;
  };
  const offered = () => (model.requests.at(-1)?.body.tools ?? []).map((tool) => tool.function.name);
  const seen = async (one: Member | undefined) => {
    const { body } = await member(one).get<{ mcpServers: { name: string; status: string; tools: { name: string }[] | null }[] }>('/v1/mcp-servers'); // prettier-ignore
    return Object.fromEntries(
      body.mcpServers.map(({ name, status, tools }) => [name, [status, ...(tools ?? []).map((tool) => tool.name)]]),
    );
  };

  it('those of a program follow from files of a task, and are for its workspace alone', async () => {
    const content = script(call('write', { path: '/workdir/tools.txt', content: 'of_ann' }));
    const { id } = await createTask(member(ann), { content, model: 'scripted', mcpServers: [] });
    expect((await finished(member(ann), id)).status).toBe('completed');
    expect((await member(ann).patch(`/v1/tasks/${id}`, { mcpServers: ['local', 'remote'] })).status).toBe(200);
    expect((await member(ann).post(`/v1/tasks/${id}/messages`, { content: script({ text: 'Done.' }) })).status).toBe(202); // prettier-ignore
    await finished(member(ann), id);
    expect(offered()).toContain('mcp__local__of_ann');
    expect(await seen(ann)).toEqual({ local: ['ready', 'of_ann'], remote: ['ready', 'get_page'] });
    expect(await seen(bob)).toEqual({ local: ['unknown'], remote: ['ready', 'get_page'] });

    const others = await createTask(member(bob), { content: 'x', model: 'scripted', mcpServers: ['local'] });
    await finished(member(bob), others.id);
    expect(offered()).toContain('mcp__local__sound');
    expect(offered()).not.toContain('mcp__local__of_ann');
    expect((await seen(bob))['local']).toEqual(['ready', 'sound']);
    expect((await seen(ann))['local']).toEqual(['ready', 'of_ann']);
  });
});
