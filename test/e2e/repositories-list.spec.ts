import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Repository } from '@millwright/sdk';
import { WorkspacesService } from '../../src/access/workspaces/workspaces.service.js';
import { bootApp, useService } from '../harness/app.js';
import { makeCaller } from '../harness/callers.js';
import { type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { CERTIFICATE } from '../harness/code-hosts/code-host.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { FakeGitLab } from '../harness/code-hosts/gitlab.js';
import { git } from '../harness/repositories.js';
import { until } from '../harness/until.js';

interface List {
  repositories: Repository[];
  nextCursor: string | null;
  partial: boolean;
}
type Branches = Omit<List, 'repositories'> & { branches: { name: string; commit: string; default: boolean }[] };

const names = ({ body }: { body: List }) => body.repositories.map(({ name }) => name);
const branchNames = ({ body }: { body: Branches }) => body.branches.map(({ name }) => name);
const day = (n: number) => `2026-02-${String(n).padStart(2, '0')}T00:00:00.000Z`;

describe('Repositories that a workspace may use (reference §15)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'repositories-list-'));
  let github: FakeGitHub;
  let gitlab: FakeGitLab;
  let bare: FakeGitHub;
  let member: Member;
  let other: Member;

  const service = useService(async () => {
    github = await FakeGitHub.start('github-token-of-the-list');
    gitlab = await FakeGitLab.start('gitlab-token-of-the-list');
    bare = await FakeGitHub.start('bare-token-of-the-list');
    const plain = { tokenEnv: 'BARE', workspaces: ['listers'], caFile: CERTIFICATE };
    const repositories = {
      ...github.entry('GITHUB', 'listers'),
      ...gitlab.entry('GITLAB', 'listers'),
      [bare.name]: { ...plain, paths: ['acme/plain', 'others/*'], push: [] },
    };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ repositories, repositoryNetworks: ['127.0.0.1/32'] }));
    const tokens = { GITHUB: github.token, GITLAB: gitlab.token, BARE: bare.token };
    return bootApp({ env: { CONFIG_FILE: join(folder, 'config.json'), ...tokens } });
  });
  beforeAll(async () => {
    const workspace = await service.app
      .get(WorkspacesService)
      .create({ name: 'Listers', slug: 'listers', plan: 'paid' });
    member = await makeMember(service, { workspace });
    other = await makeMember(service);
    for (let n = 1; n <= 5; n++) github.add(`acme/part-${n}`, { pushedAt: day(n) });
    github.add('acme/read-only', { pushedAt: day(6), members: { acme: 'read' }, private: false });
    github.add('acme/archived', { pushedAt: day(7), archived: true });
    github.add('somebody/else', { pushedAt: day(8) });
    gitlab.add('acme/lab', { pushedAt: day(9), defaultBranch: 'trunk' });
    gitlab.add('acme/looked-at', { pushedAt: day(10), members: { acme: 'read' } });
    const path = bare.make('acme/plain', { 'a.txt': 'a' });
    git(path, 'branch', 'next', 'main');
    bare.make('public/site', { 'a.txt': 'a' }, { private: false });
  });
  afterEach(() => {
    for (const host of [github, gitlab, bare]) Object.assign(host, { before: () => false, remaining: null });
  });
  afterAll(async () => {
    for (const host of [github, gitlab, bare]) await host.stop();
    rmSync(folder, { recursive: true });
  });

  const list = (query = '', who = member) => who.client.get<List>(`/v1/repositories?${query}`);
  const branches = (url: string, query = '', who = member) =>
    who.client.get<Branches>(`/v1/repositories/branches?url=${encodeURIComponent(url)}&${query}`);
  /** Later than what a refresh takes as asked just now. */
  const later = async () => {
    const asked = Date.now();
    await until('a refresh to ask again', () => Date.now() - asked > 2100, { within: 10_000 });
  };

  it('are those of its credentials whose paths are allowed, those that were pushed last first', async () => {
    const answer = await list();
    expect(answer.status).toBe(200);
    expect(answer.body.partial).toBe(false);
    expect(names(answer)).toEqual([
      ...['acme/looked-at', 'acme/lab', 'acme/archived', 'acme/read-only'],
      ...['acme/part-5', 'acme/part-4', 'acme/part-3', 'acme/part-2', 'acme/part-1', 'acme/plain'],
    ]);
    const of = (name: string) => answer.body.repositories.find((row) => row.name === name);
    const url = `https://${gitlab.name}/acme/lab.git`;
    const lab = { url, name: 'acme/lab', private: true, defaultBranch: 'trunk', pushable: true, pushedAt: day(9) };
    expect(of('acme/lab')).toEqual(lab);
    expect(of('acme/part-1')).toMatchObject({ url: github.url('acme/part-1'), pushable: true });
    expect(of('acme/read-only')).toMatchObject({ pushable: false, private: false });
    for (const name of ['acme/archived', 'acme/looked-at', 'acme/plain']) expect(of(name)?.pushable).toBe(false);
    expect(of('acme/plain')).toMatchObject({ url: bare.url('acme/plain'), private: null, defaultBranch: null });
  });

  it('are found by a part of their names, and by their host', async () => {
    expect(names(await list('q=PART-3'))).toEqual(['acme/part-3']);
    expect(names(await list(`host=${gitlab.name}`))).toEqual(['acme/looked-at', 'acme/lab']);
    expect(names(await list('host=elsewhere.example'))).toEqual([]);
  });

  it('come in pages, whose cursor is of this list and this caller', async () => {
    const walked: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { body: List } = await list(`limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
      walked.push(...names(page));
      cursor = page.body.nextCursor;
    }
    expect(walked).toEqual(names(await list()));
    const { nextCursor } = (await list('limit=3')).body;
    for (const answer of [
      await list(`q=a&limit=3&cursor=${nextCursor}`),
      await list(`limit=3&cursor=${nextCursor}`, other),
    ]) {
      expect([answer.status, (answer.body as unknown as ErrorBody).error.code]).toEqual([400, 'invalid_cursor']);
    }
  });

  it('begin with those that tasks of the workspace used last', async () => {
    for (const name of ['acme/part-2', 'acme/part-1']) {
      const repository = { url: `https://${github.name}/${name}` };
      expect((await member.client.post('/v1/tasks', { content: 'Work.', repository })).status).toBe(201);
    }
    expect(names(await list()).slice(0, 3)).toEqual(['acme/part-1', 'acme/part-2', 'acme/looked-at']);
  });

  it('are asked of the host once by a hundred requests at once, and once in a minute', async () => {
    const url = github.url('acme/part-3');
    await Promise.all(Array.from({ length: 100 }, () => branches(url)));
    expect(github.count('GET /repos/acme/part-3/branches?')).toBe(1);
    await later();
    const [before, begun] = [github.count('GET /user/repos'), Date.now()];
    const answers = await Promise.all(Array.from({ length: 100 }, () => list('refresh=true')));
    const most = 1 + Math.floor((Date.now() - begun) / 2000);
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    const asked = github.count('GET /user/repos');
    expect([asked > before, asked - before <= most]).toEqual([true, true]);
    await list();
    expect(github.count('GET /user/repos')).toBe(asked);
    github.add('acme/new', { pushedAt: day(20) });
    expect(names(await list())).not.toContain('acme/new');
    await later();
    expect(names(await list('refresh=true'))).toContain('acme/new');
  });

  it('are what is known, and `partial`, when a host fails, is too slow or wants a pause', async () => {
    const known = names(await list());
    const held: ServerResponse[] = [];
    const ways: ((response: ServerResponse) => unknown)[] = [
      (response) => response.writeHead(500).end(),
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      (response) => response.destroy(),
      (response) => held.push(response),
    ];
    for (const answer of ways) {
      await later();
      const begun = Date.now();
      github.before = (_request, response) => {
        answer(response);
        return true;
      };
      const failed = await list('refresh=true');
      expect([failed.status, failed.body.partial, names(failed)]).toEqual([200, true, known]);
      expect(Date.now() - begun).toBeLessThan(30_000);
    }
    for (const response of held) response.destroy();
  });

  it('are left out when the host takes the credential no more, and those that tasks use stay', async () => {
    const fresh = await service.app.get(WorkspacesService).create({ name: 'F', slug: 'f', plan: 'paid' });
    expect(names(await list('', await makeMember(service, { workspace: fresh })))).toEqual([]);
    gitlab.credentials.clear();
    await later();
    const answer = await list(`refresh=true&host=${gitlab.name}`);
    gitlab.credentials.set(gitlab.token, { account: 'acme', repositories: null, permission: 'write', expiresAt: null });
    expect([answer.body.partial, names(answer)]).toEqual([true, []]);
  });

  it('of tasks that the caller does not see are not shown', async () => {
    const repository = { url: bare.url('others/hidden') };
    expect((await member.client.post('/v1/tasks', { content: 'Work.', repository })).status).toBe(201);
    const { workspace } = member;
    expect(names(await list(`host=${bare.name}`))).toEqual(['others/hidden', 'acme/plain']);
    expect(names(await list(`host=${bare.name}`, await makeMember(service, { workspace })))).toEqual(['acme/plain']);
    const owner = await makeMember(service, { workspace, role: 'owner' });
    expect(names(await list(`host=${bare.name}`, owner))).toEqual(['others/hidden', 'acme/plain']);
  });

  it('are asked for four at once of a workspace, and no other request waits for their hosts', async () => {
    const held: ServerResponse[] = [];
    github.before = (_request, response) => held.push(response) > 0;
    const waiting = Array.from({ length: 12 }, (_, n) => branches(github.url(`acme/slow-${n}`)));
    await until('the host to be asked', () => held.length === 4);
    const projects = member.client.get('/v1/projects');
    expect((await Promise.race([projects, ...waiting])) === (await projects)).toBe(true);
    expect(held.length).toBe(4);
    github.before = (_request, response) => response.writeHead(500).end() === response;
    for (const response of held) response.writeHead(500).end();
    for (const { status, body } of await Promise.all(waiting)) expect([status, body.partial]).toEqual([200, true]);
  });

  it('are those of the entries of the operator and of connections; for what both are for the entry is used', async () => {
    const owner = await makeMember(service, { workspace: member.workspace, role: 'owner' });
    const credential = { account: 'acme', repositories: null, permission: 'read' as const, expiresAt: null };
    github.credentials.set('token-of-a-connection', credential);
    const made = await owner.client.post<{ connection: { id: string } }>('/v1/repository-connections', {
      ...{ host: github.name, token: 'token-of-a-connection', paths: ['**'], push: ['millwright/*'] },
    });
    expect(made.status).toBe(201);
    const { repositories } = (await list(`host=${github.name}`)).body;
    const of = (name: string) => repositories.filter((row) => row.name === name).map(({ pushable }) => pushable);
    expect([of('acme/part-1'), of('somebody/else')]).toEqual([[true], [false]]);
    await owner.client.delete(`/v1/repository-connections/${made.body.connection.id}`);
    expect(names(await list(`host=${github.name}`))).not.toContain('somebody/else');
  });

  it('have branches, the default one first, which are found by a part of their names', async () => {
    const listed = Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`b/${n}`, 'c'.repeat(40)]));
    for (const host of [github, gitlab]) {
      host.add('acme/branches', { branches: { ...listed, trunk: 'd'.repeat(40) }, defaultBranch: 'trunk' });
      const page = await branches(host.url('acme/branches'), 'limit=2');
      expect(page.body.branches[0]).toEqual({ name: 'trunk', commit: 'd'.repeat(40), default: true });
      expect(page.body).toMatchObject({ partial: false, nextCursor: expect.any(String) as string });
      const next = await branches(host.url('acme/branches'), `limit=2&cursor=${page.body.nextCursor}`);
      expect([branchNames(page), branchNames(next)]).toEqual([
        ['trunk', 'b/0'],
        ['b/1', 'b/10'],
      ]);
      expect(branchNames(await branches(host.url('acme/branches'), 'q=B/11&limit=3'))).toEqual([
        'b/11',
        'b/110',
        'b/111',
      ]);
      expect((await branches(host.url('acme/branches'))).body.branches).toHaveLength(50);
    }
  });

  it('with more branches than are read are searched by the host', async () => {
    const listed = Object.fromEntries(
      Array.from({ length: 1200 }, (_, n) => [`b/${String(n).padStart(4, '0')}`, 'c'.repeat(40)]),
    );
    for (const host of [github, gitlab]) {
      host.add('acme/many', { branches: { ...listed, 'z/last': 'e'.repeat(40) }, defaultBranch: 'b/0007' });
      const all = await branches(host.url('acme/many'));
      expect([all.body.partial, all.body.branches[0]?.name]).toEqual([true, 'b/0007']);
      const found = await branches(host.url('acme/many'), 'q=z/la');
      expect([found.body.partial, branchNames(found)]).toEqual([false, ['z/last']]);
    }
  });

  it('have branches by git where no API is known, and where everybody may read', async () => {
    const plain = await branches(bare.url('acme/plain'));
    expect([branchNames(plain), plain.body.branches[0]?.default]).toEqual([['main', 'next'], true]);
    for (const who of [member, other])
      expect(branchNames(await branches(bare.url('public/site'), '', who))).toEqual(['main']);
    // Another workspace has no credential for it.
    for (const url of [bare.url('acme/plain'), github.url('acme/part-1')]) {
      const answer = await branches(url, '', other);
      expect([answer.status, (answer.body as unknown as ErrorBody).error.code]).toEqual([404, 'not_found']);
    }
    const gone = await branches(github.url('acme/gone'));
    expect([gone.status, (gone.body as unknown as ErrorBody).error.message]).toEqual([
      404,
      `${github.name} has no repository acme/gone that this workspace may read.`,
    ]);
  });

  it('are asked for by https alone, with a URL of a repository', async () => {
    for (const url of [
      'acme/api',
      'file:///srv/a',
      'http://git.example/a/b',
      'https://u:p@git.example/a',
      'https://10.0.0.1/a/b',
    ]) {
      const { status, body } = await branches(url);
      const { code, param } = (body as unknown as ErrorBody).error;
      expect([url, status, code, param]).toEqual([url, 400, 'invalid_query', 'url']);
    }
    expect((await member.client.get('/v1/repositories/branches')).status).toBe(400);
    expect((await list('refresh=yes')).status).toBe(400);
  });

  it('are for every role, and for none of another workspace', async () => {
    for (const role of ['owner', 'admin', 'member', 'viewer'] as const) {
      const caller = await makeCaller(service, member.workspace, { role, kind: 'service' });
      expect(names(await list('', caller))).toContain('acme/part-1');
    }
    const without = await makeMember(service, { workspace: member.workspace, scopes: ['tasks:read'] });
    expect((await list('', without)).status).toBe(403);
    const before = [github, gitlab, bare].map((host) => host.apiRequests.length + host.gitRequests.length);
    expect((await list('refresh=true', other)).body).toEqual({ repositories: [], nextCursor: null, partial: false });
    expect([github, gitlab, bare].map((host) => host.apiRequests.length + host.gitRequests.length)).toEqual(before);
  });
});
