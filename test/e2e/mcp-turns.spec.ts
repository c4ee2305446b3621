// What the extension Tasks knows of a turn, when others follow it or come in between.
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { HeldModel } from '../harness/held-model.js';
import { holdingTask, untilWaiting } from '../harness/locks.js';
import { McpClient, type ToolResult } from '../harness/mcp.js';
import { createTask, finished, reaches, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface McpTask {
  taskId: string;
  status: string;
  result?: ToolResult<{ task: TaskBody }>;
}
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

describe('Turns of the extension io.modelcontextprotocol/tasks (reference §29)', () => {
  let model: HeldModel;
  let member: Member;
  let mcp: McpClient;
  const service = useService(async () => {
    model = await HeldModel.start();
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.server.url, WORKER_CONCURRENCY: '1' } });
  });
  beforeAll(async () => {
    member = await makeMember(service);
    mcp = new McpClient(service.url, member.key.secret);
  });
  afterAll(() => model.server.stop());

  const create = async () => {
    const args = { name: 'create_task', arguments: { content: 'Begin.' } };
    const { taskId } = (await mcp.askModern<McpTask>('tools/call', args, TASKS)).body.result;
    return { taskId, id: taskId.slice(0, 36) };
  };
  const get = async (taskId: string) => {
    const { status, result } = (await mcp.askModern<McpTask>('tasks/get', { taskId }, TASKS)).body.result;
    return [status, result?.structuredContent.task.result?.text];
  };
  const cancel = (taskId: string) => mcp.askModern<object>('tasks/cancel', { taskId }, TASKS);
  const say = async (id: string, mode?: string) => {
    const { status } = await member.client.post(`/v1/tasks/${id}/messages`, { content: 'More.', mode });
    expect(status).toBe(202);
  };
  /** That a turn stays cancelled while another one waits, runs and ends. */
  const staysCancelled = async (id: string, place?: () => void) => {
    expect(await get(`${id}.1`)).toEqual(['cancelled', undefined]);
    await say(id);
    expect(await get(`${id}.1`)).toEqual(['cancelled', undefined]);
    place?.();
    const later = await model.asked();
    expect(await get(`${id}.1`)).toEqual(['cancelled', undefined]);
    later.answer({ text: 'The later end.' });
    expect((await finished(member.client, id)).result?.text).toBe('The later end.');
    expect(await get(`${id}.1`)).toEqual(['cancelled', undefined]);
  };

  it('one that was cancelled stays so, whatever a later one does', async () => {
    const { taskId, id } = await create();
    const held = await model.asked();
    expect((await cancel(taskId)).body.error).toBeUndefined();
    held.answer({ text: 'Late.' });
    await staysCancelled(id);
    expect(await get(`${id}.2`)).toEqual(['completed', 'The later end.']);
  });

  it('so does one that was cancelled before it began', async () => {
    await createTask(member.client, { content: 'It takes the one place.' });
    const first = await model.asked();
    const { taskId, id } = await create();
    expect((await cancel(taskId)).body.error).toBeUndefined();
    await staysCancelled(id, () => first.answer({ text: 'Done.' }));
    // Nothing is left of it to cancel.
    expect((await cancel(taskId)).body).toMatchObject({ result: {} });
  });

  it('tasks/cancel cancels none that has begun since it looked', async () => {
    const { taskId, id } = await create();
    const first = await model.asked();
    const task = await holdingTask(service.db, id);
    const interrupting = say(id, 'interrupt');
    await untilWaiting(service.db, 'FOR UPDATE OF t');
    const cancelling = cancel(taskId);
    await until('both to wait', async () => {
      const [row] = await service.db.query<{ count: number }>(
        `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE OF t%'`,
      );
      return row?.count === 2;
    });
    await task.release();
    await interrupting;
    expect((await cancelling).body).toMatchObject({ result: {} });
    first.answer({ text: 'Late.' });
    const second = await model.asked();
    expect((await reaches(member.client, id, 'running', 'cancelled')).status).toBe('running');
    second.answer({ text: 'The second end.' });
    expect((await finished(member.client, id)).result?.text).toBe('The second end.');
    // The refusal is on record as that of a cancel which came too late.
    const refused = await member.client.post<ErrorBody>(`/v1/tasks/${id}/cancel`);
    expect(refused.body.error.code).toBe('task_not_cancellable');
  });
});
