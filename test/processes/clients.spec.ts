import { execFile, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fold, type Message, Millwright, type TaskEvent } from '@millwright/sdk';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { ModelServer } from '../harness/model-server.js';
import { freePort } from '../harness/ports.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, script } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

async function allOf<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of list) all.push(one);
  return all;
}

// The sentences of their own are in `clients-sdk.spec` and `clients-command.spec`.
describe('SDK and command, while the service is killed (reference §19)', () => {
  const folder = temporaryFolder();
  let model: ModelServer;
  let db: TestDatabase;
  let env: Record<string, string>;
  let service: ServiceProcess;
  let apiKey: string;

  beforeAll(async () => {
    [model, db] = await Promise.all([ModelServer.start(), createDatabase()]);
    env = {
      DATABASE_URL: db.url,
      DATA_DIR: join(folder.path, 'data'),
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      OPENAI_COMPATIBLE_URL: model.url,
      PORT: String(await freePort()),
      LEASE_SECONDS: '4',
    };
    service = await ServiceProcess.start(env);
    const words = ['key', 'create', '--workspace', 'default', '--user', 'owner@localhost', '--json'];
    const { stdout } = await run(process.execPath, [join(ROOT, 'dist', 'cli.js'), ...words], {
      env: { PATH: process.env['PATH'], ...env },
    });
    apiKey = (JSON.parse(stdout) as { key: { secret: string } }).key.secret;
  });
  afterAll(async () => {
    await service.end();
    await model.stop();
    await db.drop();
    folder.remove();
  });

  const client = (options: { fetch?: typeof fetch; maxRetries?: number } = {}) =>
    new Millwright({ apiKey, baseUrl: service.url, ...options });
  const killed = async (): Promise<void> => {
    await service.end('SIGKILL');
    service = await ServiceProcess.start(env);
  };
  const command = (file: string, args: string[]) =>
    spawn(file, args, {
      env: { PATH: process.env['PATH'], MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: apiKey },
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  it('who follows a task over a kill sees each event once, in order', async () => {
    const steps = { ...call('bash', { command: 'sleep 0.1' }), times: 8 };
    const { id } = await client().tasks.create({ content: script(steps, { text: 'Done.' }) });
    const seen: TaskEvent[] = [];
    const following = client().tasks.wait(id, { onEvent: (event) => void seen.push(event) });
    const mw = command(process.execPath, [join(ROOT, 'packages/cli/bin.js'), 'follow', id, '--json']);
    const ended = new Promise((resolve) => mw.once('close', resolve));
    const [out, err] = [text(mw.stdout), text(mw.stderr)];
    await until('some of it', () => seen.length >= 8);
    await killed();
    expect((await following).status).toBe('completed');
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, index) => index + 1));
    expect(fold(seen)).toEqual(await allOf<Message>(client().tasks.messages(id)));
    expect([await ended, await err]).toEqual([0, expect.stringContaining('does not answer. Trying again')]);
    const printed = (await out).trimEnd().split('\n').map((line) => JSON.parse(line) as TaskEvent); // prettier-ignore
    expect(printed).toEqual(seen);
  });

  it.each([
    ['while the request is on its way', false],
    ['when the task is there and its answer is not', true],
  ])(
    'a task that is created over a kill is there once: killed %s',
    async (title, answered) => {
      let kills = 0;
      const losing: typeof fetch = async (input, init) => {
        if (kills++ > 0) return fetch(input, init);
        const answer = fetch(input, init).catch(() => null);
        if (answered) await answer;
        await killed();
        await answer;
        throw new TypeError('fetch failed');
      };
      const content = script({ text: title });
      const task = await client({ fetch: losing, maxRetries: 20 }).tasks.create({ content, metadata: { title } });
      expect(kills).toBeGreaterThan(1);
      expect(await client().tasks.wait(task.id)).toMatchObject({ status: 'completed', result: { text: title } });
      const same = (await allOf(client().tasks.list())).filter(({ metadata }) => metadata['title'] === title);
      expect(same.map(({ id }) => id)).toEqual([task.id]);
    },
    120_000,
  );

  it('packed, and installed in an empty folder without a network, they follow a task', async () => {
    const elsewhere = mkdtempSync(join(folder.path, 'packed-'));
    // What the SDK depends on is installed here: no registry is asked.
    const packages = ['packages/sdk', 'packages/cli', 'node_modules/eventsource-parser'];
    const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', elsewhere];
    const { stdout } = await run('npm', [...pack, ...packages.map((name) => `./${name}`)], { cwd: ROOT });
    const archives = (JSON.parse(stdout) as { filename: string }[]).map(({ filename }) => `./${filename}`);
    const offline = ['--offline', '--cache', join(elsewhere, 'cache')];
    const install = ['install', ...offline, '--no-audit', '--no-fund', '--ignore-scripts'];
    await run('npm', [...install, ...archives], { cwd: elsewhere });
    const mw = command(join(elsewhere, 'node_modules/.bin/mw'), ['run', script({ text: 'Packed.' })]);
    const ended = new Promise((resolve) => mw.once('close', resolve));
    const [out, err] = [text(mw.stdout), text(mw.stderr)];
    expect([await ended, await out, await err]).toEqual([0, 'Packed.\n', expect.stringContaining('● completed')]);
  });
});
