import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { UsersService } from '../../src/access/workspaces/users.service.js';
import { KeysService } from '../../src/access/auth/keys.service.js';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { bootWorker, useService } from '../harness/app.js';
import { type AutomationBody, createAutomation } from '../harness/automation-requests.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { tablesWith } from '../harness/database.js';
import { upload } from '../harness/files.js';
import { HeldModel } from '../harness/held-model.js';
import { newMark, processesGone, sleeps } from '../harness/processes.js';
import { addProjectFile, createProject, type FileBody, type ProjectBody } from '../harness/projects.js';
import { call, createTask, finished, reaches, readMessages, readTask, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

let model: HeldModel;

const service = useService(async () => {
  model = await HeldModel.start();
  const env = { OPENAI_COMPATIBLE_URL: model.server.url, WORKER_CONCURRENCY: '3' };
  return bootWorker({ env });
});
afterAll(() => model.server.stop());

const members = () => service.app.get(MembershipsService);
const statusOf = async ({ client }: Pick<Member, 'client'>) => (await client.get('/v1/auth/context')).status;
const keyIn = async (workspaceId: string, userId: string) => {
  const keys = service.app.get(KeysService, { strict: false });
  const { secret } = await keys.create({ workspaceId, userId, name: 'k', scopes: SCOPES, lifetimeSeconds: null });
  return new Client(service.url, secret);
};
const creatorOf = async (client: Client, id: string) =>
  ((await readTask(client, id)) as unknown as { createdBy: object }).createdBy;

/** A workspace with an owner and two members. */
async function team() {
  const owner = await makeMember(service, { role: 'owner' });
  const [leaver, other] = [
    await makeMember(service, { workspace: owner.workspace }),
    await makeMember(service, { workspace: owner.workspace }),
  ];
  return { owner, leaver, other };
}

/** One task that waits for an answer. */
async function asking({ client }: Pick<Member, 'client'>): Promise<TaskBody> {
  const { id } = await createTask(client, { content: 'Ask.' });
  (await model.asked()).answer(call('ask', { question: 'Why?' }));
  return reaches(client, id, 'awaiting_input');
}

describe('A member who is removed (reference §3)', () => {
  it('all its keys end; what it has under way is cancelled, the processes are gone within 2 s', async () => {
    const { owner, leaver } = await team();
    const second = { client: await keyIn(owner.workspace.id, leaver.user.id) };
    const elsewhere = await makeMember(service);
    await members().add(elsewhere.workspace.id, leaver.user.id, 'member');
    const abroad = { client: await keyIn(elsewhere.workspace.id, leaver.user.id) };

    const waiting = await asking(leaver);
    const mark = newMark();
    const running = await createTask(leaver.client, { content: 'Run.' });
    (await model.asked()).answer(call('bash', { command: `sleep ${mark}` }));
    const held = await createTask(leaver.client, { content: 'Hold.' });
    await model.asked();
    const queued = await createTask(leaver.client, { content: 'Wait.' });
    await sleeps(mark);

    await members().remove(owner.workspace.id, leaver.user.id);
    expect([await statusOf(leaver), await statusOf(second), await statusOf(abroad)]).toEqual([401, 401, 200]);
    await processesGone(mark, 2000);
    for (const { id } of [waiting, running, held, queued]) {
      expect(await readTask(owner.client, id)).toMatchObject({
        status: 'cancelled',
        statusReason: { code: 'owner_removed', retryable: false },
        pendingInteraction: null,
        createdBy: { id: leaver.user.id },
      });
    }
  });

  it('without --transfer-to its things stay as they are, seen by owners and admins', async () => {
    const { owner, leaver, other } = await team();
    const project = await createProject(leaver);
    const file = await addProjectFile(service, leaver, project.id, 'kept');
    const done = await createTask(leaver.client, { content: 'x' });
    (await model.asked()).answer({ text: 'Done.' });
    await finished(leaver.client, done.id);
    await members().remove(owner.workspace.id, leaver.user.id);
    const paths = [`/v1/projects/${project.id}`, `/v1/files/${file.id}`, `/v1/tasks/${done.id}`];
    for (const path of paths) {
      expect((await owner.client.get(path)).status).toBe(200);
      expect((await other.client.get(path)).status).toBe(404);
    }
    expect(await readTask(owner.client, done.id)).toMatchObject({ status: 'completed' });
    expect(await creatorOf(owner.client, done.id)).toMatchObject({ id: leaver.user.id });
  });

  it('--transfer-to hands over projects, tasks and files; running tasks go on under the new owner', async () => {
    const { owner, leaver, other } = await team();
    const project = await createProject(leaver);
    const file = await addProjectFile(service, leaver, project.id, 'handed over');
    const { id: uploadId } = await upload(service, leaver, 'not referenced');
    const theirs = await createProject(owner, { name: 'Of the owner', visibility: 'workspace' });
    const waiting = await asking(leaver);
    const running = await createTask(leaver.client, { content: 'Go on.', projectId: project.id });
    const asked = await model.asked();

    await members().remove(owner.workspace.id, leaver.user.id, other.user.id);
    expect(await statusOf(leaver)).toBe(401);
    const heir = { id: other.user.id, name: expect.any(String) as string };
    const { body } = await other.client.get<{ project: ProjectBody }>(`/v1/projects/${project.id}`);
    expect(body.project.owner).toEqual(heir);
    const { body: found } = await other.client.get<{ file: FileBody }>(`/v1/files/${file.id}`);
    expect(found.file.createdBy).toEqual(heir);
    expect(await creatorOf(other.client, waiting.id)).toEqual(heir);
    expect(await reaches(other.client, running.id, 'running')).toMatchObject({ createdBy: heir });

    asked.answer({
      calls: [
        { name: 'bash', arguments: { command: 'echo late > late.txt' } },
        { name: 'publish', arguments: { path: 'late.txt' } },
      ],
    });
    (await model.asked()).answer({ text: 'Done.' });
    expect(await finished(other.client, running.id)).toMatchObject({ status: 'completed' });
    const { body: page } = await other.client.get<{ files: FileBody[] }>(`/v1/tasks/${running.id}/files`);
    expect(page.files).toEqual([expect.objectContaining({ name: 'late.txt', createdBy: heir })]);
    const reply = { interactionId: waiting.pendingInteraction?.id, content: 'Because.' };
    expect((await other.client.post(`/v1/tasks/${waiting.id}/interaction`, reply)).status).toBe(202);
    (await model.asked()).answer({ text: 'I see.' });
    await finished(other.client, waiting.id);
    // A message says who sent it, and not who owns the task.
    const [first] = await readMessages(other.client, running.id);
    expect(first?.createdBy?.id).toBe(leaver.user.id);

    const attach = await other.client.post<ErrorBody>('/v1/tasks', { content: 'x', attachments: [{ uploadId }] });
    expect([attach.status, attach.body.error.code]).toEqual([400, 'invalid_upload']);
    expect((await other.client.delete(`/v1/tasks/${waiting.id}`)).status).toBe(200);
    expect((await other.client.delete(`/v1/projects/${project.id}`)).status).toBe(200);
    expect((await other.client.delete(`/v1/projects/${theirs.id}`)).status).toBe(403);
  });

  it('who cannot own things gets none, and nothing has happened', async () => {
    const { owner, leaver } = await team();
    const viewer = await makeMember(service, { workspace: owner.workspace, role: 'viewer' });
    const stranger = await makeMember(service);
    const project = await createProject(leaver);
    const cases: [Member, RegExp][] = [
      [viewer, /viewer.*owner, admin or member/],
      [stranger, /not a member of this workspace\. 'member add' adds/],
      [leaver, /cannot hand over to itself/],
    ];
    for (const [heir, message] of cases) {
      await expect(members().remove(owner.workspace.id, leaver.user.id, heir.user.id)).rejects.toThrow(message);
    }
    const of = members().remove(owner.workspace.id, stranger.user.id, owner.user.id);
    await expect(of).rejects.toThrow('There is no such member.');
    const { status, body } = await leaver.client.get<{ project: ProjectBody }>(`/v1/projects/${project.id}`);
    expect([status, body.project.owner.id]).toEqual([200, leaver.user.id]);
  });

  it('an error on the way undoes all of it', async () => {
    const { owner, leaver, other } = await team();
    const project = await createProject(leaver);
    const listeners = members()['listeners'];
    members().onRemoved(() => Promise.reject(new Error('A module failed.')));
    try {
      const removal = members().remove(owner.workspace.id, leaver.user.id, other.user.id);
      await expect(removal).rejects.toThrow('A module failed.');
    } finally {
      listeners.pop();
    }
    const { status, body } = await leaver.client.get<{ project: ProjectBody }>(`/v1/projects/${project.id}`);
    expect([status, body.project.owner.id]).toEqual([200, leaver.user.id]);
  });

  it('of two members who are removed in favour of each other one stays, with everything', async () => {
    for (let round = 0; round < 5; round++) {
      const { owner, leaver, other } = await team();
      for (const one of [leaver, other]) await createProject(one);
      const { id } = owner.workspace;
      const ends = await Promise.allSettled([
        members().remove(id, leaver.user.id, other.user.id),
        members().remove(id, other.user.id, leaver.user.id),
      ]);
      expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const stayed = ends[0]?.status === 'fulfilled' ? other : leaver;
      const { body } = await stayed.client.get<{ projects: ProjectBody[] }>('/v1/projects');
      expect(body.projects.map((project) => project.owner.id)).toEqual([stayed.user.id, stayed.user.id]);
    }
  });

  it('what it makes at the same moment is handed over too, or not made', async () => {
    const { owner, leaver, other } = await team();
    const project = await createProject(owner, { name: 'All', visibility: 'workspace' });
    const requests = Array.from({ length: 24 }, (_, n) => {
      const path = ['/v1/tasks', '/v1/projects'][n % 2] ?? '';
      const body = n % 2 === 1 ? { name: 'P' } : { content: 'x', projectId: project.id };
      return leaver.client.post<{ task?: TaskBody; project?: ProjectBody }>(path, body);
    });
    await Promise.race(requests);
    await members().remove(owner.workspace.id, leaver.user.id, other.user.id);
    const answers = await Promise.all(requests);
    expect(answers.filter(({ status }) => ![201, 401].includes(status)).map(({ text }) => text)).toEqual([]);
    const left = await service.db.query(
      `SELECT 1 FROM tasks WHERE created_by = $1 UNION ALL SELECT 1 FROM projects WHERE owner_id = $1`,
      [leaver.user.id],
    );
    expect(left).toEqual([]);
    const made = answers.flatMap(({ body }) => body.task ?? []);
    expect(made.length).toBeGreaterThan(0);
    for (const { id } of made) expect(await creatorOf(other.client, id)).toMatchObject({ id: other.user.id });
    for (const { id } of made) await other.client.delete(`/v1/tasks/${id}`);
    await until('the worker to be free', async () => {
      model.held.length = 0;
      return (await service.db.query(`SELECT 1 FROM runs WHERE status IN ('queued', 'running')`)).length === 0;
    });
  });
});

describe('An account that is deleted (reference §3)', () => {
  const users = () => service.app.get(UsersService);

  it('is removed everywhere, and nothing says any more who it was', async () => {
    const { owner, other } = await team();
    const email = 'zebulon.quisp@example.test';
    const user = await users().create({ email, name: 'Zebulon Quisp' });
    const second = await makeMember(service, { role: 'owner' });
    const clients: Client[] = [];
    for (const { workspace } of [owner, second]) {
      await members().add(workspace.id, user.id, 'member');
      clients.push(await keyIn(workspace.id, user.id));
    }
    const tasks: TaskBody[] = [];
    const automations: AutomationBody[] = [];
    for (const client of clients) {
      tasks.push(await asking({ client }));
      automations.push(await createAutomation({ client }));
    }
    const project = await createProject({ client: clients[0] ?? other.client }, { name: 'P', visibility: 'workspace' });
    const cancelled = await createTask(clients[0] ?? other.client, { content: 'x' });
    await model.asked();
    await clients[0]?.request('POST', `/v1/tasks/${cancelled.id}/cancel`);
    expect(await tablesWith(service.db, 'quisp')).toEqual(['idempotency_keys', 'users']);

    await users().delete(user.id);
    for (const client of clients) expect(await statusOf({ client })).toBe(401);
    const nobody = { id: user.id, name: 'Deleted user' };
    for (const [at, { client }] of [owner, second].entries()) {
      const id = tasks[at]?.id ?? '';
      const task = await readTask(client, id);
      expect(task).toMatchObject({ status: 'cancelled', statusReason: { code: 'owner_removed' }, createdBy: nobody });
      expect((await readMessages(client, id))[0]?.createdBy).toEqual(nobody);
      const { automation } = (await client.get(`/v1/automations/${automations[at]?.id}`)).body;
      expect(automation).toMatchObject({ status: 'paused', pausedReason: { code: 'owner_removed' }, owner: nobody });
    }
    const { body } = await other.client.get<{ project: ProjectBody }>(`/v1/projects/${project.id}`);
    expect(body.project.owner).toEqual(nobody);
    expect(await tablesWith(service.db, 'quisp')).toEqual([]);
    await expect(users().delete(user.id)).rejects.toThrow('deleted at the same moment');
    await expect(members().add(owner.workspace.id, user.id, 'owner')).rejects.toThrow('removed at the same moment');
  });

  it('its address may be taken by another person, who gets nothing of it', async () => {
    const { owner, leaver } = await team();
    const { id: uploadId } = await upload(service, leaver, 'mine');
    const project = await createProject(leaver);
    await users().delete(leaver.user.id);
    const again = await users().create({ email: leaver.user.email.toUpperCase(), name: 'Somebody else' });
    expect(again.id).not.toBe(leaver.user.id);
    expect(await statusOf(leaver)).toBe(401);
    await expect(keyIn(owner.workspace.id, again.id)).rejects.toThrow('not a member');
    await members().add(owner.workspace.id, again.id, 'member');
    const client = await keyIn(owner.workspace.id, again.id);
    expect((await client.get('/v1/projects')).body).toMatchObject({ projects: [] });
    expect((await client.get(`/v1/projects/${project.id}`)).status).toBe(404);
    const attach = await client.post<ErrorBody>('/v1/tasks', { content: 'x', attachments: [{ uploadId }] });
    expect(attach.body.error.code).toBe('invalid_upload');
  });
});
