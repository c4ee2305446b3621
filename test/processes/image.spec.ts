// The image of the Dockerfile without a container engine: its files in a folder, started as its user on a read-only root.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '../harness/client.js';
import { freePort } from '../harness/ports.js';
import { temporaryFolder } from '../harness/service.js';
import { createTask, finished, readResults, readTask, runTask } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = join(ROOT, 'scripts/image-root.sh');
const run = promisify(execFile);
/** The first words in brackets behind `name` of a template of the chart, which has the `holder` in them. */
const wordsOf = (name: string, holder: string) => {
  const chart = readFileSync(join(ROOT, 'deploy/helm/millwright/templates/worker.yaml'), 'utf8');
  return new RegExp(`${name}: \\[([^\\]]*${holder}[^\\]]*)\\]`).exec(chart)?.[1]?.split(', ') ?? [];
};

describe('The image (docs/operating.md, "As a container")', () => {
  const folder = temporaryFolder();
  const [app, data] = [join(folder.path, 'app'), join(folder.path, 'data')];
  let settings: string[];
  let url: string;
  let service: ChildProcess | undefined;
  let log = '';
  let client: Client;

  /** Another command in a container of the same image and volume. */
  const inside = async (...command: string[]) =>
    (await run(SCRIPT, ['run', app, data, ...settings, '--', ...command])).stdout;

  /** The service, ready. */
  const start = async () => {
    log = '';
    const started = spawn(SCRIPT, ['run', app, data, ...settings], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk) => (log += String(chunk)));
    service = started;
    const healthy = async () => {
      if (started.exitCode !== null) throw new Error(`It ended instead of starting:\n${log}`);
      return (await fetch(`${url}/health/ready`).catch(() => null))?.ok;
    };
    await until('it to be ready', healthy, { within: 150_000 });
    return started;
  };
  const stop = async (started: ChildProcess) => {
    started.kill('SIGTERM');
    expect(await once(started, 'exit')).toEqual([0, null]);
  };

  beforeAll(async () => {
    mkdirSync(data);
    await run(SCRIPT, ['lay', app]);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    // The network is this machine's.
    settings = ['HOST=127.0.0.1', `PORT=${port}`];
  }, 300_000);
  afterAll(async () => {
    if (service?.exitCode === null) {
      service.kill('SIGTERM');
      await once(service, 'exit');
    }
    folder.remove();
  });

  it('starts by an ordinary user without rights on a read-only root, carries out a task in a sandbox, and ends with 0 on SIGTERM', async () => {
    const started = await start();
    await inside('node', 'deploy/image/health.mjs', 'ready');
    // The command is what the link `millwright` of the image leads to.
    const [, millwright = ''] = /ln -s (\S+) \/usr\/local\/bin\/millwright/.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')) ?? []; // prettier-ignore
    const made = await inside(millwright, 'key', 'create', '--workspace', 'default', '--user', 'owner@localhost', '--json'); // prettier-ignore
    client = new Client(url, (JSON.parse(made) as { key: { secret: string } }).key.secret);
    const task = await runTask(client, '```sh\nid -u; git --version; echo kept > kept.txt\n```');
    expect(task).toMatchObject({ status: 'completed' });
    expect(await readResults(client, task.id)).toMatchObject([
      { status: 'success', output: { exitCode: 0, stdout: expect.stringMatching(/^\d+\ngit version /) } },
    ]);
    expect((await fetch(`${url}/console/`)).status).toBe(200);
    await stop(started);
    expect(log).not.toMatch(/"level":[56]0/);
  });

  it('is drained by the command that a pod of a worker runs before its end: what runs is handed over, and goes on later', async () => {
    const started = await start();
    const blocks = ['touch begun; sleep 3; echo one > a; echo ran >> times', 'cat a times'];
    const { id } = await createTask(client, {
      content: blocks.map((block) => `\`\`\`sh\n${block}\n\`\`\``).join('\n'),
    });
    await until('the task to run', async () => (await readTask(client, id)).status === 'running');
    const ended = once(started, 'exit');
    const [began, command] = [performance.now(), wordsOf('command', 'drain')];
    expect(command).toContain('deploy/image/drain.mjs');
    await inside(...command);
    const ms = performance.now() - began;
    expect(await ended).toEqual([0, null]);
    // Not by its longest wait.
    expect(ms).toBeLessThan(40_000);
    expect(log).toContain('This machine was told to end');
    const again = await start();
    expect(await finished(client, id)).toMatchObject({ status: 'completed' });
    expect((await readResults(client, id)).at(-1)).toMatchObject({ output: { stdout: 'one\nran\n' } });
    await stop(again);
  });

  it('has nothing that its user can write to but /data, and the tests of health fail while nobody answers', async () => {
    const tries = ['/', '/app', '/app/dist', '/etc', '/usr', '/usr/local/bin', '/data'];
    const script = `for folder in ${tries.join(' ')}; do touch "$folder/made" 2>/dev/null && echo "$folder"; done; id -u`;
    expect(await inside('sh', '-c', script)).toBe('/data\n10001\n');
    await expect(inside('node', 'deploy/image/health.mjs')).rejects.toMatchObject({ code: 1 });
    // Nobody is drained, and nothing is waited for.
    await expect(inside('env', 'DATABASE_URL=postgres://nobody@127.0.0.1:1/none', ...wordsOf('command', 'drain'))).rejects.toMatchObject({ code: 1 }); // prettier-ignore
  });

  it('has a doctor for the start of a worker: it ends with 0 where a sandbox works, and with 1 where none does', async () => {
    const command = wordsOf('args', 'preflight');
    expect(command).toContain('deploy/image/preflight.mjs');
    const [role, key] = [
      ['env', 'ROLE=worker', 'DATABASE_URL=postgres://nobody@127.0.0.1:1/none'],
      `SECRET_KEY=${'x'.repeat(32)}`,
    ];
    const worker = [...role, key, ...command];
    expect(await inside(...worker)).toMatch(/^ok sandbox bubblewrap: /m);
    // As in a pod whose filter of system calls refuses user namespaces.
    const refusing = ['bwrap', '--dev-bind', '/', '/', '--unshare-user', '--disable-userns', '--'];
    await expect(inside(...refusing, ...worker)).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^fail sandbox/m),
    });
    const wrong = { code: 1, stderr: expect.stringMatching(/^SECRET_KEY: /m) };
    await expect(inside(...role, ...command)).rejects.toMatchObject(wrong);
  });
});
