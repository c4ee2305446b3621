import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { Client } from '../harness/client.js';
import { Lines, query } from '../harness/embedded.js';
import { HeldModel } from '../harness/held-model.js';
import { Operator } from '../harness/operator.js';
import { newMark, processesGone, sleeps } from '../harness/processes.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, createTask, finished, readTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

interface RunRow {
  id: string;
  status: string;
  epoch: number;
}

describe('One process on the embedded database that is killed (reference §5)', () => {
  const folder = temporaryFolder();
  let model: HeldModel;
  let service: ServiceProcess;
  let env: Record<string, string>;

  beforeAll(async () => {
    model = await HeldModel.start();
    // Nobody waits for this lease: it would not run out in the time of the test.
    env = { DATA_DIR: folder.path, OPENAI_COMPATIBLE_URL: model.server.url, LEASE_SECONDS: '600', REDIS_URL: '' };
    service = await ServiceProcess.start(env);
  });
  afterAll(async () => {
    await service.end();
    await model.server.stop();
    folder.remove();
  });

  const runs = async () => {
    const { url } = await EmbeddedPostgres.joinOrStart({ dataDir: folder.path, logger: new Lines() });
    return query<RunRow & Record<string, unknown>>(url, 'SELECT id, status, epoch FROM runs');
  };

  it('is recovered by the next start at once', async () => {
    const operator = new Operator({ db: { url: '' } }, { DATA_DIR: folder.path, SECRET_KEY: '' });
    const who = ['--workspace', 'default', '--user', 'owner@localhost'];
    const { key } = await operator.json<{ key: { secret: string } }>('key', 'create', ...who);
    const { id } = await createTask(new Client(service.url, key.secret), { content: 'Hold on.' });
    const mark = newMark();
    (await model.asked()).answer(call('bash', { command: `sleep ${mark}` }));
    await sleeps(mark);
    expect(await runs()).toMatchObject([{ status: 'running', epoch: 1 }]);

    await service.end('SIGKILL');
    // The next run has the folder to itself.
    await processesGone(mark, 2000);
    service = await ServiceProcess.start(env);
    const again = await model.asked();
    const client = new Client(service.url, key.secret);
    expect((await readTask(client, id)).status).toBe('running');
    const [run] = await runs();
    // Claimed, recovered, claimed.
    expect(run).toMatchObject({ status: 'running', epoch: 3 });
    const said = `Run ${run?.id} is taken from a worker that has not renewed its lease.`;
    await until('the log to say so', () => service.log.includes(said));
    again.answer({ text: 'Held.' });
    expect(await finished(client, id)).toMatchObject({ status: 'completed', result: { text: 'Held.' } });
  });
});
