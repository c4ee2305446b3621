import { existsSync } from 'node:fs';
import { CHECK_LANES, checkFolderOf } from '../../src/engine/sandbox/workdir/workdirs.js';
import { bootWorker, useService } from '../harness/app.js';
import { listChecks } from '../harness/checked.js';
import { makeMember, type Member } from '../harness/client.js';
import { upload } from '../harness/files.js';
import { foldersOf } from '../harness/folder-listing.js';
import { type Answer, type ChatRequest, ModelServer, stepOf } from '../harness/model-server.js';
import { RepositoryFolder } from '../harness/repositories.js';
import { call, createTask, finished, readMessages, readTask } from '../harness/tasks.js';

const DONE: Answer = { text: 'Done.' };
const bash = (command: string) => call('bash', { command });

describe('Checks of a task (reference §26)', () => {
  const repositories = new RepositoryFolder();
  let model: ModelServer;
  let owner: Member;
  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url },
      config: { repositoryFiles: [repositories.path], transparency: { data: true } },
    });
  });
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(async () => {
    await model.stop();
    repositories.remove();
  });

  /** What the agent does at first, and each time that it goes on; nothing more to do: it says that it is done. */
  const agent = (...rounds: Answer[][]) => {
    model.script = (request: ChatRequest) => {
      const round = request.messages.filter(({ role }) => role === 'user').length - 1;
      return rounds[round]?.[stepOf(request)] ?? DONE;
    };
  };
  const work = async (body: Record<string, unknown>) => {
    const { id } = await createTask(owner.client, { content: 'Do it.', ...body });
    return finished(owner.client, id);
  };
  const listed = (id: string, phase?: string) => listChecks(owner.client, id, phase);
  const stateOf = async (id: string) => (await readTask(owner.client, id) as { checks?: object }).checks; // prettier-ignore
  const failing = { name: 'done', command: 'cat done.txt' };

  it('one that passes completes the task, and is on record with what it wrote', async () => {
    agent([bash('echo yes >done.txt')]);
    const task = await work({ checks: [failing, { name: 'more', command: 'echo more >&2; exit 3', required: false }] });
    expect(task).toMatchObject({ status: 'completed', result: { text: 'Done.' } });
    expect(await stateOf(task.id)).toEqual({ status: 'passed', passed: 1, failed: 1, repairs: 0 });
    expect(await listed(task.id)).toMatchObject([
      { turn: 1, round: 0, phase: 'after', name: 'done', command: 'cat done.txt', required: true, status: 'passed', exitCode: 0, output: 'yes\n', outputBytes: 4, protectedChanged: [] },
      { name: 'more', required: false, status: 'failed', exitCode: 3, output: 'more\n' },
    ]); // prettier-ignore
    const folders = await Promise.all(CHECK_LANES.map((lane) => foldersOf(service, checkFolderOf(task.id, lane))));
    const paths = folders.flatMap((one) => Object.values(one));
    expect([paths.length, paths.filter((path) => existsSync(path))]).toEqual([6, []]);
  });

  it('one that fails is told to the agent, which goes on; then all run again', async () => {
    agent([bash('echo no >other.txt')], [bash('echo yes >done.txt')]);
    const task = await work({ checks: [failing] });
    expect(task.status).toBe('completed');
    expect(await stateOf(task.id)).toEqual({ status: 'passed', passed: 1, failed: 0, repairs: 1 });
    expect((await listed(task.id)).map(({ round, status, exitCode }) => [round, status, exitCode])).toEqual([[0, 'failed', 1], [1, 'passed', 0]]); // prettier-ignore
    const asked = JSON.stringify(model.requests.at(-1)?.body);
    expect(asked).toContain('done: it ended with exit code 1');
    expect(asked).toContain('cat: done.txt: No such file or directory');
    const parts = (await readMessages(owner.client, task.id)).flatMap((message) => message.parts);
    expect(parts.filter(({ type }) => type === 'data')).toMatchObject([
      { name: 'checks', data: { round: 0, repairsLeft: 2, failed: [{ name: 'done', status: 'failed', exitCode: 1 }] } },
    ]);
  });

  it('fails the task when the agent may not go on any more; result and files stay', async () => {
    agent([bash('echo kept >kept.txt'), call('publish', { path: 'kept.txt' })]);
    const task = await work({ checks: [failing], maxRepairs: 1 });
    expect(task).toMatchObject({
      status: 'failed',
      statusReason: { code: 'checks_failed', message: 'These checks did not pass: done.', retryable: false },
    });
    expect(await stateOf(task.id)).toEqual({ status: 'failed', passed: 0, failed: 1, repairs: 1 });
    const { body } = await owner.client.get<{ files: { name: string }[] }>(`/v1/tasks/${task.id}/files`);
    expect(body.files.map(({ name }) => name).sort()).toEqual(['kept.txt', 'proof.json']);
    agent([], [], [], [bash('echo yes >done.txt')]);
    await owner.client.post(`/v1/tasks/${task.id}/messages`, { content: 'Once more.' });
    expect(await finished(owner.client, task.id)).toMatchObject({ status: 'completed' });
    expect((await listed(task.id)).map(({ turn }) => turn)).toEqual([1, 1, 2, 2]);
  });

  it('nothing of the agent comes along but the files of the workdir', async () => {
    const left = 'echo x >/tmp/left; echo x >~/left; echo "exit 0" >~/.bashrc; mkdir -p ~/.local/bin bin';
    const wrap = 'printf "#!/bin/sh\\nexit 0\\n" | tee ~/.local/bin/test bin/test; chmod +x ~/.local/bin/test bin/test';
    agent([bash(`${left}; ${wrap}; (setsid sleep 60 >/dev/null 2>&1 &); ln -s /etc/passwd link; echo x >file`)]);
    const command = 'ls -A /tmp ~ ~/.local 2>/dev/null; env | grep -c OWN; ps -A | grep -c sleep; cat file; readlink link; test -e /tmp/left';
    const task = await work({ checks: [{ name: 'left', command }], maxRepairs: 0 });
    expect(task.statusReason).toMatchObject({ code: 'checks_failed' });
    const [check] = await listed(task.id);
    expect(check?.output).toMatch(/^(?!.*left)[^]*0\n0\nx\n\/etc\/passwd\n$/);
  }); // prettier-ignore

  it('a protected attachment is as it was stored, and one that was added is not there', async () => {
    const { id: uploadId } = await upload(service, owner, 'expected\n', { name: 'cases.txt' });
    const cheat = 'echo cheat >attachments/cases.txt; echo more >attachments/more.txt; echo yes >done.txt';
    agent([bash(cheat)]);
    const checks = [{ name: 'cases', command: 'cat attachments/*', protect: ['attachments/**'] }, failing];
    const task = await work({ checks, attachments: [{ uploadId }] });
    expect(task.status).toBe('completed');
    expect(await listed(task.id)).toMatchObject([
      { output: 'expected\n', protectedChanged: ['attachments/cases.txt', 'attachments/more.txt'] },
      { output: 'yes\n', protectedChanged: [] },
    ]);
  });

  it('what is attached is there, also in a turn in which no command ran', async () => {
    const { id: uploadId } = await upload(service, owner, 'bytes\n', { name: 'one.txt' });
    agent();
    const checks = [{ name: 'read', command: 'cat attachments/*' }];
    const { id, status } = await work({ checks, attachments: [{ uploadId }], maxRepairs: 0 });
    expect([status, await listed(id)]).toMatchObject(['completed', [{ output: 'bytes\n' }]]);
    const { id: more } = await upload(service, owner, 'more\n', { name: 'two.txt' });
    await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'More.', attachments: [{ uploadId: more }] });
    expect(await finished(owner.client, id)).toMatchObject({ status: 'completed' });
    expect(await listed(id)).toMatchObject([{ turn: 1 }, { turn: 2, output: 'bytes\nmore\n' }]);
  });

  it('of a repository it is a clean clone with the changes, where protected paths are those of the commit', async () => {
    const files = { 'test/a.sh': 'grep -q good src\n', 'test/b/c': 'one\n', src: 'bad\n', '.gitignore': 'ignored\n', 'old.txt': 'old\n' };
    const url = `file://${repositories.make('checked', files)}`;
    const change = 'cd repo && echo "exit 0" >test/a.sh && rm -r test/b && ln -s /tmp test/b && echo x >test/new && echo x >ignored && git mv old.txt new.txt && git config core.hooksPath /tmp && git commit -qam mine';
    agent([bash(change)], [bash('cd repo && echo good >src')]);
    const command = 'sh test/a.sh && find . -path ./.git -prune -o ! -type d -printf "%P %l\\n" | sort && git status --short && cat .git/config';
    const task = await work({ repository: { url }, checks: [{ name: 'test', command, protect: ['test/**'] }] });
    expect(task.status).toBe('completed');
    const [first, second] = await listed(task.id);
    expect(first).toMatchObject({ status: 'failed', exitCode: 1, protectedChanged: ['test/a.sh', 'test/b', 'test/b/c', 'test/new'] });
    expect(second?.output?.split('\n').slice(0, 8)).toEqual(['.gitignore ', 'new.txt ', 'src ', 'test/a.sh ', 'test/b/c ', 'R  old.txt -> new.txt', 'M  src', '[core]']);
    expect(second?.output).not.toContain('hooksPath');
  }); // prettier-ignore

  it.each(['attachments', 'repo/test'])('what was added to protected %s is not there, whatever its name is', async (folder) => {
    const { id: uploadId } = await upload(service, owner, 'expected\n', { name: 'a' });
    const add = (name: string) => `echo x >${folder}/$'${name}'`;
    agent([bash([add('new\\nline'), add('\\377'), add('\\357\\277\\275'), add('-x')].join('; '))]);
    const whole = folder === 'attachments' ? { attachments: [{ uploadId }] } : { repository: { url: `file://${repositories.make('names', { 'test/a': 'expected\n' })}` } };
    const path = folder.replace('repo/', '');
    const task = await work({ ...whole, checks: [{ name: 'names', command: `ls -A ${path}`, protect: [`${path}/**`] }] });
    expect(task.status).toBe('completed');
    const told = ['-x', 'new\nline', '\uFFFD', '\uFFFD'].map((name) => `${path}/${name}`);
    expect(await listed(task.id)).toMatchObject([{ output: 'a\n', protectedChanged: told }]);
  }); // prettier-ignore

  it.each([
    ['a link to another folder', 'mv attachments other; ln -s other attachments; echo cheat >attachments/a'],
    ['a link that leads nowhere', 'rm -r attachments; ln -s /nowhere attachments'],
    ['a file', 'rm -r attachments; echo cheat >attachments'],
    ['a folder that is closed', 'echo cheat >attachments/a; chmod 000 attachments'],
    ['a folder with a folder in place of the file', 'rm attachments/a; mkdir attachments/a; echo cheat >attachments/a/a'],
    ['a folder with a link in place of the file', 'ln -sf ../other attachments/a; echo cheat >other'],
  ])('a protected attachment is as it was stored where its folder is %s', async (_, cheat) => {
    const { id: uploadId } = await upload(service, owner, 'expected\n', { name: 'a' });
    agent([bash(cheat)]);
    const checks = [{ name: 'stored', command: 'cat attachments/a; ls -A attachments', protect: ['attachments/**'] }];
    const task = await work({ attachments: [{ uploadId }], checks });
    expect([task.status, ...(await listed(task.id))]).toMatchObject(['completed', { output: 'expected\na\n' }]);
  }); // prettier-ignore

  it.each(['a workdir', 'a repository'])('in %s a link in the place of a protected folder is not there', async (place) => {
    const whole = place === 'a workdir' ? {} : { repository: { url: `file://${repositories.make('linked', { src: 'x\n' })}` } };
    agent([bash('[ -d repo ] && cd repo; mkdir other; echo cheat >other/a; for link in modules conf/sub kept; do mkdir -p $(dirname $link); ln -s $PWD/other $link; ln -sfnr other $link; done')]);
    const protect = ['modules/**', 'conf/sub/a', 'kept.txt'];
    const task = await work({ ...whole, checks: [{ name: 'links', command: 'cat modules/a conf/sub/a kept/a 2>/dev/null; true', protect }] });
    expect([task.status, ...(await listed(task.id))]).toMatchObject(['completed', { output: 'cheat\n', protectedChanged: ['conf/sub', 'modules'] }]);
  }); // prettier-ignore

  it('one that takes too long has timed out, and what it writes is kept at its end', async () => {
    agent([]);
    const long = { name: 'long', command: 'seq 1 30000; sleep 60', timeoutSeconds: 1 };
    const task = await work({ checks: [long], maxRepairs: 0 });
    expect(task.statusReason).toMatchObject({ code: 'checks_failed' });
    const [check] = await listed(task.id);
    expect(check).toMatchObject({ status: 'timed_out', exitCode: null });
    expect(check?.output).toMatch(/\n30000\n\nThe check was ended: it took too long\.\n$/);
    expect(Buffer.byteLength(check?.output ?? '')).toBeLessThanOrEqual(64 * 1024);
    expect(check?.outputBytes).toBeGreaterThan(150_000);
  });

  it('they count to the time of the turn', async () => {
    agent([]);
    const long = { name: 'long', command: 'sleep 60' };
    const checks = [long, { ...long, name: 'longer' }, failing];
    const task = await work({ checks, budget: { maxDurationSeconds: 5 } });
    expect(task.statusReason).toMatchObject({ code: 'budget_exceeded' });
    const both = [['long', 'timed_out'], ['longer', 'timed_out']]; // prettier-ignore
    for (const phase of ['before', 'after']) {
      expect((await listed(task.id, phase)).map(({ name, status }) => [name, status])).toEqual(both);
    }
  });

  it('a PATCH after the end of a turn counts at the end of the next one; [] is none', async () => {
    agent([]);
    const { id } = await createTask(owner.client, { content: 'Do it.' });
    await finished(owner.client, id);
    expect(await stateOf(id)).toEqual({ status: 'none', passed: 0, failed: 0, repairs: 0 });
    await owner.client.patch(`/v1/tasks/${id}`, { checks: [failing], maxRepairs: 0 });
    expect(await stateOf(id)).toEqual({ status: 'pending', passed: 0, failed: 0, repairs: 0 });
    await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'Again.' });
    expect((await finished(owner.client, id)).statusReason).toMatchObject({ code: 'checks_failed' });
    await owner.client.patch(`/v1/tasks/${id}`, { checks: [] });
    await owner.client.post(`/v1/tasks/${id}/messages`, { content: 'Again.' });
    expect((await finished(owner.client, id)).status).toBe('completed');
  });

  it('a task that names none has those of its project, and one of an automation those of that', async () => {
    agent([]);
    const given = { checks: [failing], maxRepairs: 0 };
    const project = await owner.client.post<{ project: { id: string } }>('/v1/projects', { name: 'Checked', ...given });
    expect(project.status).toBe(201);
    const { id: projectId } = project.body.project;
    expect(project.body.project).toMatchObject({ checks: [{ ...failing, timeoutSeconds: 600, required: true, protect: [], network: false }], maxRepairs: 0 }); // prettier-ignore
    expect((await work({ projectId })).statusReason).toMatchObject({ code: 'checks_failed' });
    expect((await work({ projectId, checks: [] })).status).toBe('completed');
    expect((await work({ projectId, checks: [{ name: 'other', command: 'true' }] })).status).toBe('completed');

    const other = { checks: [{ name: 'other', command: 'false' }] };
    const made = await owner.client.post<{ automation: { id: string } }>('/v1/automations', { name: 'Yearly', content: 'Do it.', cron: '0 0 1 1 *', projectId, ...other }); // prettier-ignore
    expect(made.body.automation).toMatchObject({ checks: [{ name: 'other' }], maxRepairs: null });
    const run = await owner.client.post<{ run: { taskId: string } }>(`/v1/automations/${made.body.automation.id}/run`);
    const { statusReason } = await finished(owner.client, run.body.run.taskId);
    expect(statusReason?.message).toBe('These checks did not pass: other.');
    await owner.client.patch(`/v1/projects/${projectId}`, { checks: null, maxRepairs: null });
    expect((await work({ projectId })).status).toBe('completed');
  });

  it('a fork has the checks of its original', async () => {
    agent([bash('echo yes >done.txt')]);
    const { id } = await work({ checks: [failing] });
    const fork = await owner.client.post<{ task: { id: string } }>(`/v1/tasks/${id}/fork`, { content: 'Break it.' }, { headers: { 'Idempotency-Key': id } }); // prettier-ignore
    agent([], [bash('rm done.txt')]);
    expect((await finished(owner.client, fork.body.task.id)).statusReason).toMatchObject({ code: 'checks_failed' });
  });

  it('hides commands and what they wrote where tool activity is hidden', async () => {
    agent([bash('echo yes >done.txt')]);
    const { id } = await work({ checks: [failing] });
    await service.db.query(`UPDATE workspaces SET transparency = '{text}' WHERE id = $1`, [owner.workspace.id]);
    expect(await listed(id)).toMatchObject([{ name: 'done', command: null, output: null, status: 'passed' }]);
    agent([]);
    const failed = await work({ checks: [{ ...failing, command: 'echo seen; false' }], maxRepairs: 1 });
    await service.db.query(`UPDATE workspaces SET transparency = '{text,data}' WHERE id = $1`, [owner.workspace.id]);
    const parts = (await readMessages(owner.client, failed.id)).flatMap((message) => message.parts);
    expect(parts.filter(({ type }) => type === 'data')).toMatchObject([{ data: { failed: [{ name: 'done', output: null, exitCode: 1 }] } }]); // prettier-ignore
  });

  it('are told: each as it begins and ends, to streams, lists of events and webhooks', async () => {
    agent([bash('echo yes >done.txt')]);
    const { body: before } = await owner.client.get<{ position: string }>('/v1/events');
    const { id } = await work({ checks: [failing] });
    const told = async (path: string) => {
      const { body } = await owner.client.get<{ events: { type: string; data: { phase?: string } }[] }>(path);
      const ours = body.events.filter(({ type, data }) => type.startsWith('check.') && data.phase === 'after');
      return ours.map(({ type, data }) => [type, data]);
    };
    const about = { name: 'done', phase: 'after', round: 0, projectId: null, metadata: {} };
    const [{ id: checkId } = { id: '' }] = (await owner.client.get<{ checks: { id: string }[] }>(`/v1/tasks/${id}/checks`)).body.checks; // prettier-ignore
    const both = [
      ['check.started', about],
      ['check.completed', { ...about, checkId, required: true, status: 'passed', exitCode: 0, durationMs: expect.any(Number) }],
    ]; // prettier-ignore
    expect(await told(`/v1/tasks/${id}/events?after=0`)).toEqual(both);
    expect(await told(`/v1/events?limit=100&after=${encodeURIComponent(before.position)}`)).toEqual(both);
    const webhook = await owner.client.post('/v1/webhooks', { url: 'https://example.com/', types: ['check.completed', 'check.*'] });
    expect(webhook.status).toBe(201);
  }); // prettier-ignore

  it.each([
    ['checks', [{ name: 'Upper', command: 'true' }]],
    ['checks', [{ name: 'a', command: ' ' }]],
    ['checks', [{ name: 'a', command: 'true' }, { name: 'a', command: 'false' }]],
    ['checks', [{ name: 'a', command: 'true', protect: ['../x'] }]],
    ['checks', [{ name: 'a', command: 'true', protect: ['/etc/passwd'] }]],
    ['checks', [{ name: 'a', command: 'true', protect: ['{a'] }]],
    ['checks', [{ name: 'a', command: 'true', protect: ['test/'] }]],
    ['checks', [{ name: 'a', command: 'true', protect: ['!test/**'] }]],
    ['checks', [{ name: 'a', command: 'true', timeoutSeconds: 0 }]],
    ['checks', [{ name: 'a', command: 'true', other: 1 }]],
    ['checks', 'npm test'],
    ['checks', null],
    ['checks', Array.from({ length: 17 }, (_, n) => ({ name: `a${n}`, command: 'true' }))],
    ['maxRepairs', 11],
  ])('refuses %s: %j', async (field, value) => {
    const { status, body } = await owner.client.post<{ error: { param?: string } }>('/v1/tasks', { content: 'x', [field]: value }, { headers: { 'Idempotency-Key': `${Math.random()}` } });
    expect([status, body.error.param?.startsWith(field)]).toEqual([400, true]);
  }); // prettier-ignore
});
