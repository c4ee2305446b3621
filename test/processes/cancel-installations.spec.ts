import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '../harness/client.js';
import { createDatabase } from '../harness/database.js';
import { ModelServer } from '../harness/model-server.js';
import { newMark, processesGone, processesWith } from '../harness/processes.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, createTask, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const run = promisify(execFile);

// Built processes, as an operator starts them. What a cancel does to the task is in `cancel.spec`.
describe('The processes of a cancelled or deleted task, on every installation (reference §5)', () => {
  let model: ModelServer;
  /** What a test has started, the first first. */
  const undo: (() => unknown)[] = [];
  const folder = temporaryFolder();

  beforeAll(async () => {
    model = await ModelServer.start();
  });
  afterEach(async () => {
    for (const end of undo.splice(0).reverse()) await end();
  });
  afterAll(async () => {
    await model.stop();
    folder.remove();
  });

  const start = async (env: Record<string, string>): Promise<ServiceProcess> => {
    const started = await ServiceProcess.spawn({ ...env, DATA_DIR: folder.path, OPENAI_COMPATIBLE_URL: model.url });
    undo.push(() => started.end());
    await started.ready();
    return started;
  };
  const keyOf = async (env: Record<string, string>): Promise<string> => {
    const words = ['key', 'create', '--workspace', 'default', '--user', 'owner@localhost', '--json'];
    const { stdout } = await run(process.execPath, [CLI, ...words], {
      env: { PATH: process.env['PATH'], DATA_DIR: folder.path, ...env },
    });
    return (JSON.parse(stdout) as { key: { secret: string } }).key.secret;
  };
  const oneProcess = async (): Promise<Client> => new Client((await start({})).url, await keyOf({}));
  const twoProcesses = async (more: Record<string, string> = {}): Promise<Client> => {
    const db = await createDatabase();
    undo.push(() => db.drop());
    const env = { DATABASE_URL: db.url, SECRET_KEY: 'a secret of the tests, at least 32 bytes long', ...more };
    const [api] = await Promise.all([start({ ...env, ROLE: 'api' }), start({ ...env, ROLE: 'worker' })]);
    return new Client(api.url, await keyOf(env));
  };
  const withRedis = async (): Promise<Client> => {
    const redis = await RedisServer.start();
    undo.push(() => redis.stop());
    return twoProcesses({ REDIS_URL: redis.url });
  };

  /** Whether the answer leaves nothing of what its task runs, in the foreground or detached, for longer than 2 s. */
  const expectGone = async (client: Client, method: string, action: string): Promise<void> => {
    const mark = newMark();
    // A daemon: of a session of its own, its parent gone, nothing of it held by the command.
    const command = `setsid --fork sh -c "exec sleep ${mark}" </dev/null >/dev/null 2>&1; sleep ${mark}`;
    const { id } = await createTask(client, { content: script(call('bash', { command })) });
    await until('both to run', () => processesWith(`sleep\0${mark}`).length === 2, { within: 150_000 });
    expect((await client.request(method, `/v1/tasks/${id}${action}`)).status).toBe(200);
    await processesGone(mark, 2000);
  };
  const both = (begin: () => Promise<Client>) => async () => {
    const client = await begin();
    await expectGone(client, 'POST', '/cancel');
    await expectGone(client, 'DELETE', '');
  };

  it('one process: they are gone within 2 s, one that is detached too', both(oneProcess), 120_000);
  it('api and worker, PostgreSQL alone: likewise', both(twoProcesses), 120_000);
  describeWithRedis('with Redis', () => {
    it('api and worker: likewise', both(withRedis), 120_000);
  });
});
