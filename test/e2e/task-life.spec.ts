import { newId } from '../../src/platform/database/ids.js';
import { TASK_STATUSES, type TaskStatus } from '../../src/resources/tasks/task-status.js';
import { useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { makeTask } from '../harness/files.js';
import { readPage } from '../harness/pages.js';
import { createProject, putIntoProject } from '../harness/projects.js';
import { type MessageBody, readMessages, readTask, type TaskBody } from '../harness/tasks.js';

describe('What a client may do in which status (reference §5)', () => {
  let member: Member;

  // No worker: a task stays in the status in which it was put.
  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
  });

  const taskIn = async (status: TaskStatus, owner = member): Promise<string> => {
    const id = await makeTask(service, owner);
    await service.db.query('UPDATE tasks SET status = $2, turn = 1 WHERE id = $1', [id, status]);
    return id;
  };
  /** Tasks under way are listed by what is under way. */
  const begin = (id: string, status: TaskStatus) =>
    status === 'awaiting_input'
      ? service.db.query(
          `WITH message AS (
             INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, parts)
             VALUES (gen_random_uuid(), $1, 1, 1, 1, 'assistant', 'in_progress', '[{"type": "tool", "toolCallId": "call_1"}]')
             RETURNING id),
           call AS (
             INSERT INTO tool_invocations (message_id, idx, tool_call_id, name, input, state)
             SELECT id, 0, 'call_1', 'ask', '{}', 'running' FROM message)
           INSERT INTO interactions (id, task_id, message_id, tool_call_id, type, question, expires_at)
           SELECT $2::uuid, $1, id, 'call_1', 'question', 'Why?', now() + interval '1 hour' FROM message`,
          [id, newId()],
        )
      : service.db.query(
          `INSERT INTO runs (id, task_id, workspace_id, kind, status, lease_until)
           SELECT gen_random_uuid(), id, workspace_id, 'turn', status, CASE status WHEN 'running' THEN now() + interval '1 hour' END
           FROM tasks WHERE id = $1 AND status IN ('queued', 'running')`,
          [id],
        );
  const send = (id: string, json: object = { content: 'x' }) =>
    member.client.post<ErrorBody & { message: MessageBody; task: TaskBody }>(`/v1/tasks/${id}/messages`, json);
  const cancel = (id: string) => member.client.post<ErrorBody & { task: TaskBody }>(`/v1/tasks/${id}/cancel`);

  it('the public statuses are six, and each of them is a filter of the list', async () => {
    expect(new Set(TASK_STATUSES)).toEqual(
      new Set(['queued', 'running', 'awaiting_input', 'completed', 'cancelled', 'failed']),
    );
    const lister = await makeMember(service);
    const ids = new Map<TaskStatus, string>();
    for (const status of TASK_STATUSES) ids.set(status, await taskIn(status, lister));
    for (const [status, id] of ids) {
      await begin(id, status);
      expect(await readPage(lister.client, '/v1/tasks', { status })).toEqual({ ids: [id], nextCursor: null });
    }
  });

  it.each<[TaskStatus, TaskStatus]>([
    ['queued', 'queued'],
    ['running', 'running'],
    ['awaiting_input', 'queued'],
    ['completed', 'queued'],
    ['cancelled', 'queued'],
    ['failed', 'queued'],
  ])('a message is accepted while the task is %s, and durable; the task is then %s', async (before, after) => {
    const id = await taskIn(before);
    const { status, body } = await send(id);
    expect([status, body.task.status]).toEqual([202, after]);
    expect((await readMessages(member.client, id)).map((message) => message.id)).toEqual([body.message.id]);
    expect(body.task.messageCount).toBe(1);
  });

  it.each<[TaskStatus, number, string]>([
    ['queued', 200, 'cancelled'],
    ['running', 200, 'cancelled'],
    ['awaiting_input', 200, 'cancelled'],
    ['cancelled', 200, 'cancelled'],
    ['completed', 409, 'task_not_cancellable'],
    ['failed', 409, 'task_not_cancellable'],
  ])('a cancel of a task that is %s is %d: %s', async (before, status, outcome) => {
    const id = await taskIn(before);
    const answer = await cancel(id);
    expect([answer.status, status === 200 ? answer.body.task.status : answer.body.error.code]).toEqual([status, outcome]);
    expect((await readTask(member.client, id)).status).toBe(status === 200 ? 'cancelled' : before);
  }); // prettier-ignore

  it.each(TASK_STATUSES.filter((status) => status !== 'awaiting_input'))(
    'a task that is %s waits for nothing: an answer is 409 interaction_not_pending, and pendingInteraction is null',
    async (status) => {
      const id = await taskIn(status);
      const json = { interactionId: crypto.randomUUID(), content: 'x' };
      const { status: code, body } = await member.client.post<ErrorBody>(`/v1/tasks/${id}/interaction`, json);
      expect([code, body.error.code]).toEqual([409, 'interaction_not_pending']);
      expect((await readTask(member.client, id)).pendingInteraction).toBeNull();
    },
  );

  it.each(TASK_STATUSES)('a task that is %s can be deleted; deleting again, and every later read, is 404', async (status) => {
    const id = await taskIn(status);
    await send(id);
    const path = `/v1/tasks/${id}`;
    expect((await member.client.delete(path)).body).toEqual({ deleted: true, id });
    const later: { status: number }[] = [await member.client.delete(path), await cancel(id), await send(id)];
    for (const read of [path, `${path}/messages`, `${path}/files`]) later.push(await member.client.get(read));
    expect(later.map((answer) => answer.status)).toEqual(later.map(() => 404));
    expect(await service.db.query('SELECT 1 FROM messages WHERE task_id = $1', [id])).toEqual([]);
  }); // prettier-ignore

  it('members may send messages to, answer and cancel tasks that they see, also those that others have created', async () => {
    const colleague = await makeMember(service, { workspace: member.workspace });
    const { id: projectId } = await createProject(member, { name: 'P', visibility: 'workspace' });
    const id = await taskIn('queued');
    const post = (path: string, json?: object) => colleague.client.post<ErrorBody>(`/v1/tasks/${id}/${path}`, json);
    const all = async () => [
      (await post('messages', { content: 'x' })).status,
      (await post('interaction', { interactionId: 'none', content: 'x' })).status,
      (await post('cancel')).status,
    ];
    expect(await all()).toEqual([404, 404, 404]);
    await putIntoProject(service, id, projectId);
    // Let through as far as the question that is not there.
    expect(await all()).toEqual([202, 409, 200]);
  });

  it.each([
    { mode: 'now' },
    { mode: null },
    { content: '  ' },
    {},
    { content: 'x', colour: 'red' },
    { attachments: [] },
  ])('the message %j is 400 and leaves nothing', async (json) => {
    const id = await taskIn('completed');
    const { status } = await send(id, 'mode' in json ? { content: 'x', ...json } : json);
    expect(status).toBe(400);
    expect(await readMessages(member.client, id)).toEqual([]);
    expect((await readTask(member.client, id)).status).toBe('completed');
  });
});
