// Which servers a task has when its agent or its environment names some.
import { changeAgent, createAgent, postAgent } from '../harness/agents.js';
import { bootWorker, useService } from '../harness/app.js';
import { createAutomation } from '../harness/automation-requests.js';
import { runs } from '../harness/automations.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { changeEnvironment, createEnvironment, postEnvironment } from '../harness/environments.js';
import { connect, deliver, github } from '../harness/hooks.js';
import { ModelServer } from '../harness/model-server.js';
import { delegate, part, SubtaskBench } from '../harness/subtasks.js';

interface Task {
  task: { id: string; mcpServers: string[] };
}

describe('The servers of tasks with an agent or an environment (reference §25, §27.5, §28)', () => {
  let model: ModelServer;
  let owner: Member;
  let member: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    const absent = { command: 'no-such-program' };
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: {
        titles: false,
        models: [{ id: 'scripted', provider: 'openai-compatible' }],
        mcpServers: {
          ...{ docs: { ...absent, default: true }, more: absent, other: absent },
          remote: { url: 'http://127.0.0.1:1/mcp' },
        },
      },
    });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    member = await makeMember(service, { workspace: owner.workspace });
  });
  afterAll(() => model.stop());

  const make = (json: object, who = member) =>
    who.client.post<Task & ErrorBody>('/v1/tasks', { content: 'x', ...json });
  const serversOf = async (json: object, who?: Member) => (await make(json, who)).body.task.mcpServers;
  const refusal = ({ status, body }: { status: number; body: ErrorBody }) => [
    status,
    body.error.code,
    body.error.param,
  ];

  it('are those of the agent, of which a member may name fewer, and an owner others', async () => {
    const agent = (await createAgent(owner.client, { mcpServers: ['more', 'other'] })) as object;
    expect(agent).toMatchObject({ mcpServers: ['more', 'other'] });
    const named = { agent: 'reviewer' };
    expect(await serversOf(named)).toEqual(['more', 'other']);
    expect(await serversOf({ ...named, mcpServers: ['other', 'docs'] })).toEqual(['other']);
    expect(await serversOf({ ...named, mcpServers: ['docs'] }, owner)).toEqual(['docs']);
    expect(refusal(await make({ ...named, mcpServers: ['nothing'] }))).toEqual([400, 'invalid_field', 'mcpServers[0]']);
    const { task } = (await make(named)).body;
    const patch = async (who: Member, mcpServers: string[]) =>
      (await who.client.patch<Task>(`/v1/tasks/${task.id}`, { mcpServers })).body.task.mcpServers;
    expect(await patch(member, ['docs', 'more'])).toEqual(['more']);
    expect(await patch(owner, ['docs', 'more'])).toEqual(['docs', 'more']);
  });

  it('of an agent are a part of its version; null says nothing of them, and so does an agent of before', async () => {
    const { slug } = await createAgent(owner.client);
    expect(await serversOf({ agent: slug })).toEqual(['docs']);
    await service.db.query(`UPDATE agent_versions SET definition = (definition::jsonb - 'mcpServers')::json`);
    expect((await owner.client.get<{ agent: object }>(`/v1/agents/${slug}`)).body.agent).toMatchObject({
      mcpServers: null,
    });
    expect((await changeAgent(owner.client, slug, { mcpServers: null })).version).toBe(1);
    expect(await serversOf({ agent: slug })).toEqual(['docs']);
    expect((await changeAgent(owner.client, slug, { mcpServers: [] })).version).toBe(2);
    expect(await serversOf({ agent: slug })).toEqual([]);
    expect(await serversOf({ agent: `${slug}@1` })).toEqual(['docs']);
    const wrong = { slug: 'b', mcpServers: ['docs', 'nothing'] };
    expect(refusal(await postAgent<ErrorBody>(owner.client, wrong))).toEqual([400, 'invalid_field', 'mcpServers[1]']);
  });

  it('are those of the environment where neither the task nor its agent names any', async () => {
    const { slug } = await createEnvironment(owner.client, { mcpServers: ['other', 'more'] });
    const named = { environment: slug };
    expect(await serversOf(named)).toEqual(['other', 'more']);
    expect(await serversOf({ ...named, mcpServers: ['docs'] })).toEqual(['docs']);
    await createAgent(owner.client, { mcpServers: ['more'] });
    expect(await serversOf({ ...named, agent: 'reviewer' })).toEqual(['more']);
    const { body } = await owner.client.post<{ project: { id: string } }>('/v1/projects', { name: 'P', visibility: 'workspace', environment: slug }); // prettier-ignore
    expect(await serversOf({ projectId: body.project.id })).toEqual(['other', 'more']);
    expect(await changeEnvironment(owner.client, slug, { mcpServers: [] })).toMatchObject({
      version: 2,
      mcpServers: [],
    });
    expect(await serversOf(named)).toEqual([]);
    expect(await changeEnvironment(owner.client, slug, { mcpServers: null })).toMatchObject({ mcpServers: null });
    expect(await serversOf(named)).toEqual(['docs']);
    const wrong = { slug: 'b', mcpServers: ['nothing'] };
    expect(refusal(await postEnvironment<ErrorBody>(owner.client, wrong))).toEqual([400, 'invalid_field', 'mcpServers[0]']); // prettier-ignore
  });

  it('of a URL are not of a task that an event began, unless its automation names them', async () => {
    const { path, secret } = await connect(service, owner);
    const { slug: environment } = await createEnvironment(owner.client, { mcpServers: ['remote', 'more'] });
    await createAgent(owner.client, { mcpServers: ['remote', 'other'] });
    const onEvent = { cron: undefined, triggerEvent: 'github.push', model: 'scripted' };
    const made = [
      [await createAutomation(owner, { ...onEvent, environment }), ['more']],
      [await createAutomation(owner, { ...onEvent, agent: 'reviewer' }), ['other']],
      [await createAutomation(owner, { ...onEvent, agent: 'reviewer', mcpServers: ['remote'] }), ['remote']],
    ] as const;
    expect((await deliver(service, path, github(secret))).status).toBe(200);
    for (const [{ id }, servers] of made) {
      const [run] = await runs(service.db, id, 1);
      const { body } = await owner.client.get<Task>(`/v1/tasks/${run?.taskId}`);
      expect(body.task.mcpServers).toEqual(servers);
    }
  });

  it('of a task of a task are those of its parent, and of these no others than its agent names', async () => {
    const bench = new SubtaskBench(owner);
    await createAgent(owner.client, { mcpServers: ['other', 'remote'] });
    const parts = [part('A'), { ...part('B'), agent: 'reviewer' }];
    const { id } = await bench.run([delegate(...parts)], { mcpServers: ['docs', 'other'] });
    const children = (await bench.childrenOf(id)) as unknown as Task['task'][];
    expect(children.map(({ mcpServers }) => mcpServers)).toEqual([['docs', 'other'], ['other']]);
  });
});
