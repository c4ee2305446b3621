import { Client } from '../harness/client.js';
import { type ChatRequest, ModelServer, userText } from '../harness/model-server.js';
import { Operator } from '../harness/operator.js';
import { newMark, processesGone, processesWith, sleeps } from '../harness/processes.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, createTask, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('A worker that is killed while a command goes on (reference §27.2)', () => {
  const folder = temporaryFolder();
  let [model, service] = [] as unknown as [ModelServer, ServiceProcess];
  beforeAll(async () => {
    model = await ModelServer.start();
  });
  afterAll(async () => {
    await service?.end('SIGKILL');
    await model.stop();
    folder.remove();
  });

  it('is followed by one that calls it lost, tells the agent, and never starts it again', async () => {
    const [going, held] = [newMark(), newMark()];
    const begun = call('bash', { command: `echo begun; exec sleep ${going}`, background: true });
    const waits = call('bash', { command: `sleep ${held}`, timeoutSeconds: 600 });
    model.script = ({ messages }: ChatRequest) =>
      [begun, waits][messages.filter(({ role }) => role === 'tool').length] ?? { text: 'Done.' };
    const env = { DATA_DIR: folder.path, OPENAI_COMPATIBLE_URL: model.url };
    service = await ServiceProcess.start(env);
    const operator = new Operator({ db: { url: '' } }, { DATA_DIR: folder.path, SECRET_KEY: '' });
    const who = ['--workspace', 'default', '--user', 'owner@localhost'];
    const { key } = await operator.json<{ key: { secret: string } }>('key', 'create', ...who);
    const { id } = await createTask(new Client(service.url, key.secret), { content: 'Do it.' });
    await Promise.all([sleeps(going), sleeps(held)]);

    await service.end('SIGKILL');
    await Promise.all([processesGone(going), processesGone(held)]);
    service = await ServiceProcess.start(env);
    const again = new Client(service.url, key.secret);
    await until('the task to end', async () => (await readTask(again, id)).finishedAt !== null, { within: 150_000 });
    expect(await readTask(again, id)).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
    const { body } = await again.get<{ commands: object[] }>(`/v1/tasks/${id}/commands`);
    expect(body.commands).toMatchObject([{ id: 'b1', status: 'lost', exitCode: null }]);
    const told = userText(model.requests.at(-1)?.body as ChatRequest);
    expect(told).toContain(`b1 (lost): "echo begun; exec sleep ${going}"`);
    expect([...processesWith(going), ...processesWith(held)]).toEqual([]);
    expect(await service.end()).toBe(0);
  });
});
