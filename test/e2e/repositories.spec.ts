import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SandboxSelector } from '../../src/engine/sandbox/sandbox-selector.js';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { bootWorker, useService } from '../harness/app.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ModelServer } from '../harness/model-server.js';
import { newMark, sleeps } from '../harness/processes.js';
import { git, RepositoryFolder } from '../harness/repositories.js';
import {
  call,
  createTask,
  finished,
  readMessages,
  readResults,
  reaches,
  runTask,
  script,
  type TaskBody,
} from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { slowIt } from '../harness/slow.js';

type Body = TaskBody & {
  repository: { url: string; ref: string | null; commit: string | null; push: null } | null;
  changes: { files: number; additions: number; deletions: number; patchOmitted: boolean } | null;
};

const bash = (command: string) => call('bash', { command });
const DONE = { text: 'Done.' };

describe('Repositories (reference §15)', () => {
  const folder = new RepositoryFolder();
  let model: ModelServer;
  let member: Member;
  let source: string;
  let commit: string;

  const service = useService(async () => {
    model = await ModelServer.start();
    return bootWorker({
      env: { OPENAI_COMPATIBLE_URL: model.url, MAX_UPLOAD_BYTES: '100000' },
      config: { repositoryFiles: [folder.path], transparency: { data: true } },
    });
  });
  beforeAll(async () => {
    member = await makeMember(service);
    source = folder.make('acme', { 'a.txt': 'one\ntwo\n', 'gone.txt': 'x\n', 'bin.dat': Buffer.from([0, 1, 2, 255]) });
    // Line ends that git(1) would change, and a filter that nothing here has.
    folder.commit(source, 'The second', {
      '.gitattributes': '*.crlf text eol=lf\n*.big filter=lfs\n',
      'dos.crlf': 'dos\r\n',
      'large.big': 'a pointer\n',
      '.gitignore': 'build/\n',
    });
    git(source, 'tag', 'v1');
    git(source, 'tag', '-a', 'v1-signed', '-m', 'A tag of its own');
    commit = git(source, 'rev-parse', 'HEAD');
    git(source, 'branch', 'feature/x');
  });
  afterAll(async () => {
    await model.stop();
    folder.remove();
  });

  const url = (path = source) => `file://${path}`;
  const run = async (steps: Parameters<typeof script>, repository: Record<string, unknown> = { url: url() }) =>
    (await runTask(member.client, script(...steps), { repository })) as Body;
  const goOn = async ({ id }: TaskBody, ...steps: Parameters<typeof script>) => {
    const sent = await member.client.post(`/v1/tasks/${id}/messages`, { content: script(...steps) });
    expect(sent.status).toBe(202);
    return (await finished(member.client, id)) as Body;
  };
  const patches = async ({ id }: TaskBody) => {
    const listed = await member.client.get<{ files: { id: string; name: string }[] }>(`/v1/tasks/${id}/files`);
    return listed.body.files.filter(({ name }) => name === 'changes.patch').map((file) => file.id);
  };
  const patchOf = async (task: TaskBody) => {
    const [newest] = await patches(task);
    return (await member.client.get(`/v1/files/${newest}/content`)).text;
  };
  const printed = async (task: TaskBody) =>
    (await readResults(member.client, task.id)).map(({ output }) => (output as { stdout: string }).stdout);
  const kept = () => {
    const path = join(service.app.get(DataDir).path, 'repositories');
    return existsSync(path) ? readdirSync(path) : [];
  };

  it('are cloned and handed in at repo/ before the first model call, with their history and nothing else of the host', async () => {
    const look =
      'cd repo && git log --format=%s && git status --porcelain --branch && cat dos.crlf large.big && git remote -v && ls -A ..';
    const task = await run([bash(look), bash('grep -rl tmp repo/.git/config; true'), DONE]);
    expect(task.status).toBe('completed');
    expect(task.repository).toEqual({ url: url(), ref: null, commit, push: null });
    expect(await printed(task)).toEqual(['The second\nThe first\n## main\ndos\r\na pointer\nrepo\n', '']);
    expect(task.changes).toEqual({ files: 0, additions: 0, deletions: 0, patchOmitted: false });
    expect(await patches(task)).toEqual([]);
  });

  it('changes counts the difference to the original commit after each turn, and changes.patch applies to it', async () => {
    const work = [
      "cd repo && sed -i 's/two/2/' a.txt && rm gone.txt && printf '\\001\\000' > bin.dat && echo new > 'ä b.txt'",
      'ln -s a.txt link && printf "#!/bin/sh\\n" > run.sh && chmod +x run.sh && mkdir build && echo x > build/out',
      'git init -q inner && echo in > inner/in.txt && git commit -qam "of the agent" && printf "dos 2\\r\\n" >> dos.crlf',
    ];
    const identity = 'export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b';
    const task = await run([bash(`${identity}; ${work.join('\n')}`), DONE]);
    expect(task.changes).toEqual({ files: 8, additions: 6, deletions: 2, patchOmitted: false });
    expect(task.result?.fileIds).toEqual(await patches(task));

    const clean = folder.clone(source, 'clean', commit);
    execFileSync('git', ['-C', clean, 'apply', '--index', '-'], { input: await patchOf(task) });
    expect(git(clean, 'diff', '--cached', '--name-status', '--no-renames').split('\n')).toEqual([
      ...['M\ta.txt', 'M\tbin.dat', 'M\tdos.crlf', 'D\tgone.txt', 'A\tinner/in.txt', 'A\tlink', 'A\trun.sh'],
      'A\t"\\303\\244 b.txt"',
    ]);
    expect(git(clean, 'ls-files', '-s', 'link', 'run.sh').replace(/ \w+ 0\t/g, ' ')).toBe('120000 link\n100755 run.sh');
    expect(git(clean, 'show', ':dos.crlf')).toBe('dos\r\ndos 2');

    // A later turn is compared with the original commit too, though the source has gone on.
    folder.commit(source, 'Later', { 'later.txt': 'x\n' });
    const later = await goOn(task, bash('cd repo && git checkout -q HEAD~1 -- gone.txt && rm -r inner && ls'), DONE);
    expect(later.changes).toEqual({ files: 6, additions: 5, deletions: 1, patchOmitted: false });
    expect(later.repository?.commit).toBe(commit);
    expect((await patches(task)).length).toBe(2);
    git(source, 'reset', '--quiet', '--hard', commit);
  });

  it('a patch that is larger than a file may be is left out: the figures stay, and the task and a message say so', async () => {
    const task = await run([bash('head -c 200000 /dev/urandom > repo/large.bin'), DONE]);
    expect(task.changes).toEqual({ files: 1, additions: 0, deletions: 0, patchOmitted: true });
    expect(await patches(task)).toEqual([]);
    const told = (await readMessages(member.client, task.id)).at(-1)?.parts;
    const message = 'The changes are larger than a file may be, so there is no changes.patch.';
    expect(told).toMatchObject([{ type: 'data', name: 'repository_patch', data: { code: 'too_large', message } }]);
  });

  slowIt('what the agent makes of its tree and of .git gains nothing, and the patch tells of it', async () => {
    const evil = `cd repo && echo more >> a.txt && for name in core.fsmonitor diff.external core.hooksPath filter.x.clean diff.x.textconv \\
      filter.x.process core.sshCommand core.pager uploadpack.packObjectsHook; do git config $name 'touch /workdir/ran; cat'; done
      git config core.worktree / && mkdir -p .git/hooks .git/objects/info && echo /etc > .git/objects/info/alternates
      for hook in post-index-change pre-commit post-checkout; do printf '#!/bin/sh\\ntouch /workdir/ran\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook; done
      printf '* filter=x diff=x -text\\n' | tee .gitattributes > .git/info/attributes; echo '*' > .git/info/exclude
      mkdir -p sub/.git && echo 'ref: refs/heads/x' > sub/.git/HEAD && echo in > sub/in.txt && mkdir .GIT && echo x > .GIT/config
      mkdir -p ../.millwright-changes.x ~/.config/git && ln -s / ../.millwright-changes.y && mkfifo pipe && ln -s /etc/passwd passwd`;
    const noGit = 'cd repo && rm -rf .git && echo "gitdir: /etc" > .git && echo more >> a.txt';
    const link = 'mv repo elsewhere && ln -s / repo';
    const [trapped, without, elsewhere, gone] = await Promise.all(
      [evil, noGit, link, 'rm -rf repo'].map((command) => run([bash(command), bash('ls /workdir/ran; ls -A'), DONE])),
    );
    if (!trapped || !without || !elsewhere || !gone) throw new Error('Four tasks are expected.');
    const later = await goOn(trapped, bash('ls -A'), DONE);
    expect((await printed(later)).map((text) => text.includes('ran'))).toEqual([false, false, false]);
    expect((await printed(later)).at(-1)).toBe('repo\n');
    const names = (text: string) => [...text.matchAll(/^diff --git a\/(\S+)/gm)].map(([, name]) => name);
    expect(names(await patchOf(later))).toEqual(['.gitattributes', 'a.txt', 'passwd', 'sub/in.txt']);
    expect(await patchOf(later)).not.toContain('root:');
    expect(without.changes).toEqual({ files: 1, additions: 1, deletions: 0, patchOmitted: false });
    const all = { files: 7, additions: 0, deletions: 8 };
    expect([elsewhere.changes, gone.changes]).toMatchObject([all, all]);
  });

  it.each([
    ['main', '## main'],
    ['feature/x', '## feature/x'],
    ['v1', '## HEAD (no branch)'],
    ['v1-signed', '## HEAD (no branch)'],
    ['the commit', '## HEAD (no branch)'],
  ])('ref %s is what is cloned', async (name, head) => {
    const ref = name === 'the commit' ? git(source, 'rev-parse', 'HEAD~1') : name;
    const task = await run([bash('git -C repo status -sb && git -C repo rev-parse HEAD'), DONE], { url: url(), ref });
    const expected = git(source, 'rev-parse', `${ref}^{commit}`);
    expect(task.repository).toEqual({ url: url(), ref, commit: expected, push: null });
    expect(await printed(task)).toEqual([`${head}\n${expected}\n`]);
  });

  it('what cannot be cloned fails before the first model call, and a message tries again', async () => {
    const missing = join(folder.path, 'missing');
    const refs = ['nowhere', '0123456789012345678901234567890123456789'];
    const unknown = await Promise.all(refs.map((ref) => run([DONE], { url: url(), ref })));
    for (const task of unknown) {
      expect(task).toMatchObject({
        status: 'failed',
        statusReason: { code: 'repository_unavailable', retryable: true },
      });
      expect(task.usage['steps']).toBe(0);
    }
    expect(unknown.map(({ statusReason }) => statusReason?.message)).toEqual([
      "The repository has no branch or tag 'nowhere'.",
      expect.stringContaining('has no commit'),
    ]);
    const task = await run([DONE], { url: url(missing) });
    expect(task.statusReason).toMatchObject({ code: 'repository_unavailable', retryable: true });
    expect(task.statusReason?.message).toContain('no repository at this path');
    expect(kept().filter((name) => name.startsWith(task.id))).toEqual([]);
    folder.make('missing', { 'b.txt': 'there\n' });
    const later = await goOn(task, bash('cat repo/b.txt'), DONE);
    expect(later.status).toBe('completed');
    expect(await printed(later)).toEqual(['there\n']);
  });

  it.each([
    ['not a url', 'invalid_field'],
    ['http://github.com/acme/api', 'repository_not_allowed'],
    ['ssh://git@github.com/acme/api', 'repository_not_allowed'],
    ['git@github.com:acme/api.git', 'invalid_field'],
    ['ext::sh -c touch% /tmp/x', 'repository_not_allowed'],
    ['https://user@github.com/acme/api', 'repository_not_allowed'],
    ['https://user:secret@github.com/acme/api', 'repository_not_allowed'],
    ['https://github.com/acme/api?x=1', 'repository_not_allowed'],
    ['https://github.com/', 'repository_not_allowed'],
    ['https://github.com/acme%2fapi', 'repository_not_allowed'],
    ['https://10.0.0.1/acme/api', 'repository_not_allowed'],
    ['https://[::ffff:169.254.169.254]/acme/api', 'repository_not_allowed'],
    ['https://0x7f.2/acme/api', 'repository_not_allowed'],
    ['file:///etc', 'repository_not_allowed'],
    ['file://elsewhere/acme', 'repository_not_allowed'],
    ['file:FOLDER', 'repository_not_allowed'],
    ['file:FOLDER/../x', 'repository_not_allowed'],
    ['file:FOLDERx/acme', 'repository_not_allowed'],
    ['file:FOLDER/link', 'repository_not_allowed'],
  ])('%s is refused with 400 %s', async (given, code) => {
    if (given.endsWith('/link')) symlinkSync('/etc', join(folder.path, 'link'));
    const body = { content: 'Work.', repository: { url: given.replace('FOLDER', folder.path) } };
    const answer = await member.client.post<ErrorBody>('/v1/tasks', body);
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([400, code, 'repository.url']);
    expect(answer.text).not.toContain('secret');
  });

  it.each([
    [{ ref: 'main' }, 'repository.url'],
    [{ url: 7 }, 'repository.url'],
    [{ url: 'https://github.com/a/b', ref: '--upload-pack=x' }, 'repository.ref'],
    [{ url: 'https://github.com/a/b', ref: 'a..b' }, 'repository.ref'],
    [{ url: 'https://github.com/a/b', ref: 'a b' }, 'repository.ref'],
    [{ url: 'https://github.com/a/b', ref: '' }, 'repository.ref'],
    [{ url: 'https://github.com/a/b', push: { branch: 'x' } }, 'repository.push'],
    ['https://github.com/a/b', 'repository'],
    [null, 'repository'],
  ])('%j is refused with 400 for %s', async (repository, param) => {
    const answer = await member.client.post<ErrorBody>('/v1/tasks', { content: 'Work.', repository });
    expect([answer.status, answer.body.error.type, answer.body.error.param]).toEqual([400, 'invalid_request', param]);
  });

  slowIt('what is kept of it counts as stored bytes with the workdir, whatever ends or interrupts the turn', async () => {
    const large = folder.make('large', { 'random.bin': randomBytes(3_000_000) });
    const [mark, question] = [newMark(), call('ask', { question: 'Which?' })];
    const content = script(question, bash('true'), bash(`sleep ${mark}`), DONE);
    const { id } = await createTask(member.client, { content, repository: { url: url(large) } });
    const counted = async () => {
      const [row] = await service.db.query<{ n: number }>('SELECT workdir_bytes::int AS n FROM tasks WHERE id = $1', [
        id,
      ]);
      return row?.n ?? 0;
    };
    const { pendingInteraction } = await reaches(member.client, id, 'awaiting_input');
    const workdir = (await service.app.get(SandboxSelector, { strict: false }).current.workdirBytes(id)) ?? 0;
    expect(workdir).toBeGreaterThan(6_000_000);
    expect(await counted()).toBeGreaterThan(workdir + 2_900_000);
    // A result has the figure that the session has measured.
    await service.db.query('UPDATE tasks SET workdir_bytes = 0 WHERE id = $1', [id]);
    const answer = { interactionId: pendingInteraction?.id, content: 'This.' };
    expect((await member.client.post(`/v1/tasks/${id}/interaction`, answer)).status).toBe(202);
    await sleeps(mark);
    expect(await counted()).toBeGreaterThan(workdir + 2_900_000);
    expect((await member.client.post(`/v1/tasks/${id}/cancel`)).status).toBe(200);
  }); // prettier-ignore

  slowIt('what is kept of it goes with the task, and so does what a killed worker has left', async () => {
    const slow = await createTask(member.client, { content: script(bash('ls -A'), DONE), repository: { url: url() } });
    const task = (await finished(member.client, slow.id)) as Body;
    expect(kept()).toContain(task.id);
    writeFileSync(join(service.app.get(DataDir).path, 'repositories', `${task.id}.left`), '');
    expect((await member.client.delete(`/v1/tasks/${task.id}`)).status).toBe(200);
    await service.db.query('UPDATE folder_removals SET not_before = now()');
    const gone = () => kept().every((name) => !name.startsWith(task.id)) || null;
    await until('its repository to be removed', gone);
  });
});
