import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { locateCluster } from '../../src/platform/database/embedded/embedded-cluster.js';
import { listChecks } from '../harness/checked.js';
import { Client } from '../harness/client.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { serverPid } from '../harness/embedded.js';
import { FAR_LIMITS } from '../harness/limits.js';
import { type Answer, type ChatRequest, ModelServer, stepOf } from '../harness/model-server.js';
import { LONG, numbers, SEED } from '../harness/numbers.js';
import { Operator } from '../harness/operator.js';
import { git } from '../harness/repositories.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, createTask, readTask, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { tableOf } from '../secrets/table.js';
import { MEND_JS, SCENES } from './scenes.js';

const TASKS = LONG ? 200 : 12;
const KILLS = LONG ? 40 : 5;
const TOKEN = 'a-token-of-a-killed-liar';
const DONE: Answer = { text: 'Done.' };
const bash = (command: string) => call('bash', { command, repeatable: true });

/** What the agent does in the beginning, and each time that it is told of a check that failed. */
interface Kind {
  name: string;
  repository: boolean;
  rounds: string[][];
  accepted: boolean;
}
const YES = { name: 'done', command: 'sleep 0.2; grep -x yes done.txt' };
const KINDS: Kind[] = [
  { name: 'honest, and pushed', repository: true, rounds: [[`cd repo && ${MEND_JS}`, 'ls repo']], accepted: true },
  { name: 'lies about its tests', repository: true, rounds: [['rm -r repo/test'], [': >repo/tools/check.sh']], accepted: false }, // prettier-ignore
  { name: 'honest when it is told', repository: false, rounds: [['echo no >done.txt'], ['echo yes >done.txt']], accepted: true }, // prettier-ignore
  { name: 'says that it is done', repository: false, rounds: [['true'], ['true']], accepted: false },
];

type Body = TaskBody & { checks: { status: string } };

describe('A worker or its database that is killed while checked tasks are under way (reference §26)', () => {
  const folder = temporaryFolder();
  const random = numbers(SEED);
  let model: ModelServer;
  let host: FakeGitHub;
  let service: ServiceProcess;
  let env: Record<string, string>;

  beforeAll(async () => {
    model = await ModelServer.start(answer);
    host = await FakeGitHub.start(TOKEN);
    host.make('acme/api', SCENES.js.files);
    const config = { ...FAR_LIMITS, repositories: host.entry('TOKEN', 'default'), repositoryNetworks: ['127.0.0.1/32'] }; // prettier-ignore
    writeFileSync(join(folder.path, 'config.json'), JSON.stringify(config));
    env = {
      ...{ DATA_DIR: join(folder.path, 'data'), CONFIG_FILE: join(folder.path, 'config.json'), TOKEN },
      ...{ OPENAI_COMPATIBLE_URL: model.url, DEFAULT_PLAN: 'paid', REDIS_URL: '', LEASE_SECONDS: '600' },
    };
    service = await ServiceProcess.start(env);
  });
  afterAll(async () => {
    await service.end();
    await model.stop();
    await host.stop();
    folder.remove();
  });

  it(
    `${TASKS} tasks, ${KILLS} kills at random moments: none is lost, none completed without its checks, nothing pushed twice`,
    async () => {
      const operator = new Operator({ db: { url: '' } }, { DATA_DIR: join(folder.path, 'data'), SECRET_KEY: '' });
      const who = ['--workspace', 'default', '--user', 'owner@localhost'];
      const { key } = await operator.json<{ key: { secret: string } }>('key', 'create', ...who);
      const client = () => new Client(service.url, key.secret);
      const tasks: { id: string; kind: Kind; branch: string }[] = [];
      for (let n = 0; n < TASKS; n++) {
        const kind = KINDS[n % KINDS.length] as Kind;
        const branch = `millwright/x-${n}`;
        const repository = { url: host.url(), push: { branch, ...(n % 8 === 0 && { pullRequest: {} }) } };
        const checks = kind.repository ? [{ name: 'tests', ...SCENES.js.check }] : [YES];
        const body = { content: `Kind ${n % KINDS.length}, task ${n}.`, checks, maxRepairs: 1, ...(kind.repository && { repository }) }; // prettier-ignore
        tasks.push({ id: (await createTask(client(), body)).id, kind, branch });
      }
      const readAll = () => Promise.all(tasks.map(({ id }) => readTask(client(), id) as Promise<Body>));
      const over = async () => (await readAll()).filter(({ finishedAt }) => finishedAt !== null).length;
      /** A run that loses its worker again and again is given up, so some work is done between two kills. */
      const reaches = async (n: number) => {
        while ((await over()) < n) await wait(200);
      };
      const worker = async () => {
        await service.end('SIGKILL');
        service = await ServiceProcess.start(env);
      };
      /** The service starts it again, and goes on. */
      const database = async () => {
        const { folder: cluster } = locateCluster(join(folder.path, 'data'));
        const pid = serverPid(cluster);
        process.kill(pid, 'SIGKILL');
        await until('another server', () => another(cluster, pid), { within: 150_000 });
        await service.ready();
      };
      let [killed, alone, amid] = [0, 0, 0];
      for (; killed < KILLS && (await over()) < TASKS; killed++) {
        await reaches(Math.floor((killed * TASKS) / (KILLS + 1)));
        // The moment is what is tried: there is no condition to wait for.
        await wait(300 + random() * 2700);
        amid += (await readAll()).filter(({ checks }) => checks.status === 'running').length;
        const ofDatabase = killed % 3 === 1;
        await (ofDatabase ? database : worker)();
        alone += ofDatabase ? 1 : 0;
      }
      await reaches(TASKS);
      const rows = KINDS.map(({ name }) => ({ kind: name, attempts: 0, held: 0 }));
      const wrongs: string[] = [];
      for (const task of tasks) {
        const wrong = await judge(client(), task, host);
        const row = rows[KINDS.indexOf(task.kind)];
        if (row !== undefined) Object.assign(row, { attempts: row.attempts + 1, held: row.held + (wrong.length === 0 ? 1 : 0) }); // prettier-ignore
        wrongs.push(...wrong.map((what) => `${task.kind.name} ${task.id}: ${what}`));
      }
      process.stderr.write(
        `\n${killed} kills, ${alone} of the database alone, amid the checks of ${amid} tasks, MILLWRIGHT_SEED=${SEED}\n${tableOf(rows)}\n`,
      );
      expect(wrongs).toEqual([]);
      expect(killed).toBeGreaterThan(1);
    },
    LONG ? 1_800_000 : 300_000,
  );
});

/** Whether the server of a folder is another process by now. */
function another(cluster: string, pid: number): boolean {
  try {
    return serverPid(cluster) !== pid;
  } catch {
    // Its file is being written.
    return false;
  }
}

/** What is wrong with the end of a task. */
async function judge(
  client: Client,
  { id, kind, branch }: { id: string; kind: Kind; branch: string },
  host: FakeGitHub,
): Promise<string[]> {
  const task = await readTask(client, id);
  const rows = await listChecks(client, id);
  const last = Math.max(...rows.map(({ round }) => round));
  // The newest is the last one: one that was cut off has run again.
  const newest = rows.at(-1);
  const told = JSON.stringify(rows.map(({ round, status }) => [round, status]));
  const wrongs: string[] = [];
  const ended = task.status === 'completed' ? 'completed' : (task.statusReason?.code ?? task.status);
  if (ended !== (kind.accepted ? 'completed' : 'checks_failed')) wrongs.push(`it ended as ${ended}: ${told}`);
  if (newest?.round !== last || (newest.status === 'passed') !== kind.accepted) wrongs.push(`its checks are ${told}`);
  if (!kind.repository) return wrongs;
  const bare = join(host.folder.path, 'acme/api.git');
  const there = git(bare, 'for-each-ref', `refs/heads/${branch}`) !== '';
  if (there !== kind.accepted) wrongs.push(there ? 'it was pushed' : 'it was not pushed');
  if (there && git(bare, 'rev-list', '--count', `main..${branch}`) !== '1') wrongs.push('it was pushed twice');
  if (host.pullRequests.filter((one) => one.branch === branch).length > 1) wrongs.push('it has two pull requests');
  return wrongs;
}

function answer(request: ChatRequest): Answer {
  const users = request.messages.filter(({ role }) => role === 'user');
  const kind = KINDS[Number(/Kind (\d)/.exec(JSON.stringify(users[0]?.content))?.[1])];
  const command = kind?.rounds[users.length - 1]?.[stepOf(request)];
  return command === undefined ? DONE : bash(command);
}
