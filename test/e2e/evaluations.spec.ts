// Versions of an agent on the same work (reference §27.5).
import { AGENTS, changeAgent, createAgent } from '../harness/agents.js';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { upload } from '../harness/files.js';
import { ModelServer } from '../harness/model-server.js';
import { createTask, finished, readTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface Evaluation {
  id: string;
  status: string;
  table: { version: number; tasks: number; completed: number; checks: object; steps: number }[];
  tasks: { case: number; version: number; attempt: number; taskId: string; status: string }[];
}

describe('Evaluations (reference §27.5)', () => {
  let server: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    server = await ModelServer.start();
    const { script: marked } = server;
    server.script = (request, attempt) =>
      JSON.stringify(request.messages).includes('SCRIPT') ? marked(request, attempt) : { text: 'Done.' };
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: server.url } });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    await createAgent(owner.client, { instructions: 'One.' });
    await changeAgent(owner.client, 'reviewer', { instructions: 'Two.' });
  });
  afterAll(() => server.stop());

  const post = <T = { evaluation: Evaluation }>(json: object, { client } = owner) =>
    client.post<T>(`${AGENTS}/reviewer/evaluate`, json);
  const evaluate = async (json: object) => {
    const { status, body, text } = await post(json);
    if (status !== 202) throw new Error(`${status}: ${text}`);
    return body.evaluation;
  };
  const ended = (id: string) =>
    until('the evaluation is over', async () => {
      const { evaluation } = (await owner.client.get<{ evaluation: Evaluation }>(`/v1/evaluations/${id}`)).body;
      return evaluation.status === 'completed' ? evaluation : null;
    });

  it('are each case in each version as a task of its own, and a table of what they came to', async () => {
    const cases = [
      { content: script({ text: 'Done.' }), checks: [{ name: 'one', command: 'true' }] },
      { content: script({ text: 'Done.' }), checks: [{ name: 'one', command: 'false' }] },
    ];
    const { id, tasks, status } = await evaluate({ versions: [1, 2], cases, repeat: 2 });
    expect(status).toBe('running');
    expect(tasks.map((one) => [one.case, one.version, one.attempt])).toEqual([
      ...[[0, 1, 1], [0, 1, 2], [0, 2, 1], [0, 2, 2]],
      ...[[1, 1, 1], [1, 1, 2], [1, 2, 1], [1, 2, 2]],
    ]); // prettier-ignore
    const { table } = await ended(id);
    const figures = { tasks: 4, completed: 2, failed: { checks_failed: 2 }, checks: { passed: 2, failed: 2 } };
    expect(table).toMatchObject([
      { version: 2, ...figures },
      { version: 1, ...figures },
    ]);
    const task = await readTask(owner.client, tasks[0]?.taskId ?? '');
    expect(task).toMatchObject({ agent: { slug: 'reviewer', version: 1 }, metadata: { evaluation: id, case: '0' } });
    const { body } = await owner.client.get<{ tasks: object[] }>(`/v1/tasks?metadata.evaluation=${id}`);
    expect(body.tasks).toHaveLength(8);
  });

  it('do a task anew as it began: its first message with what was attached, its checks and environment', async () => {
    const { id: uploadId } = await upload(service, owner, 'the bytes', { name: 'data.txt' });
    const { id: taskId } = await createTask(owner.client, {
      content: 'Look at the data.',
      attachments: [{ uploadId }],
      checks: [{ name: 'there', command: 'test -d .' }],
    });
    await finished(owner.client, taskId);
    await owner.client.post(`/v1/tasks/${taskId}/messages`, { content: 'More.' });
    await finished(owner.client, taskId);
    const { id, tasks } = await evaluate({ versions: [2], cases: [{ taskId }] });
    const { table } = await ended(id);
    expect(table).toMatchObject([{ version: 2, tasks: 1, completed: 1, checks: { passed: 1, failed: 0 } }]);
    const again = tasks[0]?.taskId ?? '';
    const files = (await owner.client.get<{ files: { name: string; id: string }[] }>(`/v1/tasks/${again}/files`)).body.files; // prettier-ignore
    expect(files.filter(({ name }) => name === 'data.txt')).toHaveLength(1);
    expect(await readTask(owner.client, again)).toMatchObject({ title: 'Look at the data.' });
    const sent = server.requests.filter(({ sent }) => sent.includes('attachments/data.txt'));
    expect(sent.length).toBeGreaterThanOrEqual(3);
  });

  it.each<[object, number, string]>([
    [{ cases: [{ content: 'x' }] }, 400, 'versions'],
    [{ versions: [], cases: [{ content: 'x' }] }, 400, 'versions'],
    [{ versions: [1], cases: [] }, 400, 'cases'],
    [{ versions: [1], cases: [{}] }, 400, 'cases[0]'],
    [{ versions: [1], cases: [{ content: 'x' }, { content: 'x', taskId: 'y' }] }, 400, 'cases[1]'],
    [{ versions: [1], cases: [{ content: 'x' }], repeat: 6 }, 400, 'repeat'],
    [{ versions: [1, 2], cases: Array.from({ length: 50 }, () => ({ content: 'x' })), repeat: 5 }, 400, 'cases'],
    [{ versions: [3], cases: [{ content: 'x' }] }, 404, 'agent'],
    [{ versions: [1], cases: [{ content: 'x' }, { taskId: 'none' }] }, 404, 'cases[1].taskId'],
  ])('that are %j are refused, and make nothing', async (json, ...expected) => {
    const { status, body } = await post<ErrorBody>(json);
    expect([status, body.error.param]).toEqual(expected);
    expect((await owner.client.get<{ tasks: object[] }>('/v1/tasks')).body.tasks).toEqual([]);
  });

  it('are seen by who made them, owners and admins, and do no task that the caller does not see', async () => {
    const member = await makeMember(service, { workspace: owner.workspace });
    const { id: taskId } = await createTask(owner.client, { content: 'x' });
    expect((await post<ErrorBody>({ versions: [1], cases: [{ taskId }] }, member)).status).toBe(404);
    const { id } = await evaluate({ versions: [1], cases: [{ content: 'x' }] });
    expect((await member.client.get(`/v1/evaluations/${id}`)).status).toBe(404);
    const own = await post({ versions: [1], cases: [{ content: 'x' }] }, member);
    expect((await owner.client.get(`/v1/evaluations/${own.body.evaluation.id}`)).status).toBe(200);
  });
});
