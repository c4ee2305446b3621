import { useService } from '../harness/app.js';
import { type Answer, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { makeTask, upload } from '../harness/files.js';
import { createProject, putIntoProject } from '../harness/projects.js';
import { createTask, type TaskBody } from '../harness/tasks.js';

type Task = {
  task: TaskBody & { projectId: string | null; metadata: object; budget: object | null; updatedAt: string };
};

describe('Tasks in projects, and what may be changed of them (reference §3, §4)', () => {
  let owner: Member;
  let ann: Member;
  let bob: Member;

  // No worker: every task stays as it was made.
  const service = useService();
  beforeAll(async () => {
    owner = await makeMember(service, { role: 'owner' });
    ann = await makeMember(service, { workspace: owner.workspace });
    bob = await makeMember(service, { workspace: owner.workspace });
  });

  const faultOf = ({ status, body }: Answer<ErrorBody>) => [status, body.error.code, body.error.param];
  const bare = ({ status, body }: Answer<ErrorBody>) => JSON.stringify([status, { ...body.error, requestId: '' }]);

  describe('creating in a project', () => {
    it('a member may do it in every project that it sees', async () => {
      const shared = await createProject(ann, { name: 'Shared', visibility: 'workspace' });
      expect(await createTask(bob.client, { content: 'x', projectId: shared.id })).toMatchObject({
        projectId: shared.id,
      });
      const own = await createProject(bob);
      expect(await createTask(bob.client, { content: 'x', projectId: own.id })).toMatchObject({ projectId: own.id });
      expect(await createTask(owner.client, { content: 'x', projectId: own.id })).toMatchObject({ projectId: own.id });
      expect(await createTask(bob.client, { content: 'x', projectId: null })).toMatchObject({ projectId: null });
    });

    it('a project that is unknown, foreign, private to somebody else or no id at all is 404 with its param', async () => {
      const stranger = await makeMember(service, { role: 'owner' });
      const answers = [];
      const hidden = [await createProject(ann), await createProject(stranger, { name: 'x', visibility: 'workspace' })];
      for (const projectId of [...hidden.map(({ id }) => id), crypto.randomUUID(), 'x', '']) {
        answers.push(await bob.client.post<ErrorBody>('/v1/tasks', { content: 'x', projectId }));
      }
      expect(answers.map(faultOf)).toEqual(answers.map(() => [404, 'not_found', 'projectId']));
      expect(new Set(answers.map(bare)).size).toBe(1);
      const number = await bob.client.post<ErrorBody>('/v1/tasks', { content: 'x', projectId: 1 });
      expect(faultOf(number)).toEqual([400, 'invalid_field', 'projectId']);
    });
  });

  describe('who sees a task, its messages and its files, and who changes it', () => {
    type Who = 'its creator' | 'the owner of its project' | 'a member' | 'a viewer' | 'an admin' | 'a stranger';
    const people = {} as Record<Who, Member>;

    beforeAll(async () => {
      const { workspace } = owner;
      people['its creator'] = ann;
      people['the owner of its project'] = bob;
      people['a member'] = await makeMember(service, { workspace });
      people['a viewer'] = await makeMember(service, { workspace, role: 'viewer' });
      people['an admin'] = await makeMember(service, { workspace, role: 'admin' });
      people['a stranger'] = await makeMember(service, { role: 'owner' });
    });

    // Where the task is, who asks, reading, changing, writing to it, deleting it.
    it.each<[string, Who, string, string, string, string]>([
      ['in no project', 'its creator', 'ok', 'ok', 'ok', 'ok'],
      ['in no project', 'a member', 'not_found', 'not_found', 'not_found', 'not_found'],
      ['in no project', 'a viewer', 'not_found', 'role_not_allowed', 'role_not_allowed', 'role_not_allowed'],
      ['in no project', 'an admin', 'ok', 'ok', 'ok', 'ok'],
      ['in no project', 'a stranger', 'not_found', 'not_found', 'not_found', 'not_found'],
      ['in a private one', 'its creator', 'not_found', 'not_found', 'not_found', 'not_found'],
      ['in a private one', 'the owner of its project', 'ok', 'not_owner', 'ok', 'not_owner'],
      ['in a private one', 'a member', 'not_found', 'not_found', 'not_found', 'not_found'],
      ['in a private one', 'a viewer', 'not_found', 'role_not_allowed', 'role_not_allowed', 'role_not_allowed'],
      ['in a private one', 'an admin', 'ok', 'ok', 'ok', 'ok'],
      ['in a shared one', 'its creator', 'ok', 'ok', 'ok', 'ok'],
      ['in a shared one', 'the owner of its project', 'ok', 'not_owner', 'ok', 'not_owner'],
      ['in a shared one', 'a member', 'ok', 'not_owner', 'ok', 'not_owner'],
      ['in a shared one', 'a viewer', 'ok', 'role_not_allowed', 'role_not_allowed', 'role_not_allowed'],
      ['in a shared one', 'an admin', 'ok', 'ok', 'ok', 'ok'],
      ['in a shared one', 'a stranger', 'not_found', 'not_found', 'not_found', 'not_found'],
    ])('%s, %s: read %s, change %s, send %s, delete %s', async (where, who, ...expected) => {
      const visibility = where === 'in a shared one' ? 'workspace' : 'private';
      const project = where === 'in no project' ? null : (await createProject(bob, { name: 'P', visibility })).id;
      const { id: uploadId } = await upload(service, ann, 'a');
      const { id } = await createTask(ann.client, { content: 'x', attachments: [{ uploadId }] });
      const [file] = await service.db.query<{ id: string }>('SELECT id FROM files WHERE task_id = $1', [id]);
      await putIntoProject(service, id, project);
      const { client } = people[who];
      const reads = [`/v1/tasks/${id}`, `/v1/tasks/${id}/messages`, `/v1/tasks/${id}/files`, `/v1/files/${file?.id}`];
      const seen = [];
      for (const path of [...reads, `/v1/files/${file?.id}/content`]) seen.push((await client.get(path)).status);
      expect(new Set(seen).size).toBe(1);
      const listed = await client.get<{ tasks: TaskBody[] }>('/v1/tasks?limit=100');
      expect(listed.body.tasks.some((task) => task.id === id)).toBe(seen[0] === 200);
      const answers = [
        await client.get<ErrorBody>(reads[0] ?? ''),
        await client.patch<ErrorBody>(`/v1/tasks/${id}`, { title: 'T' }),
        await client.post<ErrorBody>(`/v1/tasks/${id}/messages`, { content: 'y' }),
        await client.delete<ErrorBody>(`/v1/tasks/${id}`),
      ];
      expect(answers.map(({ status, body }) => (status < 300 ? 'ok' : body.error.code))).toEqual(expected);
    });
  });

  describe('the list', () => {
    it('takes projectId: only what is in it and seen; a project that is not seen has an empty page', async () => {
      const [one, two] = [await createProject(ann, { name: 'One', visibility: 'workspace' }), await createProject(ann)];
      const first = await createTask(ann.client, { content: 'x', projectId: one.id });
      const second = await createTask(bob.client, { content: 'x', projectId: one.id });
      await createTask(ann.client, { content: 'x', projectId: two.id });
      const ids = async (who: Member, query: string) =>
        (await who.client.get<{ tasks: TaskBody[] }>(`/v1/tasks?${query}`)).body.tasks.map(({ id }) => id);
      for (const who of [ann, bob, owner]) expect(await ids(who, `projectId=${one.id}`)).toEqual([second.id, first.id]);
      expect(await ids(bob, `projectId=${two.id}`)).toEqual([]);
      expect(await ids(ann, `projectId=${crypto.randomUUID()}`)).toEqual([]);
      expect(await ids(ann, 'projectId=x')).toEqual([]);
      expect(await ids(ann, `projectId=${one.id}&status=completed`)).toEqual([]);
    });
  });

  describe('PATCH', () => {
    const path = (id: string) => `/v1/tasks/${id}`;

    it('changes what it is given and leaves the rest; {} changes nothing', async () => {
      const budget = { maxSteps: 3 };
      const made = await createTask(ann.client, { content: 'x', title: 'A', metadata: { a: '1', b: '2' }, budget });
      expect((await ann.client.patch<Task>(path(made.id), {})).body.task).toEqual(made);
      const { id: projectId } = await createProject(ann);
      const steps: [object, object][] = [
        [{ title: ' B ' }, { title: 'B' }],
        [{ metadata: { c: '3' } }, { metadata: { c: '3' } }],
        [{ metadata: {} }, { metadata: {} }],
        [{ tags: ['b', 'a'] }, { tags: ['b', 'a'] }],
        [{ archived: true }, { archived: true }],
        [
          { budget: { maxTokens: 9 } },
          { budget: { maxSteps: null, maxTokens: 9, maxDurationSeconds: null, maxCost: null } },
        ],
        [{ budget: null }, { budget: null }],
        [{ projectId }, { projectId }],
        [{ projectId: null }, { projectId: null }],
      ];
      let before: object = made;
      for (const [change, expected] of steps) {
        const { status, body } = await ann.client.patch<Task>(path(made.id), change);
        expect([status, body.task]).toEqual([200, { ...before, ...expected, updatedAt: body.task.updatedAt }]);
        before = body.task;
      }
      // That it waits is said after a moment.
      const { body } = await ann.client.get<Task>(path(made.id));
      expect({ ...body.task, waitingFor: null }).toEqual(before);
    });

    it.each<[string, object]>([
      ['title', { title: null }],
      ['title', { title: ' ' }],
      ['title', { title: 'x'.repeat(201) }],
      ['metadata', { metadata: null }],
      ['metadata', { metadata: { a: 1 } }],
      ['budget.maxSteps', { budget: { maxSteps: 0 } }],
      ['projectId', { projectId: 7 }],
      ['status', { status: 'completed' }],
      ['content', { content: 'x' }],
      ['model', { model: 'x' }],
    ])('a wrong %s is 400', async (param, json) => {
      const id = await makeTask(service, ann);
      const answer = await ann.client.patch<ErrorBody>(path(id), json);
      expect([answer.status, answer.body.error.param]).toEqual([400, param]);
    });

    it('moving it: the project has to be seen, else 404 with its param; the task itself comes first', async () => {
      const hidden = await createProject(bob);
      const shared = await createProject(bob, { name: 'S', visibility: 'workspace' });
      const id = await makeTask(service, ann);
      const fault = async (who: Member, projectId: string) =>
        faultOf(await who.client.patch<ErrorBody>(path(id), { projectId }));
      for (const projectId of [hidden.id, crypto.randomUUID(), 'x']) {
        expect(await fault(ann, projectId)).toEqual([404, 'not_found', 'projectId']);
        expect(await fault(bob, projectId)).toEqual([404, 'not_found', null]);
      }
      await putIntoProject(service, id, shared.id);
      // Bob sees it now, and does not own it.
      expect(await fault(bob, crypto.randomUUID())).toEqual([404, 'not_found', 'projectId']);
      expect(await fault(bob, hidden.id)).toEqual([403, 'not_owner', null]);
    });

    it('a project that is deleted at the same moment never deadlocks with what moves into it', async () => {
      for (let round = 0; round < 10; round++) {
        const { id: projectId } = await createProject(ann);
        const ids = await Promise.all([1, 2, 3].map(() => makeTask(service, ann)));
        await Promise.all(ids.map((id) => putIntoProject(service, id, projectId)));
        const moves = ids.map((id) => ann.client.patch(path(id), { projectId, title: 'moved' }));
        const creates = [1, 2].map(() => ann.client.post('/v1/tasks', { content: 'x', projectId }));
        const removal = ann.client.delete(`/v1/projects/${projectId}`);
        const answers = await Promise.all([removal, ...moves, ...creates]);
        expect(answers.map(({ status }) => status).filter((status) => ![200, 201, 404].includes(status))).toEqual([]);
        expect(await service.db.query('SELECT id FROM tasks WHERE project_id = $1', [projectId])).toEqual([]);
      }
    });
  });
});
