// What is checked again when an automation fires (reference §12).
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { type TestApp, useService, bootWorker } from '../harness/app.js';
import { makeDue, plan, type PlannedAutomation, readAutomation, runs } from '../harness/automations.js';
import { makeMember, type Member } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { createProject } from '../harness/projects.js';
import { reaches, readTask } from '../harness/tasks.js';

let model: HeldModel;
let owner: Member;
const models = [{ id: 'held', provider: 'openai-compatible', model: 'held', default: true }];
const service: TestApp = useService(async () => {
  model = await HeldModel.start();
  const env = { OPENAI_COMPATIBLE_URL: model.server.url, OPENAI_COMPATIBLE_KEY: 'key' };
  return bootWorker({ env, config: { models, plans: { free: { activeAutomations: 2 } } } });
});
afterAll(() => model.server.stop());
beforeEach(async () => {
  owner = await makeMember(service);
});

// What a test that failed has left.
afterEach(() => {
  for (const one of model.held.splice(0)) one.answer({ text: 'Done.' });
});

const planned = (given: PlannedAutomation = {}, by = owner) => plan(service.db, by, given);
/** The runs of an automation, once there are so many. */
const fired = (id: string, count = 1) => runs(service.db, id, count);
/** The task of its last run; its model call is answered when the test says so. */
async function startedTask(id: string, count = 1) {
  const taskId = (await fired(id, count)).at(-1)?.taskId ?? '';
  return { taskId, asked: await model.asked() };
}

describe('what is checked again when an automation fires', () => {
  it('an owner who is no member any more: the run fails and the automation is paused', async () => {
    const leaver = await makeMember(service, { workspace: owner.workspace });
    const id = await planned({ cron: '0 0 1 1 *', dueIn: null }, leaver);
    await service.app.get(MembershipsService).remove(owner.workspace.id, leaver.user.id);
    await service.db.query(`UPDATE automations SET status = 'active', paused_reason = NULL WHERE id = $1`, [id]);
    await makeDue(service.db, id);
    expect(await fired(id)).toMatchObject([{ status: 'failed', reason: { code: 'owner_removed' }, taskId: null }]);
    expect(await readAutomation(service.db, id)).toMatchObject({
      status: 'paused',
      pausedReason: { code: 'owner_removed', message: expect.any(String) as string },
      nextRunAt: null,
    });
  });

  it('an owner who only reads by now: the run fails', async () => {
    const reader = await makeMember(service, { workspace: owner.workspace });
    await service.app.get(MembershipsService).add(owner.workspace.id, reader.user.id, 'viewer');
    const id = await planned({ cron: '0 0 1 1 *' }, reader);
    expect(await fired(id)).toMatchObject([{ status: 'failed', reason: { code: 'role_not_allowed' } }]);
  });

  it('a project that the owner does not see any more: the run fails', async () => {
    const other = await makeMember(service, { workspace: owner.workspace });
    const project = await createProject(other, { name: 'Ours', visibility: 'workspace' });
    const id = await planned({ cron: '0 0 1 1 *', projectId: project.id });
    const { taskId, asked } = await startedTask(id);
    expect(await readTask(owner.client, taskId)).toMatchObject({ projectId: project.id });
    asked.answer({ text: 'Done.' });
    await reaches(owner.client, taskId, 'completed');
    await other.client.patch(`/v1/projects/${project.id}`, { visibility: 'private' });
    await makeDue(service.db, id);
    expect((await fired(id, 2))[1]).toMatchObject({ status: 'failed', reason: { code: 'project_not_visible' } });
  });

  it('a project that is deleted while the automation is due: it fires without one', async () => {
    const project = await createProject(owner);
    const id = await planned({ cron: '0 0 1 1 *', projectId: project.id, dueIn: null });
    expect((await owner.client.delete(`/v1/projects/${project.id}`)).status).toBe(200);
    await makeDue(service.db, id);
    const { taskId, asked } = await startedTask(id);
    expect(await readTask(owner.client, taskId)).toMatchObject({ projectId: null });
    asked.answer({ text: 'Done.' });
  });

  it('a model that is not offered any more: the run fails with the sentence of a task', async () => {
    const id = await planned({ cron: '0 0 1 1 *', model: 'gone' });
    const [run] = await fired(id);
    expect(run).toMatchObject({ status: 'failed', reason: { code: 'model_not_available' } });
    expect(run?.reason?.message).toContain('"gone" is not available');
    expect(await readAutomation(service.db, id)).toMatchObject({ status: 'active' });
  });

  it('a plan that allows fewer: the newest automation is paused, the oldest ones go on', async () => {
    const oldest = await planned({ cron: '0 0 1 1 *', dueIn: null });
    await planned({ cron: '0 0 1 1 *', dueIn: null });
    const newest = await planned({ cron: '0 0 1 1 *', dueIn: null });
    await service.db.query(`UPDATE workspaces SET plan = 'free' WHERE id = $1`, [owner.workspace.id]);
    await makeDue(service.db, newest);
    expect(await fired(newest)).toMatchObject([{ status: 'failed', reason: { code: 'subscription' } }]);
    expect(await readAutomation(service.db, newest)).toMatchObject({
      status: 'paused',
      pausedReason: { code: 'subscription', message: expect.any(String) as string },
    });
    await makeDue(service.db, oldest);
    expect(await fired(oldest)).toMatchObject([{ status: 'started' }]);
    (await model.asked()).answer({ text: 'Done.' });
  });
});
