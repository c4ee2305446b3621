import { AUTOMATIONS, type AutomationBody, type RunBody } from '../harness/automation-requests.js';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { changeEnvironment, createEnvironment, ENVIRONMENTS, postEnvironment } from '../harness/environments.js';
import { holding, untilWaiting } from '../harness/locks.js';
import { ModelServer } from '../harness/model-server.js';
import { createProject } from '../harness/projects.js';
import { createTask, finished, type TaskBody } from '../harness/tasks.js';

/** Fails, and by that tells which ones a task has. */
const named = (name: string) => ({ checks: [{ name, command: 'false' }], maxRepairs: 0 });

describe('Checks that an environment has for its tasks (reference §25, §26)', () => {
  let model: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeEach(async () => {
    model.script = () => ({ text: 'Done.' });
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => model.stop());

  const failedOf = async (id: string) => (await finished(owner.client, id)).statusReason?.message ?? null;
  const failed = async (body: object) => failedOf((await createTask(owner.client, { content: 'Do it.', ...body })).id);
  const notPassed = (name: string) => `These checks did not pass: ${name}.`;
  const projectOf = async (body: object) => (await createProject(owner, { name: 'P', ...body })).id;

  it('are those of a task that has none from elsewhere, in the version of the task', async () => {
    await createEnvironment(owner.client, { slug: 'node', ...named('first') });
    await changeEnvironment(owner.client, 'node', named('second'));
    expect(await failed({ environment: 'node' })).toBe(notPassed('second'));
    expect(await failed({ environment: { slug: 'node', version: 1 } })).toBe(notPassed('first'));
    expect(await failed({})).toBeNull();
    const projectId = await projectOf({ environment: 'node' });
    expect(await failed({ projectId })).toBe(notPassed('second'));
    expect(await failed({ projectId, environment: { slug: 'node', version: 1 } })).toBe(notPassed('first'));
    expect(await failed({ projectId, environment: null })).toBeNull();
  });

  it('make way for those of the task, of its automation and of its project; [] anywhere is none', async () => {
    await createEnvironment(owner.client, { slug: 'node', ...named('environment') });
    const environment = 'node';
    const projectId = await projectOf(named('project'));
    expect(await failed({ environment, projectId })).toBe(notPassed('project'));
    expect(await failed({ environment, projectId, ...named('task') })).toBe(notPassed('task'));
    expect(await failed({ environment, ...named('task') })).toBe(notPassed('task'));
    expect(await failed({ environment, checks: [] })).toBeNull();
    expect(await failed({ environment, projectId: await projectOf({ checks: [] }) })).toBeNull();
    await createEnvironment(owner.client, { slug: 'bare', checks: [] });
    expect(await failed({ environment: 'bare' })).toBeNull();

    const fired = async (more: object) => {
      const wanted = { name: 'Yearly', content: 'Do it.', cron: '0 0 1 1 *', environment, ...more };
      const { body } = await owner.client.post<{ automation: AutomationBody }>(AUTOMATIONS, wanted);
      const answer = await owner.client.post<{ run: RunBody }>(`${AUTOMATIONS}/${body.automation.id}/run`);
      return failedOf(answer.body.run.taskId ?? '');
    };
    expect(await fired({})).toBe(notPassed('environment'));
    expect(await fired({ projectId })).toBe(notPassed('project'));
    expect(await fired({ projectId, ...named('automation') })).toBe(notPassed('automation'));
    expect(await fired({ checks: [] })).toBeNull();
  });

  it('and how often the agent may mend its work are looked for each by itself', async () => {
    const { checks } = named('environment');
    await createEnvironment(owner.client, { slug: 'node', checks, maxRepairs: 1 });
    const repairs = async (more: object) => {
      const { id } = await createTask(owner.client, { content: 'Do it.', environment: 'node', ...more });
      await finished(owner.client, id);
      const { body } = await owner.client.get<{ task: { checks: { repairs: number } } }>(`/v1/tasks/${id}`);
      return body.task.checks.repairs;
    };
    expect(await repairs({})).toBe(1);
    expect(await repairs({ projectId: await projectOf({ maxRepairs: 0 }) })).toBe(0);
    expect(await repairs({ maxRepairs: 3 })).toBe(3);
    expect(await repairs(named('task'))).toBe(0);
  });

  it('are those of the version that the task works in, when the environment gets another one meanwhile', async () => {
    const { id } = await createEnvironment(owner.client, { slug: 'node', ...named('v1') });
    const projectId = await projectOf({ environment: 'node' });
    const changing = await holding(service.db, 'SELECT 1 FROM environments WHERE id = $1 FOR UPDATE', [id]);
    const made = createTask(owner.client, { content: 'Do it.', projectId });
    await untilWaiting(service.db, 'FOR KEY SHARE OF e');
    await changing.query(
      `INSERT INTO environment_versions (environment_id, version, definition, created_by)
       SELECT environment_id, 2, definition - 'checks', created_by FROM environment_versions WHERE environment_id = $1`,
      [id],
    );
    await changing.query('UPDATE environments SET version = 2 WHERE id = $1', [id]);
    await changing.release();
    const task = (await made) as TaskBody & { environment: object };
    expect(task.environment).toEqual({ slug: 'node', version: 1 });
    expect(await failedOf(task.id)).toBe(notPassed('v1'));
  });

  it('are part of a version, are seen with what was not given, and are cleared by null', async () => {
    const made = await createEnvironment(owner.client, { checks: [{ name: 'test', command: 'npm test' }] });
    const whole = { name: 'test', command: 'npm test', timeoutSeconds: 600, required: true, protect: [], network: false }; // prettier-ignore
    expect(made).toMatchObject({ version: 1, checks: [whole], maxRepairs: null });
    const version = async (json: object) => {
      const { version: n, checks, maxRepairs } = await changeEnvironment(owner.client, 'node', json);
      return [n, checks, maxRepairs];
    };
    expect(await version({ checks: [whole] })).toEqual([1, [whole], null]);
    expect(await version({ checks: [{ name: 'test', command: 'npm test' }], maxRepairs: null })).toEqual([1, [whole], null]); // prettier-ignore
    expect(await version({ maxRepairs: 5 })).toEqual([2, [whole], 5]);
    expect(await version({ setup: ['true'] })).toEqual([3, [whole], 5]);
    expect(await version({ checks: null, maxRepairs: null })).toEqual([4, null, null]);
    expect(await version({ checks: [] })).toEqual([5, [], null]);
    const { body } = await owner.client.get<{ version: object }>(`${ENVIRONMENTS}/node/versions/2`);
    expect(body.version).toMatchObject({ version: 2, checks: [whole], maxRepairs: 5 });
  });

  it.each([
    ['a text', { checks: 'npm test' }, 'checks'],
    ['a name in capitals', { checks: [{ name: 'Test', command: 'true' }] }, 'checks[0].name'],
    ['one without a command', { checks: [{ name: 'test' }] }, 'checks[0].command'],
    ['a name twice', { checks: [named('test').checks[0], named('test').checks[0]] }, 'checks'],
    ['a path outside', { checks: [{ name: 'test', command: 'true', protect: ['../x'] }] }, 'checks[0].protect'],
    ['an unknown field', { checks: [{ name: 'test', command: 'true', shell: 'zsh' }] }, 'checks[0].shell'],
    ['17 of them', { checks: Array.from({ length: 17 }, (_, n) => named(`a${n}`).checks[0]) }, 'checks'],
    ['11 repairs', { maxRepairs: 11 }, 'maxRepairs'],
    ['repairs as a text', { maxRepairs: '1' }, 'maxRepairs'],
  ])('%s: refused with its field', async (_what, json, param) => {
    const { status, body } = await postEnvironment<ErrorBody>(owner.client, json);
    expect([status, body.error.param]).toEqual([400, param]);
    await createEnvironment(owner.client);
    const changed = await owner.client.patch<ErrorBody>(`${ENVIRONMENTS}/node`, json);
    expect([changed.status, changed.body.error.param]).toEqual([400, param]);
  });
});
