import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { PullRequestStates } from '../../src/work/pull-requests/pull-request-states.js';
import { bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import type { CodeHost, PullRequestRow } from '../harness/code-hosts/code-host.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { FakeGitLab } from '../harness/code-hosts/gitlab.js';
import { ModelServer } from '../harness/model-server.js';
import { call, createTask, finishedLater, readTask, script, type TaskBody } from '../harness/tasks.js';
import { until } from '../harness/until.js';

type Body = TaskBody & { pullRequest: { url: string; state: string | null } | null };
interface Waiting {
  id: string;
  data: { taskId: string; asked: number; since: string };
  share: string;
  /** Seconds from now. */
  due: number;
}

const TOKENS = { github: 'a-token-for-github-0001', gitlab: 'a-token-for-gitlab-0002' };
const DONE = { text: 'Done.' };

describe('The state of a pull request (reference §15)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pull-requests-'));
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
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ repositories, repositoryNetworks: ['127.0.0.1/32'] }));
    return bootWorker({
      env: {
        OPENAI_COMPATIBLE_URL: model.url,
        CONFIG_FILE: join(folder, 'config.json'),
        GITHUB: TOKENS.github,
        GITLAB: TOKENS.gitlab,
      },
    });
  });
  const newMember = async (slug: string) => {
    const workspace = await service.app.get(WorkspacesService).create({ name: slug, slug, plan: 'paid' });
    return makeMember(service, { workspace });
  };
  beforeAll(async () => {
    member = await newMember('pushers');
    for (const host of [github, gitlab]) host.make('acme/api', { 'a.txt': 'one\n' });
  });
  afterEach(() => {
    for (const host of [github, gitlab]) [host.before, host.remaining] = [() => false, null];
  });
  afterAll(async () => {
    await model.stop();
    await github.stop();
    await gitlab.stop();
    rmSync(folder, { recursive: true });
  });

  const read = async ({ id }: { id: string }) => (await readTask(member.client, id)) as Body;
  const shown = (task: { id: string }, state: string) =>
    until(`the pull request to be ${state}`, async () => (await read(task)).pullRequest?.state === state);
  const jobs = ({ id }: { id: string }): Promise<Waiting[]> =>
    service.db.query<Waiting>(
      `SELECT id, data, share, extract(epoch FROM due_at - now())::float8 AS due FROM jobs
       WHERE queue = 'pull-requests' AND data ->> 'taskId' = $1 AND status = 'queued'`,
      [id],
    );
  const next = (task: { id: string }, asked: number) =>
    until(`question ${asked} to wait`, async () => (await jobs(task)).find(({ data }) => data.asked === asked));
  const none = (task: { id: string }) =>
    until('no question to be left', async () => {
      const [row] = await service.db.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM jobs WHERE queue = 'pull-requests' AND data ->> 'taskId' = $1`,
        [task.id],
      );
      return row?.n === 0;
    });
  /** The question that waits is due now. */
  const ask = async (task: { id: string }, asked: number) => {
    const { id } = await next(task, asked);
    await service.db.query('UPDATE jobs SET due_at = now() WHERE id = $1', [id]);
  };
  const pullOf = (host: CodeHost): PullRequestRow => {
    const pull = host.pullRequests.at(-1);
    if (pull === undefined) throw new Error('There is no pull request.');
    return pull;
  };
  /** A task with a pull request of which the host was asked once. */
  const opened = async (host: CodeHost, pullRequest: object = {}) => {
    const branch = `millwright/change-${++branches}`;
    const edit = call('bash', { command: `cd repo && echo ${branches} >> a.txt` });
    const repository = { url: host.url(), push: { branch, pullRequest } };
    const { id } = await createTask(member.client, { content: script(edit, DONE), title: 'Mend it', repository });
    const task = (await finishedLater(member.client, id)) as Body;
    expect(task.pullRequest?.url).toMatch(new RegExp(`/${pullOf(host).number}$`));
    await next(task, 1);
    return task;
  };
  const changes = async ({ id }: { id: string }) => {
    const path = `/v1/tasks/${id}/events?types=task.updated&limit=100`;
    const { body } = await member.client.get<{ events: { data: { changed: string[] } }[] }>(path);
    const all = body.events.map(({ data }) => data.changed);
    // No event is of nothing, and nothing else of a repository is told so.
    expect(all.filter((changed) => changed.length === 0 || changed.includes('repository'))).toEqual([]);
    return all.filter((changed) => changed.includes('pullRequest'));
  };

  it('is asked of GitHub at once, and later until it is merged, with an event for each change', async () => {
    const task = await opened(github);
    await shown(task, 'open');
    const [job] = await jobs(task);
    expect([job?.share, Math.round((job?.due ?? 0) / 30)]).toEqual([member.workspace.id, 2]);
    const asked = () => github.count(`GET /repos/acme/api/pulls/${pullOf(github).number}`);
    expect(asked()).toBe(1);
    expect(await changes(task)).toEqual([['pullRequest'], ['pullRequest']]);

    // Nothing has changed: no event.
    await ask(task, 1);
    expect(Math.round((await next(task, 2)).due / 100)).toBe(3);
    expect([asked(), await changes(task)]).toEqual([2, [['pullRequest'], ['pullRequest']]]);

    pullOf(github).state = 'merged';
    await ask(task, 2);
    await shown(task, 'merged');
    await none(task);
    expect(await changes(task)).toHaveLength(3);
    const list = await member.client.get<{ tasks: Body[] }>('/v1/tasks?limit=100');
    expect(list.body.tasks.find(({ id }) => id === task.id)?.pullRequest).toEqual(
      expect.objectContaining({ state: 'merged' }),
    );
  });

  it('is draft, open and closed on GitLab', async () => {
    const task = await opened(gitlab, { draft: true });
    await shown(task, 'draft');
    pullOf(gitlab).draft = false;
    await ask(task, 1);
    await shown(task, 'open');
    pullOf(gitlab).state = 'closed';
    await ask(task, 2);
    await shown(task, 'closed');
    await none(task);
    expect(await changes(task)).toHaveLength(4);
  });

  it('stays while the host is away, is busy or has forgotten the repository, and nothing fails', async () => {
    const task = await opened(github);
    await shown(task, 'open');
    pullOf(github).state = 'merged';
    github.before = (request) => {
      request.socket.destroy();
      return true;
    };
    await ask(task, 1);
    await next(task, 2);
    github.before = () => false;
    [github.remaining, github.retryAfterSeconds] = [0, 1800];
    await ask(task, 2);
    // In place of 15 minutes.
    expect((await next(task, 3)).due).toBeGreaterThan(1700);
    github.remaining = null;
    const row = github.at('acme/api');
    if (row !== undefined) row.path = 'acme/elsewhere';
    await ask(task, 3);
    await next(task, 4);
    if (row !== undefined) row.path = 'acme/api';
    expect((await read(task)).pullRequest?.state).toBe('open');
    const failed = `SELECT id FROM jobs WHERE queue = 'pull-requests' AND (status = 'failed' OR last_error IS NOT NULL)`;
    expect(await service.db.query(failed)).toEqual([]);
    await ask(task, 4);
    await shown(task, 'merged');
  });

  it('is asked with what the workspace of the task may use, never another one’s', async () => {
    const task = await opened(github);
    await shown(task, 'open');
    const other = await newMember('strangers');
    expect((await other.client.get(`/v1/tasks/${task.id}`)).status).toBe(404);
    const theirs = await createTask(other.client, { content: script(DONE) });
    await finishedLater(other.client, theirs.id);
    const [copied] = await service.db.query(
      'UPDATE tasks SET repository = (SELECT repository FROM tasks WHERE id = $2) WHERE id = $1 RETURNING id',
      [theirs.id, task.id],
    );
    expect(copied).toBeDefined();
    const before = github.apiRequests.length;
    await service.db.query(
      `INSERT INTO jobs (id, queue, data)
       VALUES (gen_random_uuid(), 'pull-requests', jsonb_build_object('taskId', $1::text, 'asked', 0, 'since', now()))`,
      [theirs.id],
    );
    await next(theirs, 1);
    expect(github.apiRequests.length).toBe(before);
  });

  it('is asked no more when the task is deleted', async () => {
    const task = await opened(github);
    await shown(task, 'open');
    const before = github.apiRequests.length;
    const { id } = await next(task, 1);
    expect((await member.client.delete(`/v1/tasks/${task.id}`)).status).toBe(200);
    await service.db.query('UPDATE jobs SET due_at = now() WHERE id = $1', [id]);
    await none(task);
    expect(github.apiRequests.length).toBe(before);
  });

  it('is asked on in one line when a worker dies between a question and its record', async () => {
    const task = await opened(github);
    await shown(task, 'open');
    const job = { id: 'again', data: { taskId: task.id, asked: 0, since: new Date().toISOString() }, attempt: 2 };
    await service.app.get(PullRequestStates, { strict: false }).handle(job, new AbortController().signal);
    expect((await jobs(task)).map(({ data }) => data.asked)).toEqual([1]);
    expect(await changes(task)).toHaveLength(2);
  });
});
