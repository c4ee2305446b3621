import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { holding, untilWaiting } from '../harness/locks.js';
import { ModelServer } from '../harness/model-server.js';
import { createProject } from '../harness/projects.js';
import { runTask, script, type TaskBody } from '../harness/tasks.js';

type Forked = TaskBody & { projectId: string | null; createdBy: { id: string } };

describe('Forks of tasks in projects (reference §5)', () => {
  let model: ModelServer;
  let who: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url } });
  });
  beforeAll(async () => (who = await makeMember(service, { role: 'owner' })));
  afterAll(() => model.stop());

  const taskIn = (projectId: string, { client } = who) => runTask(client, script({ text: 'Hello.' }), { projectId });
  const ask = ({ client }: Member, taskId: string, body: object = {}) =>
    client.post<{ task: Forked } & ErrorBody>(`/v1/tasks/${taskId}/fork`, body);
  const fork = async (taskId: string, body: object = {}, by = who) => {
    const answer = await ask(by, taskId, body);
    expect([answer.status, answer.body.error]).toEqual([201, undefined]);
    return answer.body.task;
  };

  it('they are in the project of the original unless another one or none is given', async () => {
    const [{ id: projectId }, { id: other }] = [await createProject(who), await createProject(who)];
    const { id } = await taskIn(projectId);
    const made = [await fork(id), await fork(id, { projectId: other }), await fork(id, { projectId: null })];
    expect(made.map((one) => one.projectId)).toEqual([projectId, other, null]);
  });

  it('a colleague who sees the original has the fork, and needs to see the project that is given', async () => {
    const colleague = await makeMember(service, { workspace: who.workspace });
    const [shared, hidden] = [
      await createProject(who, { name: 'Shared', visibility: 'workspace' }),
      await createProject(who),
    ];
    const { id } = await taskIn(shared.id);
    const made = await fork(id, {}, colleague);
    expect(made).toMatchObject({ projectId: shared.id, createdBy: { id: colleague.user.id } });
    const alone = await fork(id, { projectId: null }, colleague);
    expect((await colleague.client.get(`/v1/tasks/${alone.id}`)).status).toBe(200);
    const refused = await ask(colleague, id, { projectId: hidden.id });
    expect([refused.status, refused.body.error]).toEqual([404, expect.objectContaining({ param: 'projectId' })]);
    expect((await ask(colleague, (await taskIn(hidden.id)).id)).status).toBe(404);
  });

  it('one that meets the deletion of its project waits for that, and has no project', async () => {
    const { id: projectId } = await createProject(who);
    const { id } = await taskIn(projectId);
    // The steps of a deletion, in its order.
    const deletion = await holding(service.db, 'SELECT 1 FROM projects WHERE id = $1 FOR UPDATE', [projectId]);
    const forked = fork(id);
    await untilWaiting(service.db, 'FROM projects p');
    for (const step of [
      'SELECT 1 FROM tasks WHERE project_id = $1 FOR UPDATE',
      'UPDATE tasks SET project_id = NULL WHERE project_id = $1',
      'DELETE FROM projects WHERE id = $1',
    ])
      await deletion.query(step, [projectId]);
    await deletion.release();
    expect(await forked).toMatchObject({ projectId: null });
  });
});
