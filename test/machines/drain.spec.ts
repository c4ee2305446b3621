import { Client } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { Machines } from '../harness/machines.js';
import { ModelServer } from '../harness/model-server.js';
import { Operator } from '../harness/operator.js';
import type { ServiceProcess } from '../harness/service.js';
import { call, createTask, finished, reaches, readResults, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('A machine that is drained (reference §23)', () => {
  let model: ModelServer;
  let db: TestDatabase;
  let machines: Machines;
  let first: ServiceProcess;
  let operator: Operator;
  let client: Client;

  beforeAll(async () => {
    model = await ModelServer.start();
    db = await createDatabase();
    machines = new Machines({ DATABASE_URL: db.url, OPENAI_COMPATIBLE_URL: model.url });
    first = await machines.first();
    operator = new Operator({ db });
    const words = ['--workspace', 'default', '--user', 'owner@localhost'];
    client = new Client(
      first.url,
      (await operator.json<{ key: { secret: string } }>('key', 'create', ...words)).key.secret,
    );
  });
  afterAll(async () => {
    await machines.end();
    await model.stop();
    await db.drop();
  });

  const machineOf = async (taskId: string) =>
    (await db.query<{ machine_id: string | null }>('SELECT machine_id FROM tasks WHERE id = $1', [taskId]))[0]
      ?.machine_id;

  it('takes no new run, hands over what runs at its next step, and ends with exit code 0', async () => {
    const second = await machines.another();
    const bash = (command: string) => call('bash', { command });
    const content = script(bash('until [ -e go ]; do sleep 0.1; done; echo over'), bash('echo next'), {
      text: 'Done.',
    });
    const { id: there } = await createTask(client, { content });
    await reaches(client, there, 'running');
    expect(await machineOf(there)).toBe(machines.id(2));
    await machines.another();
    await until(
      'its command to run',
      async () =>
        (
          await db.query(
            'SELECT 1 FROM tool_invocations i JOIN messages m ON m.id = i.message_id WHERE m.task_id = $1',
            [there],
          )
        ).length > 0,
    );
    await operator.run('machine', 'drain', machines.id(2));
    await until('it to be told', () => second.log.includes('are handed back'), { within: 10_000 });
    // It waits for the calls of the step, beyond the seconds that a signal leaves them.
    const { id: next } = await createTask(client, { content: script(bash('echo here'), { text: 'Done.' }) });
    expect((await finished(client, next)).status).toBe('completed');
    expect(await machineOf(next)).toBe(machines.id(3));
    expect(second.ended).toBe(false);
    machines.touch(2, there, 'go');
    await until('the process to end', () => second.ended, { within: 20_000 });
    expect(second.child.exitCode).toBe(0);
    expect((await finished(client, there)).status).toBe('completed');
    const results = await readResults(client, there);
    expect(results.map(({ status }) => status)).toEqual(['success', 'success']);
    expect(results.map(({ output }) => (output as { stdout: string }).stdout)).toEqual(['over\n', 'next\n']);
    const { machines: left } = await operator.json<{ machines: { id: string }[] }>('machine', 'list');
    expect(left.map(({ id }) => id)).toEqual([machines.id(3)]);
    expect(await machineOf(there)).toBe(machines.id(3));
  });

  it('whose host is gone for good has its tasks go on elsewhere, in the folder that they had', async () => {
    const bash = (command: string) => call('bash', { command });
    const third = machines.last;
    const content = script(bash('echo one > a; mkdir -p d; ln -s ../a d/l'), { text: 'Done.' });
    const { id: there } = await createTask(client, { content });
    await finished(client, there);
    expect(await machineOf(there)).toBe(machines.id(3));
    expect(await third.end('SIGKILL')).toBeNull();
    machines.lose(3);
    await machines.another();
    await client.post(`/v1/tasks/${there}/messages`, {
      content: script(bash('cat d/l; echo two >> a; cat a'), { text: 'Done.' }),
    });
    expect((await finished(client, there)).status).toBe('completed');
    const last = (await readResults(client, there)).at(-1);
    expect(last?.output).toMatchObject({ stdout: 'one\none\ntwo\n' });
    expect(await machineOf(there)).toBe(machines.id(4));
  });
});
