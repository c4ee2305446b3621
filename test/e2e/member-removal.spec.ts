import { Streams } from '../../src/resources/events/streams.js';
import { useService } from '../harness/app.js';
import type { Member } from '../harness/client.js';
import { createAutomation } from '../harness/automation-requests.js';
import { createProject, type ProjectBody } from '../harness/projects.js';
import { createTask, readTask } from '../harness/tasks.js';
import { works } from '../harness/keys.js';
import { automationOn, connect } from '../harness/hooks.js';
import { holding, untilWaiting } from '../harness/locks.js';
import { add, join as joins, makeOwner, refused, remove } from '../harness/members.js';
import { useStreams } from '../harness/streams.js';
import { until } from '../harness/until.js';

describe('DELETE /v1/members/{id} (reference §3)', () => {
  const service = useService();
  const open = useStreams();
  const owner = () => makeOwner(service);
  const join = (of: Member, role: Parameters<typeof joins>[2]) => joins(service, of, role);

  it('ends the keys for good, cancels tasks and pauses automations; things stay', async () => {
    const ann = await owner();
    const bo = await join(ann, 'member');
    const task = await createTask(bo.client, { content: 'x' });
    const automation = await createAutomation(bo);
    const project = await createProject(bo);
    expect((await remove(ann.client, bo)).body).toEqual({ deleted: true, id: bo.user.id });
    expect(await works(bo.client)).toBe(401);
    expect(await readTask(ann.client, task.id)).toMatchObject({
      status: 'cancelled',
      statusReason: { code: 'owner_removed' },
    });
    const { body } = await ann.client.get(`/v1/automations/${automation.id}`);
    expect(body).toMatchObject({ automation: { status: 'paused', pausedReason: { code: 'owner_removed' } } });
    expect((await ann.client.get(`/v1/projects/${project.id}`)).status).toBe(200);
    expect(refused(await remove(ann.client, bo))).toEqual([404, 'not_found', null]);
    await add(ann.client, { email: bo.user.email, role: 'member' });
    expect(await works(bo.client)).toBe(401);
  });

  it('ends its streams, and what waits for events, before it is answered: nobody has to look', async () => {
    const ann = await owner();
    const bo = await join(ann, 'member');
    const streams = service.app.get(Streams, { strict: false });
    Object.assign(streams, { looking: true });
    const stream = await open(`${service.url}/v1/events`, bo.key.secret);
    await stream.frame('stream.caught_up');
    const waits = bo.client.get('/v1/events?wait=30');
    await until('the request to wait', () => streams.size === 2);
    expect((await remove(ann.client, bo)).status).toBe(200);
    expect(streams.size).toBe(0);
    expect((await waits).status).toBe(401);
    expect((await stream.end())?.data).toMatchObject({ type: 'stream.end', reason: 'unauthorized' });
    Object.assign(streams, { looking: false });
  });

  it('transferTo hands over projects, tasks and automations, which go on', async () => {
    const ann = await owner();
    const [bo, eve] = [await join(ann, 'member'), await join(ann, 'member')];
    const task = await createTask(bo.client, { content: 'x' });
    const automation = await createAutomation(bo);
    const project = await createProject(bo);
    expect((await remove(ann.client, bo, `?transferTo=${eve.user.id.toUpperCase()}`)).status).toBe(200);
    expect(await readTask(eve.client, task.id)).toMatchObject({ status: 'queued', createdBy: { id: eve.user.id } });
    const { body } = await eve.client.get(`/v1/automations/${automation.id}`);
    expect(body).toMatchObject({ automation: { status: 'active' } });
    const { body: found } = await eve.client.get<{ project: ProjectBody }>(`/v1/projects/${project.id}`);
    expect(found.project.owner.id).toBe(eve.user.id);
  });

  it('transferTo no member is 404, a viewer and the member itself 400; nothing has happened', async () => {
    const ann = await owner();
    const [bo, viewer, stranger] = [await join(ann, 'member'), await join(ann, 'viewer'), await owner()];
    const task = await createTask(bo.client, { content: 'x' });
    for (const [to, status, code] of [
      [stranger.user.id, 404, 'not_found'],
      [crypto.randomUUID(), 404, 'not_found'],
      ['nobody', 404, 'not_found'],
      [viewer.user.id, 400, 'invalid_field'],
      [bo.user.id, 400, 'invalid_field'],
    ] as const) {
      expect(refused(await remove(ann.client, bo, `?transferTo=${to}`))).toEqual([status, code, 'transferTo']);
    }
    expect(await works(bo.client)).toBe(200);
    expect(await readTask(bo.client, task.id)).toMatchObject({ status: 'queued', createdBy: { id: bo.user.id } });
  });

  it('an owner who removes itself is told so, and its next request is 401; the last owner stays', async () => {
    const ann = await owner();
    expect(refused(await remove(ann.client, ann))).toEqual([409, 'last_owner', null]);
    const bo = await join(ann, 'owner');
    expect((await remove(ann.client, ann)).status).toBe(200);
    expect(await works(ann.client)).toBe(401);
    expect(refused(await remove(bo.client, bo))).toEqual([409, 'last_owner', null]);
  });

  it('of two owners who remove each other at once one stays, and no database error is told', async () => {
    for (let round = 0; round < 8; round += 1) {
      const ann = await owner();
      const bo = await join(ann, 'owner');
      const answers = await Promise.all([remove(ann.client, bo), remove(bo.client, ann)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
      expect((await Promise.all([works(ann.client), works(bo.client)])).sort()).toEqual([200, 401]);
    }
  });

  it('of three owners who remove each other in a ring, and themselves, one stays', async () => {
    for (let round = 0; round < 4; round += 1) {
      const ann = await owner();
      const all = [ann, await join(ann, 'owner'), await join(ann, 'owner')] as const;
      const [a, b, c] = all;
      const answers = await Promise.all([
        remove(a.client, b, `?transferTo=${c.user.id}`),
        remove(b.client, c, `?transferTo=${a.user.id}`),
        remove(c.client, a, `?transferTo=${b.user.id}`),
        ...all.map((one) => remove(one.client, one)),
      ]);
      expect(answers.filter(({ status }) => ![200, 401, 404, 409].includes(status))).toEqual([]);
      const left = await service.db.query<{ role: string }>('SELECT role FROM memberships WHERE workspace_id = $1', [
        ann.workspace.id,
      ]);
      expect(left.filter(({ role }) => role === 'owner').length).toBeGreaterThanOrEqual(1);
    }
  });

  it('locks the connections of the member before its automations, as all others do', async () => {
    const ann = await owner();
    const bo = await join(ann, 'member');
    const connectionId = (await connect(service, bo, { own: true })).id;
    const automation = await automationOn(service, bo, connectionId);
    const delivery = await holding(service.db, 'SELECT 1 FROM connections WHERE id = $1 FOR KEY SHARE', [connectionId]);
    const removed = remove(ann.client, bo);
    await untilWaiting(service.db, 'FROM connections');
    await delivery.query('SELECT 1 FROM automations WHERE id = $1 FOR UPDATE NOWAIT', [automation]);
    await delivery.release();
    expect((await removed).status).toBe(200);
  });

  it('waits for the writes of the member under way, and not for those of its caller', async () => {
    const ann = await owner();
    const bo = await join(ann, 'member');
    const holdOf = 'SELECT 1 FROM memberships WHERE workspace_id = $1 AND user_id = $2 FOR KEY SHARE';
    const ofCaller = await holding(service.db, holdOf, [ann.workspace.id, ann.user.id]);
    const ofMember = await holding(service.db, holdOf, [ann.workspace.id, bo.user.id]);
    const removed = remove(ann.client, bo);
    await untilWaiting(service.db, 'FOR UPDATE');
    await ofMember.release();
    expect((await removed).status).toBe(200);
    await ofCaller.release();
  });
});
