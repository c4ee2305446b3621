// What a member may not get round, whichever way a task with an agent comes to be or is changed (reference §27.5).
import { changeAgent, createAgent } from '../harness/agents.js';
import { bootWorker, useService } from '../harness/app.js';
import { AUTOMATIONS, createAutomation } from '../harness/automation-requests.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { createProject } from '../harness/projects.js';
import { pushSkill } from '../harness/skills.js';
import { createTask, finished, type TaskBody } from '../harness/tasks.js';

type Task = TaskBody & Record<string, unknown>;

describe('The limits of an agent (reference §27.5)', () => {
  let server: ModelServer;
  let owner: Member;
  let member: Member;
  const service = useService(async () => {
    server = await ModelServer.start();
    const absent = { command: 'no-such-program' };
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: server.url },
      config: { mcpServers: { docs: absent, more: absent, other: absent } },
    });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    member = await makeMember(service, { workspace: owner.workspace });
  });
  afterAll(() => server.stop());

  const create = async (json: object, { client } = member) =>
    (await createTask(client, { content: 'Look around.', agent: 'reviewer', ...json })) as Task;
  const patched = async ({ id }: TaskBody, json: object, { client } = member) =>
    (await client.patch<{ task: Task }>(`/v1/tasks/${id}`, json)).body.task;
  const forked = async ({ id }: TaskBody, json: object = {}, { client } = member) =>
    (await client.post<{ task: Task }>(`/v1/tasks/${id}/fork`, json)).body.task;
  const limits = (maxSteps: number | null, maxTokens: number | null = null) => ({ budget: { maxSteps, maxTokens } });

  it('hold for a member who changes the budget of a task, and not for an owner', async () => {
    await createAgent(owner.client, { budget: { maxSteps: 5 } });
    const task = await create({});
    expect(await patched(task, { budget: { maxSteps: 50, maxTokens: 1000 } })).toMatchObject(limits(5, 1000));
    expect(await patched(task, { budget: { maxSteps: 3 } })).toMatchObject(limits(3));
    expect(await patched(task, { budget: null })).toMatchObject(limits(5));
    expect(await patched(task, { title: 'Other' })).toMatchObject(limits(5));
    expect(await patched(task, { budget: { maxSteps: 50 } }, owner)).toMatchObject(limits(50));
    expect(await patched(task, { budget: null }, owner)).toMatchObject({ budget: null });
  });

  it('hold for a member who forks a task, with a budget and without, and not for an owner', async () => {
    await createAgent(owner.client, { budget: { maxSteps: 5 }, approvals: 'writes', web: false });
    const { id: projectId } = await createProject(owner, { name: 'Shared', visibility: 'workspace' });
    const wide = { projectId, budget: { maxSteps: 50 }, approvals: 'none', web: true };
    const task = await create(wide, owner);
    expect(task).toMatchObject({ ...limits(50), approvals: 'none', web: true });
    await finished(owner.client, task.id);
    const tight = { approvals: 'writes', web: false };
    expect(await forked(task)).toMatchObject({ ...limits(5), ...tight });
    expect(await forked(task, { budget: null })).toMatchObject({ ...limits(5), ...tight });
    expect(await forked(task, { budget: { maxSteps: 3 } })).toMatchObject({ ...limits(3), ...tight });
    expect(await forked(task, {}, owner)).toMatchObject({ ...limits(50), approvals: 'none', web: true });
  });

  it('hold for a member who forks a task whose servers and skills an owner has widened', async () => {
    for (const name of ['clean', 'ship', 'test']) await pushSkill(service, owner, name);
    await pushSkill(service, owner, 'clean', 'Another one.');
    await createAgent(owner.client, { mcpServers: ['docs', 'more'], skills: ['clean@1', 'ship'] });
    const { id: projectId } = await createProject(owner, { name: 'Shared', visibility: 'workspace' });
    const wide = { mcpServers: ['docs', 'other'], skills: ['clean@2', 'ship', 'test'] };
    const task = await create({ projectId, ...wide }, owner);
    await finished(owner.client, task.id);
    const skills = (...named: [string, number][]) => named.map(([name, version]) => ({ name, version }));
    const tight = { mcpServers: ['docs'], skills: skills(['clean', 1], ['ship', 1]) };
    expect(await forked(task)).toMatchObject(tight);
    expect(await forked(task, { mcpServers: ['other', 'more'] })).toMatchObject({ ...tight, mcpServers: ['more'] });
    expect(await forked(task, {}, owner)).toMatchObject({
      mcpServers: ['docs', 'other'],
      skills: skills(['clean', 2], ['ship', 1], ['test', 1]),
    });
  });

  it('hold for a task of an automation whose owner is a member by now', async () => {
    await createAgent(owner.client, { budget: { maxSteps: 5 }, web: false });
    const other = await makeMember(service, { workspace: owner.workspace, role: 'admin' });
    const { id } = await createAutomation(other, { agent: 'reviewer', budget: { maxSteps: 50 }, web: true });
    const fire = async () => {
      const { run } = (await owner.client.post<{ run: { taskId: string } }>(`${AUTOMATIONS}/${id}/run`)).body;
      return (await owner.client.get<{ task: Task }>(`/v1/tasks/${run.taskId}`)).body.task;
    };
    expect(await fire()).toMatchObject({ ...limits(50), web: true });
    await service.db.query(`UPDATE memberships SET role = 'member' WHERE user_id = $1`, [other.user.id]);
    expect(await fire()).toMatchObject({ ...limits(5), web: false });
  });

  it('an automation that names an archived agent does not become active again', async () => {
    await createAgent(owner.client);
    const { id } = await createAutomation(owner, { agent: 'reviewer' });
    await owner.client.post(`${AUTOMATIONS}/${id}/pause`);
    await changeAgent(owner.client, 'reviewer', { archived: true });
    const { status, body } = await owner.client.post<ErrorBody>(`${AUTOMATIONS}/${id}/resume`);
    expect([status, body.error?.code, body.error?.param]).toEqual([400, 'invalid_field', 'agent']);
    await changeAgent(owner.client, 'reviewer', { archived: false });
    expect((await owner.client.post(`${AUTOMATIONS}/${id}/resume`)).status).toBe(200);
  });

  it('an agent that is changed while automations begin to name it is never waited for in a circle', async () => {
    await createAgent(owner.client);
    const statuses = new Set<number>();
    const changes = (async () => {
      for (let n = 0; n < 60; n++) {
        const { version } = (await owner.client.get<{ agent: { version: number } }>('/v1/agents/reviewer')).body.agent;
        statuses.add((await owner.client.patch('/v1/agents/reviewer', { version, instructions: `${n}` })).status);
      }
    })();
    const make = async () => {
      for (let n = 0; n < 6; n++) {
        const json = { name: 'A', content: 'x', cron: '0 9 * * *', agent: 'reviewer' };
        const { status, body } = await owner.client.post<{ automation: { id: string } }>(AUTOMATIONS, json);
        statuses.add(status);
        if (status === 201) await owner.client.delete(`${AUTOMATIONS}/${body.automation.id}`);
      }
    };
    await Promise.all([...Array.from({ length: 6 }, make), changes]);
    expect([...statuses].sort()).toEqual([200, 201]);
  });
});
