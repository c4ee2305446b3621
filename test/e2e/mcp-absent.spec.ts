// Servers that are not there for a time, or not any more.
import { bootApp, bootWorker, type TestApp, useService } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { McpHttpServer } from '../harness/mcp/http-server.js';
import { bootWithServers, programOf, PROGRAMS } from '../harness/mcp/worker.js';
import { byMarkers, ModelServer } from '../harness/model-server.js';
import { temporaryFolder } from '../harness/service.js';
import { call, createTask, finished, readResults, readTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('A server that a task cannot do without, and that is away (reference §28, §5)', () => {
  let model: ModelServer;
  let remote: McpHttpServer;
  const service = useService(async () => {
    model = await ModelServer.start(byMarkers);
    remote = await McpHttpServer.start([{ name: 'get_page', inputSchema: { type: 'object' } }]);
    const needed = { url: remote.url, readOnly: ['*'], required: true };
    return bootWithServers(model, { needed });
  });
  afterAll(async () => {
    await Promise.all([model.stop(), remote.stop()]);
  });

  it('is waited for by a task that waits for what blocks it, which goes on when it is there', async () => {
    const { client } = await makeMember(service);
    remote.listed = { status: 503 };
    const content = script(call('mcp__needed__get_page', {}));
    const given = { content, model: 'scripted', mcpServers: ['needed'], whenBlocked: 'wait' };
    const { id } = await createTask(client, given);
    const waiting = await until('the task to wait', async () => {
      const task = (await readTask(client, id)) as Awaited<ReturnType<typeof readTask>> & { resumesAt: string | null };
      return task.statusReason?.code === 'mcp_unavailable' ? task : null;
    });
    expect(waiting).toMatchObject({ status: 'queued', finishedAt: null, resumesAt: expect.any(String) as string });
    expect(waiting.statusReason?.message).toContain('needed');
    remote.listed = null;
    await service.db.query('UPDATE tasks SET resumes_at = now() WHERE id = $1', [id]);
    expect((await finished(client, id)).status).toBe('completed');
    expect(await readResults(client, id)).toMatchObject([{ status: 'success', output: { text: 'called get_page' } }]);
  });
});

describe('A server that is gone from the configuration (reference §28)', () => {
  const folder = temporaryFolder();
  const docs = { ...programOf('program.mjs', 'plain'), readOnly: ['*'] };
  let [model, db, service] = [] as unknown as [ModelServer, TestDatabase, TestApp];
  let ann: Member;
  beforeAll(async () => {
    model = await ModelServer.start(byMarkers);
    db = await createDatabase();
  });
  afterAll(async () => {
    await service.close();
    await Promise.all([model.stop(), db.drop()]);
    folder.remove();
  });

  /** The service on the same database and folder, with these servers. */
  const restart = async (boot: typeof bootWorker, mcpServers: Record<string, typeof docs>) => {
    await service?.close();
    const models = [{ id: 'scripted', provider: 'openai-compatible' as const }];
    const config = { models, titles: false, sandbox: { programs: [PROGRAMS] }, mcpServers };
    service = await boot({ db, env: { DATA_DIR: folder.path, OPENAI_COMPATIBLE_URL: model.url }, config });
  };
  const client = () => new Client(service.url, ann.key.secret);

  it('leaves a run going: the first message says so, and later the error of a call', async () => {
    await restart(bootWorker, { docs, other: docs });
    ann = await makeMember(service);
    const create = (...steps: Parameters<typeof script>) =>
      createTask(client(), { content: script(...steps), model: 'scripted', mcpServers: ['docs', 'other'] });
    const echo = (server: string) => call(`mcp__${server}__echo`, { message: server });
    const begun = await create(echo('docs'));
    expect((await finished(client(), begun.id)).status).toBe('completed');
    // Made while it was there, and first worked on when it is gone.
    await restart(bootApp, { docs, other: docs });
    const made = await create(echo('other'));
    await restart(bootWorker, { other: docs });

    expect((await finished(client(), made.id)).status).toBe('completed');
    const gone = '- docs cannot be used: the operator offers it no more. Its tools are not there.';
    expect(JSON.stringify(model.requests.at(-1))).toContain(gone);
    expect(await readResults(client(), made.id)).toMatchObject([{ status: 'success' }]);
    const { body } = await client().get<{ task: { mcpServers: string[] } }>(`/v1/tasks/${made.id}`);
    expect(body.task.mcpServers).toEqual(['docs', 'other']);

    const content = script(echo('docs'), echo('other'));
    expect((await client().post(`/v1/tasks/${begun.id}/messages`, { content })).status).toBe(202);
    expect((await finished(client(), begun.id)).status).toBe('completed');
    const [, second, third] = await readResults(client(), begun.id);
    expect(second).toMatchObject({
      status: 'error',
      error: 'The server docs is not there any more; nothing was sent.',
    });
    expect(third).toMatchObject({ status: 'success', output: { text: 'echo {"message":"other"}' } });
  });
});
