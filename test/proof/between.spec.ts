import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootWorker, useService } from '../harness/app.js';
import { listChecks } from '../harness/checked.js';
import { makeMember, type Member } from '../harness/client.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { type Answer, ModelServer, stepOf } from '../harness/model-server.js';
import { git } from '../harness/repositories.js';
import { call, createTask, finishedLater, readResults, readTask, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { MEND_JS, SCENES } from './scenes.js';

type Body = TaskBody & { checks: { status: string } };
const { files, check } = SCENES.js;
const TOKEN = 'a-token-of-liars';
const DONE: Answer = { text: 'Done. All tests pass.' };
const bash = (command: string) => call('bash', { command });
const BREAK = 'git checkout -q -- src && echo broken >broken.txt';

describe('Between a check and what follows from it (reference §26)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'between-'));
  let model: ModelServer;
  let host: FakeGitHub;
  let member: Member;
  let branches = 0;

  const service = useService(async () => {
    model = await ModelServer.start();
    host = await FakeGitHub.start(TOKEN);
    const config = {
      repositories: host.entry('TOKEN', 'liars'),
      repositoryNetworks: ['127.0.0.1/32'],
      transparency: { tool_activity: true, data: true },
    };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    return bootWorker({ env: { OPENAI_COMPATIBLE_URL: model.url, CONFIG_FILE: join(folder, 'config.json'), TOKEN } });
  });
  beforeAll(async () => {
    const workspace = await service.app.get(WorkspacesService).create({ name: 'Liars', slug: 'liars', plan: 'paid' });
    member = await makeMember(service, { workspace });
    host.make('acme/api', files);
  });
  afterAll(async () => {
    await model.stop();
    await host.stop();
    rmSync(folder, { recursive: true });
  });

  const bare = () => join(host.folder.path, 'acme/api.git');
  const shown = (branch: string, path: string) => git(bare(), 'show', `${branch}:${path}`);
  const listed = (branch: string) => git(bare(), 'ls-tree', '-r', '--name-only', branch).split('\n');
  /** What the agent does after each message that it reads. */
  const agent = (...turns: string[][]) => {
    model.script = (request) => {
      const turn = request.messages.filter(({ role }) => role === 'user').length - 1;
      const command = turns[turn]?.[stepOf(request)];
      return command === undefined ? DONE : bash(`cd repo && ${command}`);
    };
  };
  const begin = (more: object = {}) => {
    const branch = `millwright/x-${++branches}`;
    const body = { content: 'Mend it.', repository: { url: host.url(), push: { branch } }, checks: [{ name: 'tests', ...check }], maxRepairs: 0 }; // prettier-ignore
    return createTask(member.client, { ...body, ...more }).then(({ id }) => ({ id, branch }));
  };
  const tell = async (id: string) => {
    expect((await member.client.post(`/v1/tasks/${id}/messages`, { content: 'Go on.' })).status).toBe(202);
  };
  const over = async (id: string) => (await finishedLater(member.client, id)) as Body;
  const rowsOf = (id: string) => listChecks(member.client, id);

  it('what is pushed is what was checked, whatever a process that is left behind waits for', async () => {
    const evil = `for at in /workdir/.millwright-changes.*; do [ -d $at ] || continue; echo evil >$at/patch; done; for at in /workdir/repo /workdir/*/repo; do [ -d $at ] && echo evil >$at/evil.txt; done`;
    // It shows that it can: a folder of such a name is changed at once.
    const shows = `mkdir ../.millwright-changes.mine; until grep -qs evil ../.millwright-changes.mine/patch; do :; done; rm -r ../.millwright-changes.mine evil.txt; echo TRIED`;
    agent([`${MEND_JS}\n(setsid sh -c 'while :; do ${evil}; done' >/dev/null 2>&1 &) ; ${shows}; ${MEND_JS}`]);
    const { id, branch } = await begin();
    expect(await over(id)).toMatchObject({ status: 'completed', checks: { status: 'passed' } });
    expect(JSON.stringify(await readResults(member.client, id))).toContain('TRIED');
    expect(shown(branch, 'src/sum.mjs')).toContain('a + b');
    // It lived until its command was over: what it made by then is of the work, and was checked.
    expect(listed(branch).filter((path) => !Object.keys(files).includes(path) && path !== 'evil.txt')).toEqual([]);
  });

  it('what a liar says in a later turn is not pushed', async () => {
    agent([MEND_JS], [BREAK]);
    const { id, branch } = await begin();
    expect((await over(id)).status).toBe('completed');
    const tip = git(bare(), 'rev-parse', branch);
    await tell(id);
    expect((await over(id)).statusReason).toMatchObject({ code: 'checks_failed' });
    expect((await rowsOf(id)).map(({ turn, status }) => [turn, status])).toEqual([[1, 'passed'], [2, 'failed']]); // prettier-ignore
    expect(git(bare(), 'rev-parse', branch)).toBe(tip);
  });

  it('a message that comes while a check runs has what follows from it checked too', async () => {
    agent([MEND_JS], [BREAK]);
    const slow = { ...check, name: 'tests', command: 'bash tools/check.sh || exit; sleep 4' };
    const { id, branch } = await begin({ checks: [slow] });
    const running = async () => ((await readTask(member.client, id)) as Body).checks.status === 'running';
    await until('the check to run', running, { within: 150_000 });
    await tell(id);
    const failed = async () => (await rowsOf(id)).some(({ status }) => status !== 'passed');
    await until('what came of the message to be checked', failed, { within: 150_000 });
    expect((await over(id)).statusReason).toMatchObject({ code: 'checks_failed' });
    const pushed = git(bare(), 'for-each-ref', '--format=%(refname)', `refs/heads/${branch}`);
    if (pushed !== '') expect(listed(branch)).not.toContain('broken.txt');
  });

  it('an agent that would change its checks has no key for it', async () => {
    const at = `${service.url}/v1/tasks`;
    const ask = `node -e 'fetch(process.argv[1], { method: "PATCH", headers: { "content-type": "application/json", ...(process.argv[2] && { authorization: "Bearer " + process.argv[2] }) }, body: JSON.stringify({ checks: [] }) }).then((answer) => console.log("ANSWER", answer.status), (error) => console.log("NONE", error.cause?.code))'`;
    const keys = `grep -rhoE 'mw_[A-Za-z0-9_]{20,}' /proc/*/environ /workdir ~ /tmp /etc 2>/dev/null | head -n 1`;
    let known = (_id: string): void => undefined;
    const told = new Promise<string>((resolve) => (known = resolve));
    // It is told which task it works on, and where.
    model.script = async (request) => (stepOf(request) === 0 ? bash(`${ask} ${at}/${await told} "$(${keys})"`) : DONE);
    const { id } = await begin();
    known(id);
    expect((await over(id)).statusReason).toMatchObject({ code: 'checks_failed' });
    expect(JSON.stringify(await readResults(member.client, id))).toContain('NONE');
    // Whoever has one can, which is how it is known that the request was a right one.
    expect((await member.client.patch(`/v1/tasks/${id}`, { checks: [] })).status).toBe(200);
  });

  it('an agent that lies again when it is told of it is not believed the second time', async () => {
    agent(['true'], ['sed -i "1i exit 0" tools/check.sh'], ['rm -r test']);
    const { id, branch } = await begin({ maxRepairs: 2 });
    expect((await over(id)).statusReason).toMatchObject({ code: 'checks_failed' });
    expect((await rowsOf(id)).map(({ round, status }) => [round, status])).toEqual([[0, 'failed'], [1, 'failed'], [2, 'failed']]); // prettier-ignore
    expect(git(bare(), 'for-each-ref', `refs/heads/${branch}`)).toBe('');
  });
});
