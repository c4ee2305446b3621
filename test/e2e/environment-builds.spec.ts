import { jest } from '@jest/globals';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { NetworkProxy } from '../../src/engine/sandbox/network/network-proxy.js';
import { SandboxSelector } from '../../src/engine/sandbox/sandbox-selector.js';
import { Egress } from '../../src/platform/egress/egress.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { newId } from '../../src/platform/database/ids.js';
import { BuildCleaner } from '../../src/work/environments/build-cleaner.js';
import { PreparedFolders } from '../../src/work/environments/prepared-folders.js';
import { TaskFolders } from '../../src/work/runs/task-folders.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { buildBecomes, type BuildBody, buildsOf, createBox, ENVIRONMENTS } from '../harness/builds.js';
import { foldersOf } from '../harness/folder-listing.js';
import { ModelServer } from '../harness/model-server.js';
import { git, RepositoryFolder } from '../harness/repositories.js';
import { postSecret } from '../harness/secrets.js';
import { sizedIt, SLOW } from '../harness/slow.js';
import {
  call,
  createTask,
  finished,
  readMessages,
  readResults,
  reaches,
  script,
  type TaskBody,
} from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { AuthorityFile, resolverOf, WebHosts } from '../harness/web-hosts.js';

const LIMIT = 64 * 1024 * 1024;
const DONE = { text: 'Done.' };
const bash = (command: string) => call('bash', { command });

/** The workspaces whose counter is not the sum of the objects that their snapshots and builds name, each once. */
const DRIFT = `
SELECT s.workspace_id FROM storage_usage s WHERE snapshot_bytes <> coalesce((
  SELECT sum(o.bytes) FROM snapshot_objects o WHERE o.workspace_id = s.workspace_id AND (
    EXISTS (SELECT FROM snapshot_uses u WHERE u.workspace_id = o.workspace_id AND u.object = o.sha256)
    OR EXISTS (SELECT FROM environment_build_uses u WHERE u.workspace_id = o.workspace_id AND u.object = o.sha256))), 0)`;

describe('Builds of environments (reference §25)', () => {
  const authority = new AuthorityFile();
  const repositories = new RepositoryFolder();
  /** In which a setup may wait for a test, and tell it how often it ran. */
  const desk = mkdtempSync(join(tmpdir(), 'builds-'));
  let hosts: WebHosts;
  let model: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    hosts = await WebHosts.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url, WORKER_CONCURRENCY: '8' },
      config: {
        plans: { paid: { storageBytes: LIMIT, runningTasks: 500 } },
        repositoryFiles: [repositories.path],
        sandbox: { network: 'allow', allowHosts: [`allowed.test:${hosts.https}`], caFile: authority.path },
        transparency: { data: true },
      },
    });
  });
  beforeAll(() => {
    const { resolver } = resolverOf({ 'allowed.test': ['127.0.0.1'] });
    service.app.get(NetworkProxy, { strict: false }).egress = new Egress(['127.0.0.0/8'], resolver);
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterEach(async () => expect(await service.db.query(DRIFT)).toEqual([]));
  afterAll(async () => {
    await model.stop();
    await hosts.stop();
    authority.remove();
    repositories.remove();
    rmSync(desk, { recursive: true, force: true });
  });

  const make = (definition: object) => createBox(owner.client, definition);
  const start = (environment: string | object, ...steps: Parameters<typeof script>) =>
    createTask(owner.client, { content: script(...steps, DONE), environment });
  const work = async (environment: string | object, ...steps: Parameters<typeof script>) => {
    const { id } = await start(environment, ...steps);
    return finished(owner.client, id);
  };
  const goOn = async ({ id }: TaskBody, ...steps: Parameters<typeof script>) => {
    await owner.client.post(`/v1/tasks/${id}/messages`, { content: script(...steps, DONE) });
    return finished(owner.client, id);
  };
  const outputs = async ({ id }: TaskBody) =>
    (await readResults(owner.client, id)).map(({ output }) => (output as { stdout: string } | undefined)?.stdout);
  const parts = async ({ id }: TaskBody) => (await readMessages(owner.client, id)).flatMap((message) => message.parts);
  const used = async () => {
    const text = 'SELECT snapshot_bytes::int AS bytes FROM storage_usage WHERE workspace_id = $1';
    const [row] = await service.db.query<{ bytes: number }>(text, [owner.workspace.id]);
    return row?.bytes ?? 0;
  };
  const prepared = () => service.app.get(PreparedFolders, { strict: false });
  /** Where this machine prepares builds. */
  const preparedFolder = async () => {
    const folders = await service.app.get(SandboxSelector, { strict: false }).current.folders(newId());
    return join(dirname(folders?.['workdir'] ?? ''), '.prepared');
  };
  const whole = (folder: string) => join(folder, 'whole', 'workdir');
  const spares = async (buildId: string) => {
    await prepared().refill(buildId);
    const place = join(await preparedFolder(), buildId);
    return readdirSync(place).filter((name) => name.startsWith('spare.'));
  };
  /** A setup that goes on until the returned function is called: the build's own folder is reached from outside. */
  const held = async (slug: string) => {
    const build = await until('a build', async () => (await buildsOf(owner.client, slug))[0]);
    const { workdir = '' } = await foldersOf(service, build.id);
    await until('the setup to wait', () => existsSync(join(workdir, 'waits')));
    return () => rmSync(join(workdir, 'waits'));
  };
  const WAITS = 'touch waits; while [ -e waits ]; do sleep 0.02; done';

  it('a task begins with what the setup made in its folder and home, and its own changes are its own', async () => {
    const slug = await make({
      setup: ['mkdir made; echo one >made/file', 'echo two >~/.made', 'echo three >/tmp/gone'],
    });
    const first = await work(slug, bash('cat made/file ~/.made; ls /tmp; echo changed >made/file; stat -c %U:%a made'));
    const [output = ''] = await outputs(first);
    expect(output).toMatch(/^one\ntwo\n\w+:755\n$/);
    const second = await work(slug, bash('cat made/file; touch ~/new && rm -r made && echo may'));
    expect(await outputs(second)).toEqual(['one\nmay\n']);
    expect((await buildsOf(owner.client, slug)).map(({ state }) => state)).toEqual(['ready']);
    const third = await goOn(first, bash('cat made/file'));
    expect((await outputs(third)).at(-1)).toBe('changed\n');
  });

  it('a task says what it waits for while the build is made', async () => {
    const slug = await make({ setup: [WAITS] });
    const { id } = await start(slug, bash('ls'));
    const goes = await held(slug);
    const waiting = await until('the task to wait', async () => {
      const { body } = await owner.client.get<{ task: TaskBody }>(`/v1/tasks/${id}`);
      return body.task.statusReason === null ? null : body.task;
    });
    expect(waiting).toMatchObject({
      status: 'queued',
      statusReason: { code: 'environment_building', retryable: true, message: expect.stringContaining(`'${slug}'`) },
    });
    goes();
    expect((await finished(owner.client, id)).status).toBe('completed');
  });

  it('a task that waits can be paused, resumed and cancelled', async () => {
    const slug = await make({ setup: [WAITS] });
    const [pauses, ends] = [await start(slug), await start(slug)];
    const goes = await held(slug);
    for (const { id } of [pauses, ends]) {
      await until('the task to wait', async () => {
        const { body } = await owner.client.get<{ task: TaskBody }>(`/v1/tasks/${id}`);
        return body.task.statusReason?.code === 'environment_building';
      });
    }
    await owner.client.post(`/v1/tasks/${pauses.id}/pause`, {});
    await owner.client.post(`/v1/tasks/${ends.id}/cancel`);
    goes();
    await buildBecomes(owner.client, slug, 'ready');
    expect(await reaches(owner.client, pauses.id, 'queued')).toMatchObject({ statusReason: { code: 'paused' } });
    expect((await reaches(owner.client, ends.id, 'cancelled')).statusReason?.code).toBe('cancelled');
    await owner.client.post(`/v1/tasks/${pauses.id}/resume`, {});
    expect((await finished(owner.client, pauses.id)).status).toBe('completed');
  });

  const many = SLOW ? 200 : 30;
  sizedIt(`${many} tasks that need it at once make it once`, async () => {
    const slug = await make({ setup: ['echo $RANDOM$RANDOM >which', 'sleep 0.5'] });
    const tasks = await Promise.all(Array.from({ length: many }, () => start(slug, bash('cat which'))));
    const ended = [];
    for (const { id } of tasks) ended.push(await finished(owner.client, id));
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['completed']));
    expect(await buildsOf(owner.client, slug)).toHaveLength(1);
    expect(new Set((await Promise.all(ended.map(outputs))).flat()).size).toBe(1);
  });

  it('another version has a build of its own, and a task of the old one has the old one', async () => {
    const slug = await make({ setup: ['echo 1 >version'] });
    await work(slug);
    await owner.client.patch(`${ENVIRONMENTS}/${slug}`, { setup: ['echo 2 >version'] });
    expect(await outputs(await work(slug, bash('cat version')))).toEqual(['2\n']);
    expect(await outputs(await work({ slug, version: 1 }, bash('cat version')))).toEqual(['1\n']);
    expect((await buildsOf(owner.client, slug)).map(({ version }) => version)).toEqual([2, 1]);
  });

  it('a setup that fails fails the task, retryable, with its output at the build; the next turn has it built anew', async () => {
    const slug = await make({
      setup: ['echo before', `[ -e ~/ok ] || { yes line | head -c 40000; echo the end; exit 3; }`],
    });
    const task = await work(slug, bash('ls'));
    expect(task).toMatchObject({ status: 'failed', statusReason: { code: 'environment_failed', retryable: true } });
    expect(task.statusReason?.message).toContain('A command of setup ended with 3');
    const [build] = await buildsOf(owner.client, slug);
    expect(build).toMatchObject({ state: 'failed', files: 0, error: expect.stringContaining('ended with 3') });
    expect(build?.log).toMatch(/^line\n[^]*\nthe end\n$/);
    expect(Buffer.byteLength(build?.log ?? '')).toBeLessThanOrEqual(16 * 1024);
    expect(Buffer.byteLength(build?.log ?? '')).toBeGreaterThan(16 * 1024 - 10);
    expect((await goOn(task, bash('ls'))).statusReason?.code).toBe('environment_failed');
    expect(await buildsOf(owner.client, slug)).toHaveLength(2);
  });

  it('tasks that waited for a build share its failure', async () => {
    const slug = await make({ setup: [WAITS, 'exit 1'] });
    const tasks = await Promise.all(Array.from({ length: 10 }, () => start(slug)));
    const goes = await held(slug);
    goes();
    for (const { id } of tasks)
      expect((await finished(owner.client, id)).statusReason?.code).toBe('environment_failed');
    expect(await buildsOf(owner.client, slug)).toHaveLength(1);
  });

  it('with lastGood a task begins from the last build that did not fail, and says so', async () => {
    const slug = await make({ setup: ['echo 1 >version'], onFailure: 'lastGood' });
    await work(slug);
    await owner.client.patch(`${ENVIRONMENTS}/${slug}`, { setup: ['echo 2 >version; exit 1'] });
    const task = await work(slug, bash('cat version'));
    expect(task.status).toBe('completed');
    expect(await outputs(task)).toEqual(['1\n']);
    const said = (await parts(task)).find(({ name }) => name === 'environment');
    expect(said?.data).toMatchObject({ code: 'last_good', environment: slug, version: 1 });
    expect((await buildsOf(owner.client, slug)).map(({ state }) => state)).toEqual(['failed', 'ready']);
  });

  it('with lastGood and no such build the task fails', async () => {
    const slug = await make({ setup: ['exit 1'], onFailure: 'lastGood' });
    expect((await work(slug)).statusReason?.code).toBe('environment_failed');
  });

  it('a setup has the variables, its network and placeholders, and never a value', async () => {
    const place = { header: 'Authorization' };
    await postSecret(owner.client, { name: 'TOKEN', value: 'canary-of-a-build', bindings: [{ host: 'allowed.test', port: hosts.https, place }] }); // prettier-ignore
    await postSecret(owner.client, { name: 'OTHER', value: 'canary-of-another', bindings: [{ host: 'allowed.test', port: hosts.https, place }] }); // prettier-ignore
    const slug = await make({
      variables: { GREETING: 'hello' },
      secrets: ['TOKEN'],
      allowHosts: [`allowed.test:${hosts.https}`],
      setup: [
        `echo "$GREETING" >greeting; env | grep mwsec_ | cut -d= -f1 >names`,
        `curl -sS -m 20 -H "Authorization: Bearer $TOKEN" https://allowed.test:${hosts.https}/package >package`,
      ],
    });
    const task = await work(slug, bash('cat greeting names package; env | grep -c GREETING || true'));
    expect((await outputs(task))[0]).toContain(`hello\nTOKEN\nGET allowed.test:${hosts.https} /package 0\n`);
    expect(hosts.requests.at(-1)?.headers.authorization).toBe('Bearer canary-of-a-build');
    const [build] = await buildsOf(owner.client, slug);
    expect(JSON.stringify(build)).not.toContain('canary');
  });

  describe('with a repository', () => {
    const newRepository = (name: string) => {
      const source = repositories.make(name, {
        'package.json': '{}\n',
        'package-lock.json': 'one\n',
        '.gitignore': 'node_modules/\n',
      });
      return { source, url: `file://${source}` };
    };
    const SETUP = ['mkdir -p node_modules; echo $RANDOM$RANDOM >node_modules/made; echo changed >package.json'];
    const LOOK = bash(
      'cd repo; cat node_modules/made; git status --porcelain; git log --format=%s -1; git branch --show-current; cat package-lock.json',
    );
    const taskOf = async (environment: string, repository: object, ...steps: Parameters<typeof script>) => {
      const body = { content: script(...steps, DONE), environment, repository };
      const task = await finished(owner.client, (await createTask(owner.client, body)).id);
      expect(task).toMatchObject({ status: 'completed' });
      return task;
    };

    it('a task has what its setup made beside the files, and the files of its own commit', async () => {
      const { source, url } = newRepository('built');
      git(source, 'branch', 'other');
      const slug = await make({ repository: { url }, setup: SETUP });
      const [first = ''] = await outputs(await taskOf(slug, { url }, LOOK));
      const made = /^\d+/.exec(first)?.[0] ?? '';
      expect(first).toBe(`${made}\nThe first\nmain\none\n`);
      repositories.commit(source, 'The second', { 'package-lock.json': 'two\n', 'new.txt': 'new\n' });
      expect(await outputs(await taskOf(slug, { url }, LOOK))).toEqual([`${made}\nThe second\nmain\ntwo\n`]);
      expect(await outputs(await taskOf(slug, { url, ref: 'other' }, LOOK))).toEqual([
        `${made}\nThe first\nother\none\n`,
      ]);
      expect(await buildsOf(owner.client, slug)).toHaveLength(1);
    });

    it('changes of such a task are those since its own commit', async () => {
      const { source, url } = newRepository('changed');
      const slug = await make({ repository: { url }, setup: SETUP });
      await taskOf(slug, { url });
      repositories.commit(source, 'The second', { 'new.txt': 'new\n' });
      const task = await taskOf(slug, { url }, bash('cd repo; echo more >>new.txt'));
      expect(task).toMatchObject({ changes: { files: 1, additions: 1, deletions: 0 } });
    });

    it('a task of another repository has that one alone', async () => {
      const [one, other] = [newRepository('one'), newRepository('another')];
      const slug = await make({ repository: { url: one.url }, setup: SETUP });
      const task = await taskOf(slug, { url: other.url }, bash('cd repo; ls -A; git status --porcelain'));
      expect(await outputs(task)).toEqual(['.git\n.gitignore\npackage-lock.json\npackage.json\n']);
    });

    it('onLockfile makes it anew when one of these files is another, and not for other files', async () => {
      const { source, url } = newRepository('locked');
      const slug = await make({
        repository: { url },
        setup: SETUP,
        refresh: { onLockfile: ['package-lock.json', 'packages/**/*.lock'] },
      });
      await taskOf(slug, { url });
      repositories.commit(source, 'Another file', { 'a.txt': 'a\n' });
      await taskOf(slug, { url });
      expect(await buildsOf(owner.client, slug)).toHaveLength(1);
      repositories.commit(source, 'Another lock', { 'package-lock.json': 'two\n' });
      const [output] = await outputs(await taskOf(slug, { url }, LOOK));
      expect(output).toContain('two\n');
      const builds = await buildsOf(owner.client, slug);
      expect(builds).toHaveLength(2);
      expect(new Set(builds.map(({ key }) => key)).size).toBe(2);
    });

    it('a repository that is away fails the build with its reason', async () => {
      const slug = await make({ repository: { url: `file://${repositories.path}/missing` }, setup: SETUP });
      const task = await work(slug);
      expect(task.statusReason?.code).toBe('environment_failed');
      expect((await buildsOf(owner.client, slug))[0]?.error).toContain('repository');
    });
  });

  it('daily makes it anew on another day', async () => {
    const slug = await make({ setup: ['echo $RANDOM >which'], refresh: 'daily' });
    await work(slug);
    await work(slug);
    const [build] = await buildsOf(owner.client, slug);
    expect(build?.key).toBe(new Date().toISOString().slice(0, 10));
    await service.db.query(`UPDATE environment_builds SET key = '2020-01-01' WHERE id = $1`, [build?.id]);
    await work(slug);
    expect(await buildsOf(owner.client, slug)).toHaveLength(2);
  });

  it('a task gets a spare copy by a rename, and another one is made in its place', async () => {
    const slug = await make({ setup: ['echo one >file'] });
    await work(slug);
    const [build] = await buildsOf(owner.client, slug);
    const before = await spares(build?.id ?? '');
    expect(before).toHaveLength(2);
    const starts = async () => (await service.app.get(Metrics, { strict: false }).environmentStarts.get()).values;
    const spare = async () => (await starts()).find(({ labels }) => labels.way === 'spare')?.value ?? 0;
    const count = await spare();
    const task = await work(slug, bash('cat file; echo mine >file'));
    expect(await outputs(task)).toEqual(['one\n']);
    expect(await spare()).toBe(count + 1);
    const after = await spares(build?.id ?? '');
    expect(after).toHaveLength(2);
    expect(after.filter((name) => before.includes(name))).toHaveLength(1);
    expect(readFileSync(join(whole(join(await preparedFolder(), build?.id ?? '')), 'file'), 'utf8')).toBe('one\n');
  });

  it('a machine that has not prepared a build restores it from the storage', async () => {
    const slug = await make({ setup: ['echo one >file; ln file hard; ln -s file soft; chmod 700 .; printf x >~/.x'] });
    await work(slug);
    const [build] = await buildsOf(owner.client, slug);
    await spares(build?.id ?? '');
    await prepared().remove(build?.id ?? '');
    const task = await work(slug, bash('cat file soft ~/.x; stat -c %h hard'));
    expect(await outputs(task)).toEqual(['one\none\nx2\n']);
    expect(await prepared().has(build?.id ?? '')).toBe(true);
    // As where the disk has no room for it.
    await spares(build?.id ?? '');
    await prepared().remove(build?.id ?? '');
    const room = jest.spyOn(prepared(), 'hasRoomFor').mockResolvedValue(false);
    expect(await outputs(await work(slug, bash('cat file soft ~/.x')))).toEqual(['one\none\nx']);
    expect(await prepared().has(build?.id ?? '')).toBe(false);
    room.mockRestore();
  });

  it('what lies in storageBytes counts once, however many tasks begin from it', async () => {
    const slug = await make({ setup: ['head -c 1000000 /dev/urandom >random'] });
    const first = await work(slug, bash('ls'));
    const once = await used();
    expect(once).toBeGreaterThan(1_000_000);
    await work(slug, bash('ls'));
    await work(slug, bash('ls'));
    expect(await used()).toBeLessThan(once + 50_000);
    for (const { id } of [first]) await owner.client.delete(`/v1/tasks/${id}`);
    expect(await used()).toBeGreaterThan(1_000_000);
  });

  it('a build without room in storageBytes fails, and leaves nothing that counts', async () => {
    const before = await used();
    const slug = await make({ setup: [`head -c ${LIMIT + 1_000_000} /dev/urandom >random`] });
    expect((await work(slug)).statusReason?.code).toBe('environment_failed');
    expect((await buildsOf(owner.client, slug))[0]?.error).toContain('storage');
    expect(await used()).toBe(before);
  });

  it('a build that goes takes what nothing else names with it, and a task that has begun from it keeps its folder', async () => {
    const slug = await make({ setup: ['head -c 1000000 /dev/urandom >random; echo one >file'] });
    const task = await work(slug, bash('rm random'));
    for (const n of [2, 3, 4]) {
      await owner.client.patch(`${ENVIRONMENTS}/${slug}`, { setup: [`echo ${n} >file`] });
      await work(slug);
    }
    const [oldest] = (await buildsOf(owner.client, slug)).slice(-1);
    expect(await service.app.get(BuildCleaner, { strict: false }).forget()).toBe(2);
    expect((await buildsOf(owner.client, slug)).map(({ version }) => version)).toEqual([4, 3]);
    expect(await prepared().has(oldest?.id ?? '')).toBe(false);
    expect(await used()).toBeLessThan(500_000);
    expect((await outputs(await goOn(task, bash('cat file')))).at(-1)).toBe('one\n');
  });

  it('a build that a live task names stays', async () => {
    const slug = await make({ setup: ['echo 1 >file'] });
    const { id } = await createTask(owner.client, { content: script(call('ask', { question: 'Which?' }), DONE), environment: slug }); // prettier-ignore
    await reaches(owner.client, id, 'awaiting_input');
    for (const n of [2, 3, 4]) {
      await owner.client.patch(`${ENVIRONMENTS}/${slug}`, { setup: [`echo ${n} >file`] });
      await work(slug);
    }
    await service.app.get(BuildCleaner, { strict: false }).forget();
    expect((await buildsOf(owner.client, slug)).map(({ version }) => version)).toEqual([4, 3, 1]);
  });

  it('folders of a build under way are not removed as those of a deleted task, and go with its end', async () => {
    const slug = await make({ setup: [WAITS, 'exit 1'] });
    const { id } = await start(slug);
    const goes = await held(slug);
    const [build] = await buildsOf(owner.client, slug);
    const { workdir = '' } = await foldersOf(service, build?.id ?? '');
    await service.app.get(TaskFolders, { strict: false }).removeNeedless(new AbortController().signal);
    expect(existsSync(workdir)).toBe(true);
    goes();
    await finished(owner.client, id);
    await until('the folder to be gone', () => !existsSync(workdir));
  });

  it('POST build makes one now, and the next tasks begin from it', async () => {
    const slug = await make({ setup: ['echo $RANDOM$RANDOM >which'] });
    const [before] = await outputs(await work(slug, bash('cat which')));
    const { status, body } = await owner.client.post<{ build: BuildBody }>(`${ENVIRONMENTS}/${slug}/build`);
    expect([status, body.build.state, body.build.version]).toEqual([202, 'building', 1]);
    const build = await buildBecomes(owner.client, slug, 'ready');
    expect(build).toMatchObject({ id: body.build.id, key: '' });
    const [after] = await outputs(await work(slug, bash('cat which')));
    expect(after).not.toBe(before);
    expect(await buildsOf(owner.client, slug)).toHaveLength(2);
  });

  it('POST test runs one command in a copy that is thrown away, and answers its output', async () => {
    const slug = await make({ setup: ['echo one >file'], variables: { GREETING: 'hello' } });
    const ask = (command: string) => owner.client.post<Record<string, unknown>>(`${ENVIRONMENTS}/${slug}/test`, { command }); // prettier-ignore
    const refused = await ask('ls');
    expect([refused.status, (refused.body['error'] as { code: string }).code]).toEqual([409, 'environment_not_built']);
    await work(slug);
    const { status, body } = await ask('cat file; echo $GREETING; echo two >file; echo no >&2; exit 3');
    expect([status, body]).toEqual([200, { exitCode: 3, stdout: 'one\nhello\n', stderr: 'no\n' }]);
    expect((await ask('cat file')).body['stdout']).toBe('one\n');
    expect(await service.db.query('SELECT id FROM environment_trials')).toEqual([]);
    const member = await makeMember(service, { role: 'member', workspace: owner.workspace });
    for (const route of ['build', 'test']) {
      const answer = await member.client.post(`${ENVIRONMENTS}/${slug}/${route}`, route === 'test' ? { command: 'ls' } : undefined); // prettier-ignore
      expect(answer.status).toBe(403);
    }
  });

  it('an environment without setup and repository needs no build', async () => {
    const slug = await make({ variables: { A: '1' } });
    expect((await work(slug)).status).toBe('completed');
    expect(await buildsOf(owner.client, slug)).toEqual([]);
  });
});
