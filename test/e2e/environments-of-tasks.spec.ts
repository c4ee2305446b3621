// Which environment a task works in (reference §25).
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { bootWorker, useService } from '../harness/app.js';
import { AUTOMATIONS, type AutomationBody, DAILY, type RunBody } from '../harness/automation-requests.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { changeEnvironment, createEnvironment, ENVIRONMENTS } from '../harness/environments.js';
import { createProject, type ProjectBody } from '../harness/projects.js';
import { createTask, finished, reaches, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

type Named = { slug: string; version: number } | null;
type Task = TaskBody & { environment: Named };

describe('The environment of a task (reference §25)', () => {
  let owner: Member;
  const service = useService(bootWorker);
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    await createEnvironment(owner.client, { slug: 'node' });
    await changeEnvironment(owner.client, 'node', { setup: ['true'] });
  });

  const create = async (json: object = {}, { client } = owner) =>
    (await createTask(client, { content: 'Look around.', ...json })) as Task;
  const refusal = async (json: object) => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const { status, body } = await owner.client.post<ErrorBody>('/v1/tasks', { content: 'x', ...json }, { headers });
    return [status, body.error.code, body.error.param];
  };
  const read = async ({ id }: { id: string }) =>
    (await owner.client.get<{ task: Task }>(`/v1/tasks/${id}`)).body.task.environment;
  const remove = () => owner.client.delete<ErrorBody>(`${ENVIRONMENTS}/node`);

  it('is the newest version of the one that it names, or the version that it names', async () => {
    const task = await create({ environment: 'node' });
    expect(task.environment).toEqual({ slug: 'node', version: 2 });
    const older = await create({ environment: { slug: 'node', version: 1 } });
    expect(older.environment).toEqual({ slug: 'node', version: 1 });
    expect((await create({ environment: { slug: 'node' } })).environment).toEqual({ slug: 'node', version: 2 });
    expect((await create({ environment: { slug: 'node', version: null } })).environment?.version).toBe(2);
    expect((await create()).environment).toBeNull();
    const { body } = await owner.client.get<{ tasks: Task[] }>('/v1/tasks');
    expect(body.tasks.map(({ environment }) => environment?.version ?? null)).toEqual([null, 2, 2, 1, 2]);
    expect(await read(task)).toEqual({ slug: 'node', version: 2 });
  });

  it('stays as it is when the environment gets another version', async () => {
    const task = await create({ environment: 'node' });
    await changeEnvironment(owner.client, 'node', { setup: ['false'] });
    expect(await read(task)).toEqual({ slug: 'node', version: 2 });
    expect((await create({ environment: 'node' })).environment).toEqual({ slug: 'node', version: 3 });
  });

  it.each<[unknown, ...unknown[]]>([
    ['there-is-none', 404, 'not_found'],
    [{ slug: 'node', version: 3 }, 404, 'not_found'],
    ['Node', 400, 'invalid_field'],
    ['', 400, 'invalid_field'],
    [{}, 400, 'invalid_field'],
    [{ slug: 'node', version: 0 }, 400, 'invalid_field'],
    [{ slug: 'node', version: 1.5 }, 400, 'invalid_field'],
    [{ slug: 'node', version: '1' }, 400, 'invalid_field'],
    [{ slug: 'node', versions: 1 }, 400, 'invalid_field'],
    [['node'], 400, 'invalid_field'],
    [1, 400, 'invalid_field'],
  ])('%j is refused with the field', async (environment, ...expected) => {
    expect(await refusal({ environment })).toEqual([...expected, 'environment']);
  });

  it('is there for twenty tasks while it gets other versions', async () => {
    const changes = Array.from({ length: 10 }, (_, n) => changeEnvironment(owner.client, 'node', { setup: [`${n}`] }));
    const tasks = await Promise.all(Array.from({ length: 20 }, () => create({ environment: 'node' })));
    await Promise.all(changes);
    for (const { environment } of tasks) expect(environment?.slug).toBe('node');
  });

  it('that has no such version is told apart from one that is not there', async () => {
    const ask = async (environment: unknown) =>
      (await owner.client.post<ErrorBody>('/v1/tasks', { content: 'x', environment })).body.error.message;
    expect(await ask({ slug: 'node', version: 99 })).toBe('There is no such version of the environment node.');
    expect(await ask('nodes')).toBe('There is no such environment.');
  });

  it('of another workspace is not there', async () => {
    const stranger = await makeMember(service, { role: 'owner' });
    await createEnvironment(stranger.client, { slug: 'theirs' });
    expect(await refusal({ environment: 'theirs' })).toEqual([404, 'not_found', 'environment']);
  });

  it('is taken by every member who makes tasks', async () => {
    const member = await makeMember(service, { workspace: owner.workspace });
    expect((await create({ environment: 'node' }, member)).environment).toEqual({ slug: 'node', version: 2 });
  });

  it('is kept by a fork, in the version and with the build of the original', async () => {
    const { id } = await create({ environment: { slug: 'node', version: 1 } });
    await finished(owner.client, id);
    const [build = { id: '' }] = await service.db.query<{ id: string }>(
      `INSERT INTO environment_builds (id, workspace_id, environment_id, version, driver, state)
       SELECT gen_random_uuid(), t.workspace_id, t.environment_id, 1, 'none', 'ready' FROM tasks t WHERE t.id = $1 RETURNING id`,
      [id],
    );
    await service.db.query('UPDATE tasks SET environment_build_id = $2 WHERE id = $1', [id, build.id]);
    const headers = { 'Idempotency-Key': randomUUID() };
    const { body } = await owner.client.post<{ task: Task }>(`/v1/tasks/${id}/fork`, {}, { headers });
    expect(body.task.environment).toEqual({ slug: 'node', version: 1 });
    const rows = await service.db.query('SELECT environment_build_id AS build FROM tasks WHERE id = $1', [body.task.id]); // prettier-ignore
    expect(rows).toEqual([{ build: build.id }]);
    const plain = await create();
    await finished(owner.client, plain.id);
    const other = await owner.client.post<{ task: Task }>(`/v1/tasks/${plain.id}/fork`, {}, { headers: { 'Idempotency-Key': randomUUID() } }); // prettier-ignore
    expect(other.body.task.environment).toBeNull();
  });

  describe('of a project', () => {
    type Project = ProjectBody & { environment: string | null };
    const change = async ({ id }: Project, json: object) =>
      (await owner.client.patch<{ project: Project } & ErrorBody>(`/v1/projects/${id}`, json)).body;
    const project = async (json: object = {}) => (await createProject(owner, { name: 'P', ...json })) as Project;

    it('is that of its tasks that name none, in the newest version of the moment', async () => {
      const made = await project({ environment: 'node' });
      expect(made.environment).toBe('node');
      const inIt = { projectId: made.id };
      expect((await create(inIt)).environment).toEqual({ slug: 'node', version: 2 });
      await changeEnvironment(owner.client, 'node', { setup: ['false'] });
      expect((await create(inIt)).environment).toEqual({ slug: 'node', version: 3 });
      expect((await create({ ...inIt, environment: { slug: 'node', version: 1 } })).environment?.version).toBe(1);
      expect((await create({ ...inIt, environment: null })).environment).toBeNull();
    });

    it('is set, kept and cleared by a change', async () => {
      const made = await project();
      expect(made.environment).toBeNull();
      expect((await create({ projectId: made.id })).environment).toBeNull();
      expect((await change(made, { environment: 'node' })).project.environment).toBe('node');
      expect((await change(made, { name: 'Q' })).project).toMatchObject({ name: 'Q', environment: 'node' });
      const { body } = await owner.client.get<{ projects: Project[] }>('/v1/projects');
      expect(body.projects[0]?.environment).toBe('node');
      expect((await change(made, { environment: null })).project.environment).toBeNull();
    });

    it('is refused when there is none, with the field', async () => {
      const made = await project();
      expect((await change(made, { environment: 'none' })).error).toMatchObject({ code: 'not_found', param: 'environment' }); // prettier-ignore
      expect((await change(made, { environment: 'No' })).error).toMatchObject({ code: 'invalid_field', param: 'environment' }); // prettier-ignore
      const answer = await owner.client.post<ErrorBody>('/v1/projects', { name: 'P', environment: 'none' });
      expect([answer.status, answer.body.error.param]).toEqual([404, 'environment']);
      // The project itself is told first.
      const stranger = await makeMember(service, { role: 'owner' });
      const hidden = await stranger.client.patch<ErrorBody>(`/v1/projects/${made.id}`, { environment: 'none' });
      expect([hidden.status, hidden.body.error.param]).toEqual([404, null]);
    });

    it('is none any more when the environment is deleted', async () => {
      const made = await project({ environment: 'node' });
      expect((await remove()).status).toBe(200);
      const { body } = await owner.client.get<{ project: Project }>(`/v1/projects/${made.id}`);
      expect(body.project.environment).toBeNull();
      expect((await create({ projectId: made.id })).environment).toBeNull();
    });
  });

  describe('of an automation', () => {
    type Automation = AutomationBody & { environment: { slug: string; version: number | null } | null };
    const post = (json: object) =>
      owner.client.post<{ automation: Automation } & ErrorBody>(AUTOMATIONS, { ...DAILY, ...json });
    const change = (id: string, json: object) =>
      owner.client.patch<{ automation: Automation } & ErrorBody>(`${AUTOMATIONS}/${id}`, json);
    const run = async (id: string) => (await owner.client.post<{ run: RunBody }>(`${AUTOMATIONS}/${id}/run`)).body.run;
    const ofTask = async (id: string) => read({ id: (await run(id)).taskId ?? '' });

    it('is that of its tasks: the newest version when it fires, or the one that it names', async () => {
      const { automation } = (await post({ environment: 'node' })).body;
      expect(automation.environment).toEqual({ slug: 'node', version: null });
      expect(await ofTask(automation.id)).toEqual({ slug: 'node', version: 2 });
      await changeEnvironment(owner.client, 'node', { setup: ['false'] });
      expect(await ofTask(automation.id)).toEqual({ slug: 'node', version: 3 });
      const pinned = await change(automation.id, { environment: { slug: 'node', version: 1 } });
      expect(pinned.body.automation.environment).toEqual({ slug: 'node', version: 1 });
      expect((await change(automation.id, { name: 'B' })).body.automation.environment?.version).toBe(1);
      expect(await ofTask(automation.id)).toEqual({ slug: 'node', version: 1 });
      expect((await change(automation.id, { environment: null })).body.automation.environment).toBeNull();
      expect(await ofTask(automation.id)).toBeNull();
    });

    it('is that of its project without one of its own', async () => {
      const project = await createProject(owner, { name: 'P', environment: 'node' });
      const { automation } = (await post({ projectId: project.id })).body;
      expect(await ofTask(automation.id)).toEqual({ slug: 'node', version: 2 });
    });

    it('is refused when there is none, with the field, also in a dry run', async () => {
      const { automation } = (await post({})).body;
      const answers = [
        await post({ environment: 'none' }),
        await post({ environment: 'none', dryRun: true }),
        await change(automation.id, { environment: { slug: 'node', version: 9 } }),
      ];
      expect(answers.map(({ status, body }) => [status, body.error.param])).toEqual(Array(3).fill([404, 'environment'])); // prettier-ignore
    });

    it('fails its runs when it is gone, and says so', async () => {
      const { automation } = (await post({ environment: 'node' })).body;
      expect((await remove()).status).toBe(200);
      const failed = await run(automation.id);
      expect([failed.status, failed.reason?.code, failed.taskId]).toEqual(['failed', 'environment_gone', null]);
    });
  });

  it('is not deleted while a task that has not ended works in it; one that has ended has none afterwards', async () => {
    const ended = await create({ environment: 'node' });
    await finished(owner.client, ended.id);
    const waits = await create({
      environment: { slug: 'node', version: 1 },
      content: '```ask\nWhat is it called?\n```',
    });
    await reaches(owner.client, waits.id, 'awaiting_input');
    const refused = await remove();
    expect([refused.status, refused.body.error.code]).toEqual([409, 'environment_in_use']);
    expect((await owner.client.post(`/v1/tasks/${waits.id}/cancel`)).status).toBe(200);
    expect((await remove()).status).toBe(200);
    expect([await read(ended), await read(waits)]).toEqual([null, null]);
    // It goes on.
    expect((await owner.client.post(`/v1/tasks/${ended.id}/messages`, { content: 'More.' })).status).toBe(202);
    expect((await finished(owner.client, ended.id)).status).toBe('completed');
  });

  it('that is being deleted is waited for, and is not there afterwards', async () => {
    const deleting = new pg.Client({ connectionString: service.db.url });
    await deleting.connect();
    try {
      await deleting.query(`BEGIN; SELECT 1 FROM environments WHERE slug = 'node' FOR UPDATE`);
      const refused = refusal({ environment: 'node' });
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await until('the request to wait', async () => (await service.db.query(waiting)).length > 0);
      await deleting.query(`DELETE FROM environments WHERE slug = 'node'; COMMIT`);
      expect(await refused).toEqual([404, 'not_found', 'environment']);
    } finally {
      await deleting.end();
    }
  });
});
