import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '../harness/client.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { FAR_LIMITS } from '../harness/limits.js';
import { ModelServer } from '../harness/model-server.js';
import { Operator } from '../harness/operator.js';
import { git } from '../harness/repositories.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, createTask, finishedLater, script, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

const TOKEN = 'a-token-of-a-killed-service';

describe('A push whose worker is killed (reference §15)', () => {
  const folder = temporaryFolder();
  let model: ModelServer;
  let host: FakeGitHub;
  let service: ServiceProcess;
  let env: Record<string, string>;

  beforeAll(async () => {
    model = await ModelServer.start();
    host = await FakeGitHub.start(TOKEN);
    const config = {
      ...FAR_LIMITS,
      repositories: host.entry('TOKEN', 'default'),
      repositoryNetworks: ['127.0.0.1/32'],
    };
    writeFileSync(join(folder.path, 'config.json'), JSON.stringify(config));
    env = {
      ...{ DATA_DIR: join(folder.path, 'data'), CONFIG_FILE: join(folder.path, 'config.json'), TOKEN },
      ...{ OPENAI_COMPATIBLE_URL: model.url, DEFAULT_PLAN: 'paid', LOG_LEVEL: 'debug', REDIS_URL: '' },
      // Nobody waits for this lease: it would not run out in the time of the test.
      LEASE_SECONDS: '600',
    };
    service = await ServiceProcess.start(env);
  });
  afterAll(async () => {
    await service.end();
    await model.stop();
    await host.stop();
    folder.remove();
  });

  it('is done again, or found done; one pull request is opened; the token is in no line', async () => {
    const operator = new Operator({ db: { url: '' } }, { DATA_DIR: join(folder.path, 'data'), SECRET_KEY: '' });
    const who = ['--workspace', 'default', '--user', 'owner@localhost'];
    const { key } = await operator.json<{ key: { secret: string } }>('key', 'create', ...who);
    // Where each of them is when the worker is killed.
    const points = ['acme/begun', 'acme/pushed', 'acme/api'];
    for (const path of points) host.make(path, { 'a.txt': 'one\n' });
    let release = (): void => undefined;
    const killed = new Promise<void>((resolve) => (release = resolve));
    const held = new Set<string>();
    const hold = (at: string) => {
      held.add(at);
      return killed;
    };
    host.before = async ({ url = '' }) => {
      if (url.startsWith('/acme/begun.git') && url.includes('service=git-receive-pack')) await hold('begun');
      return false;
    };
    host.after = async ({ method, url = '' }) => {
      if (url === '/acme/pushed.git/git-receive-pack') await hold('pushed');
      if (method === 'POST' && url.endsWith('/pulls')) await hold('opened');
    };
    const change = call('bash', { command: 'cd repo && echo two >> a.txt' });
    const client = new Client(service.url, key.secret);
    const tasks = await Promise.all(
      points.map((path) => {
        const push = { branch: 'millwright/x', ...(path === 'acme/api' ? { pullRequest: {} } : {}) };
        return createTask(client, {
          content: script(change, { text: 'Done.' }),
          repository: { url: host.url(path), push },
        });
      }),
    );
    await until('all three to be where they are to be', () => held.size === 3, { within: 150_000 });
    expect(commandLines().filter((line) => line.includes(TOKEN))).toEqual([]);
    const first = service.log;
    await service.end('SIGKILL');
    service = await ServiceProcess.start(env);
    // What the killed worker has left goes on too: git(1) that was pushing.
    release();
    const again = new Client(service.url, key.secret);
    for (const [index, { id }] of tasks.entries()) {
      const task = (await finishedLater(again, id)) as Body;
      const at = `https://${host.name}/${points[index]}`;
      expect(task).toMatchObject({ status: 'completed', repository: { push: { url: `${at}/tree/millwright/x` } } });
      expect(task.pullRequest?.url ?? null).toBe(index === 2 ? `${at}/pull/1` : null);
      const bare = join(host.folder.path, `${points[index]}.git`);
      expect(git(bare, 'log', '--format=%an', 'main..millwright/x')).toBe('Millwright');
      expect(git(bare, 'show', 'millwright/x:a.txt')).toBe('one\ntwo');
    }
    expect(host.pullRequests).toHaveLength(1);
    const secrets = [TOKEN, Buffer.from(`x-access-token:${TOKEN}`).toString('base64')];
    for (const secret of secrets) expect(first + service.log).not.toContain(secret);
    const left = () => readdirSync(join(folder.path, 'data/repositories')).filter((name) => name.includes('.'));
    expect(left()).toEqual([]);
  });
});

type Body = TaskBody & { repository: object; pullRequest: { url: string } | null };

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    });
}
