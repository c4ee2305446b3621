import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { workdirsOf } from '../../src/operator/backup/workdirs.js';
import { buildsOf, createBox } from '../harness/builds.js';
import { Client } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { Operator } from '../harness/operator.js';
import { newMark, processesGone } from '../harness/processes.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, createTask, finishedLater, readResults, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

describe('A build whose worker is killed (reference §25)', () => {
  const folder = temporaryFolder();
  let model: ModelServer;
  let service: ServiceProcess;
  let env: Record<string, string>;

  beforeAll(async () => {
    model = await ModelServer.start();
    // Nobody waits for this lease: it would not run out in the time of the test.
    env = { DATA_DIR: folder.path, OPENAI_COMPATIBLE_URL: model.url, LEASE_SECONDS: '600', REDIS_URL: '' };
    service = await ServiceProcess.start(env);
  });
  afterAll(async () => {
    await service.end();
    await model.stop();
    folder.remove();
  });

  it('is made anew by the next one, from nothing; the task that waits begins from it, and nothing is left of the first attempt', async () => {
    const operator = new Operator({ db: { url: '' } }, { DATA_DIR: folder.path, SECRET_KEY: '' });
    const who = ['--workspace', 'default', '--user', 'owner@localhost'];
    const { key } = await operator.json<{ key: { secret: string } }>('key', 'create', ...who);
    const client = () => new Client(service.url, key.secret);
    const mark = newMark();
    const wait = `while [ -e waits ]; do sleep 0.1; : ${mark}; done`;
    const slug = await createBox(client(), { setup: ['echo x >>attempts; touch waits', wait] });
    const content = script(call('bash', { command: 'cat attempts' }), { text: 'Done.' });
    const { id } = await createTask(client(), { content, environment: slug });
    const build = await until('a build', async () => (await buildsOf(client(), slug))[0]);
    const waits = () => join(workdirsOf(folder.path), build.id, 'waits');
    await until('the setup to wait', () => existsSync(waits()), { within: 150_000 });

    await service.end('SIGKILL');
    await processesGone(mark, 10_000);
    rmSync(waits());
    service = await ServiceProcess.start(env);
    await until('another attempt to wait', () => existsSync(waits()), { within: 150_000 });
    rmSync(waits());
    expect(await finishedLater(client(), id)).toMatchObject({ status: 'completed' });
    expect((await readResults(client(), id))[0]).toMatchObject({ output: { stdout: 'x\n' } });
    expect(await buildsOf(client(), slug)).toMatchObject([{ id: build.id, state: 'ready' }]);
    const left = () => readdirSync(workdirsOf(folder.path)).filter((name) => name.startsWith(build.id));
    await until('the folders of the build to be gone', () => left().length === 0);
  });
});
