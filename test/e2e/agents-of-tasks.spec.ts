// Which agent a task has, and what it does with it (reference §27.5).
import { randomUUID } from 'node:crypto';
import { AGENTS, changeAgent, createAgent } from '../harness/agents.js';
import { bootWorker, useService } from '../harness/app.js';
import { AUTOMATIONS, createAutomation, type RunBody } from '../harness/automation-requests.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { createEnvironment } from '../harness/environments.js';
import { ModelServer } from '../harness/model-server.js';
import { pushSkill } from '../harness/skills.js';
import { call, createTask, finished, readResults, script, type TaskBody } from '../harness/tasks.js';

type Named = { slug: string; version: number } | null;
type Task = TaskBody & { agent: Named } & Record<string, unknown>;

describe('The agent of a task (reference §27.5)', () => {
  let server: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    server = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: server.url } });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    server.requests.length = 0;
  });
  afterAll(() => server.stop());

  const create = async (json: object = {}, { client } = owner) =>
    (await createTask(client, { content: 'Look around.', ...json })) as Task;
  const refusal = async (json: object, path = '/v1/tasks') => {
    const { status, body } = await owner.client.post<ErrorBody>(path, { content: 'x', ...json });
    return [status, body.error.code, body.error.param];
  };
  const read = async ({ id }: { id: string }) => (await owner.client.get<{ task: Task }>(`/v1/tasks/${id}`)).body.task;
  const systems = () => server.requests.map(({ body }) => body.messages[0]?.content as string);

  it('is its newest version, the version that it names, or that of a channel; the task keeps it', async () => {
    await createAgent(owner.client, { channels: { stable: 1 } });
    await changeAgent(owner.client, 'reviewer', { instructions: 'Two.' });
    const at = async (agent: string) => (await create({ agent })).agent;
    expect(await at('reviewer')).toEqual({ slug: 'reviewer', version: 2 });
    expect(await at('reviewer@1')).toEqual({ slug: 'reviewer', version: 1 });
    expect(await at('reviewer@stable')).toEqual({ slug: 'reviewer', version: 1 });
    const task = await create({ agent: 'reviewer@stable' });
    await changeAgent(owner.client, 'reviewer', { channels: { stable: 2 } });
    expect((await read(task)).agent).toEqual({ slug: 'reviewer', version: 1 });
    expect(await at('reviewer@stable')).toEqual({ slug: 'reviewer', version: 2 });
    const { body } = await owner.client.get<{ tasks: Task[] }>('/v1/tasks');
    expect(body.tasks.map(({ agent }) => agent?.version)).toEqual([2, 1, 1, 1, 2]);
    expect((await create()).agent).toBeNull();
  });

  it.each<[unknown, ...unknown[]]>([
    ['there-is-none', 404, 'not_found'],
    ['reviewer@2', 404, 'not_found'],
    ['reviewer@beta', 404, 'not_found'],
    ['gone', 400, 'invalid_field'],
    ['gone@1', 400, 'invalid_field'],
    ['Reviewer', 400, 'invalid_field'],
    ['reviewer@', 400, 'invalid_field'],
    ['reviewer@0', 400, 'invalid_field'],
    ['reviewer@1@1', 400, 'invalid_field'],
    [{ slug: 'reviewer' }, 400, 'invalid_field'],
    [1, 400, 'invalid_field'],
  ])('%j is refused with the field, in tasks and automations', async (agent, ...expected) => {
    await createAgent(owner.client);
    await createAgent(owner.client, { slug: 'gone' });
    await changeAgent(owner.client, 'gone', { archived: true });
    expect(await refusal({ agent })).toEqual([...expected, 'agent']);
    expect(await refusal({ agent, name: 'A', cron: '0 9 * * *' }, AUTOMATIONS)).toEqual([...expected, 'agent']);
    expect((await owner.client.get<{ tasks: Task[] }>('/v1/tasks')).body.tasks).toEqual([]);
  });

  it('of another workspace is not there', async () => {
    const stranger = await makeMember(service, { role: 'owner' });
    await createAgent(stranger.client, { slug: 'theirs' });
    expect(await refusal({ agent: 'theirs' })).toEqual([404, 'not_found', 'agent']);
  });

  it('says what the task does not say, and never lets a member do more; an owner may', async () => {
    await createEnvironment(owner.client);
    const says = {
      ...{ approvals: 'writes', web: false, budget: { maxSteps: 5 }, tags: ['review'], metadata: { team: 'core' } },
      ...{ environment: 'node', checks: [{ name: 'one', command: 'true' }], outputSchema: { type: 'object' } },
    };
    await createAgent(owner.client, says);
    const member = await makeMember(service, { workspace: owner.workspace });
    const fields = { tags: ['review'], metadata: { team: 'core' }, environment: { slug: 'node', version: 1 }, checks: { status: 'pending' } }; // prettier-ignore
    const tight = { approvals: 'writes', web: false, budget: { maxSteps: 5, maxTokens: null } };
    expect(await create({ agent: 'reviewer' }, member)).toMatchObject({ ...tight, ...fields, outputSchema: says.outputSchema }); // prettier-ignore
    const wide = { agent: 'reviewer', approvals: 'none', web: true, budget: { maxSteps: 50 } };
    expect(await create(wide, member)).toMatchObject(tight);
    expect(await create(wide)).toMatchObject({ approvals: 'none', web: true, budget: { maxSteps: 50 } });
    const own = { agent: 'reviewer', tags: [], environment: null, checks: [], outputSchema: null };
    expect(await create(own, member)).toMatchObject({ tags: [], environment: null, checks: { status: 'none' }, outputSchema: null }); // prettier-ignore
  });

  it('brings its skills, which are not deleted while it names them', async () => {
    for (const name of ['one', 'two', 'three']) await pushSkill(service, owner, name);
    await createAgent(owner.client, { skills: ['one@1', 'two'] });
    const member = await makeMember(service, { workspace: owner.workspace });
    const skillsOf = async (json: object, who = member) =>
      ((await create({ agent: 'reviewer', ...json }, who))['skills'] as { name: string }[]).map(({ name }) => name);
    expect(await skillsOf({})).toEqual(['one', 'two']);
    expect(await skillsOf({ skills: ['two', 'three'] })).toEqual(['two']);
    expect(await skillsOf({ skills: ['three'] }, owner)).toEqual(['three']);
    const { body } = await owner.client.get<{ skills: { id: string; name: string }[] }>('/v1/skills');
    const remove = async (name: string) =>
      (await owner.client.delete<ErrorBody>(`/v1/skills/${body.skills.find((one) => one.name === name)?.id}`)).status;
    expect(await remove('one')).toBe(409);
    expect(await remove('three')).toBe(200);
    await changeAgent(owner.client, 'reviewer', { skills: [], channels: { stable: 1 } });
    expect(await remove('one')).toBe(409);
    await changeAgent(owner.client, 'reviewer', { channels: {} });
    expect(await remove('one')).toBe(200);
    expect(await refusal({ agent: 'reviewer@1' })).toEqual([404, 'not_found', 'skills[0]']);
  });

  it('is kept by a change of the task, and by a fork', async () => {
    await createAgent(owner.client, { instructions: 'One.' });
    const task = await create({ agent: 'reviewer' });
    await changeAgent(owner.client, 'reviewer', { instructions: 'Two.' });
    await finished(owner.client, task.id);
    const changed = await owner.client.patch<{ task: Task }>(`/v1/tasks/${task.id}`, { title: 'Other' });
    expect(changed.body.task.agent).toEqual({ slug: 'reviewer', version: 1 });
    const refused = await owner.client.patch<ErrorBody>(`/v1/tasks/${task.id}`, { agent: null });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'unknown_field']);
    const forked = await owner.client.post<{ task: Task }>(`/v1/tasks/${task.id}/fork`, { content: 'Go on.' });
    expect(forked.body.task.agent).toEqual({ slug: 'reviewer', version: 1 });
    await finished(owner.client, forked.body.task.id);
    expect(systems().at(-1)).toContain('One.');
  });

  it('is told to the model behind the system text and before the schema, the same for all of its tasks', async () => {
    await createAgent(owner.client, { instructions: 'Answer in Latin.', outputSchema: { type: 'object' } });
    for (const content of ['One', 'Two']) {
      const { id } = await create({ agent: 'reviewer', content: `${content} ${script({ text: '{}' })}` });
      await finished(owner.client, id);
    }
    const [one = '', two] = systems();
    expect(two).toBe(one);
    const places = ['You are Millwright', 'Answer in Latin.', '# The answer is JSON'].map((text) => one.indexOf(text));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBe(0);
    await finished(owner.client, (await create()).id);
    expect(one.startsWith(systems().at(-1) ?? '-')).toBe(true);
  });

  it('does not have the tools that it denies: they are not offered, and refused when called', async () => {
    await createAgent(owner.client, { tools: { deny: ['bash', 'write'] } });
    const content = script(call('bash', { command: 'true' }), call('Write', { path: 'a', content: 'b' }), { text: 'Done.' }); // prettier-ignore
    const { id } = await create({ agent: 'reviewer', content });
    expect((await finished(owner.client, id)).status).toBe('completed');
    const names = server.requests[0]?.body.tools?.map((tool) => tool.function.name);
    expect(names).toContain('read');
    for (const name of ['bash', 'write']) expect(names).not.toContain(name);
    const results = await readResults(owner.client, id);
    expect(results.map(({ status }) => status)).toEqual(['error', 'error']);
    expect(results[0]?.error).toMatch(/^The agent of this task does not have the tool 'bash'\. The tools are: apply_patch, ask, /); // prettier-ignore
  });

  describe('that is the default of the workspace', () => {
    it('is that of tasks and automations that name none, and of none that say null', async () => {
      await createAgent(owner.client, { default: true, tags: ['usual'] });
      expect(await create()).toMatchObject({ agent: { slug: 'reviewer', version: 1 }, tags: ['usual'] });
      expect((await create({ agent: null })).agent).toBeNull();
      await createAgent(owner.client, { slug: 'other' });
      expect((await create({ agent: 'other' })).agent?.slug).toBe('other');
      const { id } = await createAutomation(owner);
      const { run } = (await owner.client.post<{ run: RunBody }>(`${AUTOMATIONS}/${id}/run`)).body;
      expect((await read({ id: run.taskId ?? '' })).agent).toEqual({ slug: 'reviewer', version: 1 });
      await changeAgent(owner.client, 'reviewer', { default: false });
      expect((await create()).agent).toBeNull();
    });
  });

  describe('of an automation', () => {
    const fire = async (id: string) => (await owner.client.post<{ run: RunBody }>(`${AUTOMATIONS}/${id}/run`)).body.run;

    it('is the one that it names, resolved when it fires', async () => {
      await createAgent(owner.client, { channels: { stable: 1 }, approvals: 'writes', web: false });
      const automation = (await createAutomation(owner, { agent: 'reviewer@stable' })) as unknown as Task;
      expect(automation.agent).toBe('reviewer@stable');
      const taskOf = async () => read({ id: (await fire(automation.id)).taskId ?? '' });
      expect(await taskOf()).toMatchObject({ agent: { version: 1 }, approvals: 'writes', web: false });
      await changeAgent(owner.client, 'reviewer', { instructions: 'Two.', channels: { stable: 2 } });
      expect((await taskOf()).agent).toEqual({ slug: 'reviewer', version: 2 });
      const cleared = await owner.client.patch<{ automation: Task }>(`${AUTOMATIONS}/${automation.id}`, {
        agent: null,
      });
      expect(cleared.body.automation.agent).toBeNull();
      expect((await taskOf()).agent).toBeNull();
    });

    it('that has no such channel any more makes the run fail, and says so', async () => {
      await createAgent(owner.client, { channels: { stable: 1 } });
      const { id } = await createAutomation(owner, { agent: 'reviewer@stable' });
      await changeAgent(owner.client, 'reviewer', { channels: {} });
      expect(await fire(id)).toMatchObject({
        status: 'failed',
        taskId: null,
        reason: { code: 'agent_not_available', message: 'There is no such channel stable of the agent reviewer.' },
      });
    });
  });

  it('is named by twenty tasks while it is changed, each with a version that there is', async () => {
    await createAgent(owner.client);
    const changes = (async () => {
      for (let n = 0; n < 10; n++) await changeAgent(owner.client, 'reviewer', { instructions: `${n}` });
    })();
    const tasks = await Promise.all(Array.from({ length: 20 }, () => create({ agent: 'reviewer' })));
    await changes;
    for (const { agent } of tasks) expect(agent?.version).toBeLessThanOrEqual(11);
    const headers = { 'Idempotency-Key': randomUUID() };
    expect((await owner.client.get(`${AGENTS}/reviewer`, { headers })).status).toBe(200);
  });
});
