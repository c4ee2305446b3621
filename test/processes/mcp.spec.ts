// POST /mcp over the end of processes: waits that are answered, and tasks of the extension that stay what they are.
import { join } from 'node:path';
import { useService } from '../harness/app.js';
import { Client, makeMember, type Member } from '../harness/client.js';
import { McpClient, type ToolResult } from '../harness/mcp.js';
import { HeldModel } from '../harness/held-model.js';
import { freePort } from '../harness/ports.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { createTask, finished, reaches, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
interface Turn {
  taskId: string;
  status: string;
  result?: ToolResult<{ task: TaskBody }>;
}

describe('POST /mcp while the service ends (reference §29)', () => {
  const folder = temporaryFolder();
  const service = useService();
  let model: HeldModel;
  let member: Member;
  let env: Record<string, string>;
  let running: ServiceProcess;
  beforeAll(async () => {
    model = await HeldModel.start();
    env = {
      DATABASE_URL: service.db.url,
      DATA_DIR: join(folder.path, 'data'),
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      OPENAI_COMPATIBLE_URL: model.server.url,
      PORT: String(await freePort()),
      LEASE_SECONDS: '4',
    };
    running = await ServiceProcess.start(env);
    member = await makeMember(service);
  });
  afterAll(async () => {
    await running.end('SIGKILL');
    await model.server.stop();
    folder.remove();
  });
  const mcp = () => new McpClient(running.url, member.key.secret);
  const client = () => new Client(running.url, member.key.secret);
  const again = async (signal: NodeJS.Signals) => {
    await running.end(signal);
    running = await ServiceProcess.start(env);
  };
  const get = async (taskId: string) => (await mcp().askModern<Turn>('tasks/get', { taskId }, TASKS)).body.result;

  it('a wait is answered at SIGTERM with what is known, and the process ends', async () => {
    const { id } = await createTask(client(), { content: 'Wait.' });
    const held = await model.asked();
    await reaches(client(), id, 'running');
    const asked = mcp().call<{ task: TaskBody }>('get_task', { taskId: id, waitSeconds: 50 });
    await until('the call to wait', async () => (await (await fetch(`${running.url}/metrics`)).text()).includes('millwright_event_streams 1\n')); // prettier-ignore
    const began = performance.now();
    const ended = running.end('SIGTERM');
    const { status, body } = await asked;
    expect([status, body.result.isError, body.result.structuredContent.task.id]).toEqual([200, undefined, id]);
    expect(performance.now() - began).toBeLessThan(20_000);
    held.answer({ text: 'Done.' });
    expect(await ended).toBe(0);
    running = await ServiceProcess.start(env);
    await finishedWith(id, 'Done.');
  });

  /** A model that is asked again, because the process ended before its answer was kept, says the same. */
  async function finishedWith(id: string, text: string): Promise<void> {
    const over = finished(client(), id);
    let ended = false;
    void over.finally(() => (ended = true)).catch(() => undefined);
    await until('the task to end', () => {
      for (const one of model.held.splice(0)) one.answer({ text });
      return ended;
    }, { within: 150_000 }); // prettier-ignore
    expect((await over).status).toBe('completed');
  }

  it.each<NodeJS.Signals>(['SIGTERM', 'SIGKILL'])(
    'a task of the extension is the same over %s: between its creation and its first reading, while it runs, and at its end',
    async (signal) => {
      const made = await mcp().askModern<Turn>('tools/call', { name: 'create_task', arguments: { content: `Over ${signal}.` } }, TASKS); // prettier-ignore
      const { taskId } = made.body.result;
      await again(signal);
      expect(await get(taskId)).toMatchObject({ taskId, status: 'working' });
      await model.asked();
      await again(signal);
      expect(await get(taskId)).toMatchObject({ taskId, status: 'working' });
      const [id = ''] = taskId.split('.');
      await finishedWith(id, `The end over ${signal}.`);
      await again(signal);
      const done = await get(taskId);
      expect([done.taskId, done.status]).toEqual([taskId, 'completed']);
      expect(done.result?.structuredContent.task.result?.text).toBe(`The end over ${signal}.`);
    },
    120_000,
  );
});
