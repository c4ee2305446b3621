import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Millwright } from '@millwright/sdk';
import { bootApp, bootWorker, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';
import type { EnvironmentBody } from '../harness/environments.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));

describe('Environments from a client (reference §19, §25)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'clients-environments-'));
  let owner: Member;
  const service = useService(() =>
    bootApp({ config: { sandbox: { network: 'allow', allowHosts: ['registry.npmjs.org', 'a.test:8443'] } } }),
  );
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const line = async (args: string[], input = '') => {
    const env = { PATH: process.env['PATH'], MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: owner.key.secret };
    const command = new Command(spawn(process.execPath, [MW, ...args], { env }));
    command.child.stdin?.end(input);
    return { code: await command.code(), out: command.out, err: command.err };
  };
  const mw = (args: string[], input = '') => line(['environments', ...args], input);
  const told = <T = EnvironmentBody>({ out }: { out: string }) => JSON.parse(out) as T;

  it('the command makes one, and gives one that is there its next version', async () => {
    const hosts = ['--host', 'registry.npmjs.org', '--host', 'a.test:8443'];
    const more = [
      '--secret',
      'NPM_TOKEN',
      '--variable',
      'A=1=2',
      '--variable',
      'B=',
      '--lockfile',
      'package-lock.json',
    ];
    const repository = ['--repository', 'https://github.com/acme/api', '--ref', 'main'];
    const made = await mw(['set', 'node', '--setup', 'npm ci', '--setup', 'npm test', ...hosts, ...more, ...repository, '--json']); // prettier-ignore
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(told(made)).toMatchObject({
      ...{ slug: 'node', version: 1, setup: ['npm ci', 'npm test'], variables: { A: '1=2', B: '' } },
      ...{ allowHosts: ['registry.npmjs.org', 'a.test:8443'], secrets: ['NPM_TOKEN'] },
      ...{ repository: { url: 'https://github.com/acme/api', ref: 'main' } },
      ...{ refresh: { onLockfile: ['package-lock.json'] }, onFailure: 'fail' },
    });
    const checks = ['--check', 'npm test', '--protect', 'test/**', '--max-repairs', '1'];
    const again = await mw([
      'set',
      'node',
      '--refresh',
      'daily',
      '--on-failure',
      'lastGood',
      '--name',
      'Node',
      ...checks,
    ]);
    expect(again.out).toBe('node  version 2  registry.npmjs.org,a.test:8443  Node\n');
    expect((await mw(['list'])).out).toBe(again.out);
    expect(told(await mw(['show', 'node', '1', '--json']))).toMatchObject({ version: 1, onFailure: 'fail' });
    const now = { checks: [{ name: 'npm-test', command: 'npm test', protect: ['test/**'] }], maxRepairs: 1 };
    expect(told(await mw(['show', 'node']))).toMatchObject({ version: 2, onFailure: 'lastGood', refresh: 'daily', ...now }); // prettier-ignore
    expect((await mw(['delete', 'node'])).out).toBe('Deleted node\n');
    expect((await mw(['list'])).out).toBe('');
  });

  it('the command takes what it has shown: an old version comes back, a copy is made of a file', async () => {
    await mw(['set', 'node', '--setup', 'one']);
    await mw(['set', 'node', '--setup', 'two']);
    const old = await mw(['show', 'node', '1', '--json']);
    expect(told(await mw(['set', 'node', '--file', '-', '--json'], old.out))).toMatchObject({ version: 3, setup: ['one'] }); // prettier-ignore
    const file = join(folder, 'environment.json');
    writeFileSync(file, (await mw(['show', 'node'])).out);
    const copy = told(await mw(['set', 'copy', '--file', file, '--setup', 'three', '--json']));
    expect(copy).toMatchObject({ slug: 'copy', version: 1, setup: ['three'] });
  });

  it('the command lists builds, with the last of what was written', async () => {
    const { id } = told(await mw(['set', 'node', '--json']));
    await service.db.query(
      `INSERT INTO environment_builds (id, workspace_id, environment_id, version, driver, state, log, error)
       VALUES ('01a2047b-6b44-7b12-8c3e-3f90a1d5e6b8', $1, $2, 1, 'none', 'failed', 'npm error E404', 'npm ci ended with 1.')`,
      [owner.workspace.id, id],
    );
    expect((await mw(['builds', 'node'])).out).toMatch(/^01a2047b\S+ {2}version 1 {2}failed {2}\S+ {2}npm ci ended with 1\.\n$/); // prettier-ignore
    expect((await mw(['builds', 'node', '--log'])).out).toContain('\nnpm error E404\n');
    expect(told<{ state: string }>(await mw(['builds', 'node', '--json']))).toMatchObject({ state: 'failed' });
  });

  it('the command says what is wrong', async () => {
    const wrong: [string[], number, string][] = [
      [['get'], 2, 'mw environments list|show|set|delete|builds'],
      [['show', 'node', 'x'], 2, 'The version is a number'],
      [['show', 'node'], 5, 'There is no such environment'],
      [['set', 'node', '--ref', 'main'], 2, '--ref goes with --repository'],
      [['set', 'node', '--variable', 'A'], 2, '--variable takes NAME=VALUE'],
      [['set', 'node', '--refresh', 'daily', '--lockfile', 'a'], 2, 'do not go together'],
      [['set', 'node', '--file', '-'], 2, 'Standard input is no JSON'],
      [['set', 'node', '--file', join(folder, 'none')], 2, 'there is no such file'],
      [['set', 'node', '--host', 'other.test'], 5, 'not among the hosts'],
    ];
    for (const [args, code, err] of wrong) {
      expect([args, await mw(args)]).toMatchObject([args, { code, err: expect.stringContaining(err) }]);
    }
  });

  it('a task is made in one, in a version of it, or in none', async () => {
    await mw(['set', 'node', '--setup', 'one']);
    await mw(['set', 'node', '--setup', 'two']);
    const run = async (named: string) =>
      told<{ environment: object | null }>(await line(['run', 'x', '--environment', named, '--detach', '--json']));
    expect((await run('node')).environment).toEqual({ slug: 'node', version: 2 });
    expect((await run('node@1')).environment).toEqual({ slug: 'node', version: 1 });
    expect((await run('-')).environment).toBeNull();
  });

  it('the SDK creates, reads, changes and deletes them, with their versions and builds', async () => {
    const { environments, projects, tasks } = new Millwright({ apiKey: owner.key.secret, baseUrl: service.url });
    const made = await environments.create({ slug: 'node', setup: ['one'] });
    expect(await environments.get('node')).toEqual(made);
    expect(await environments.update('node', { setup: ['two'] })).toMatchObject({ version: 2 });
    expect((await environments.list().page()).items.map(({ slug }) => slug)).toEqual(['node']);
    expect((await environments.versions('node').page()).items.map(({ version }) => version)).toEqual([2, 1]);
    expect(await environments.version('node', 1)).toMatchObject({ version: 1, setup: ['one'] });
    expect((await environments.builds('node').page()).items).toEqual([]);
    const project = await projects.create({ name: 'P', environment: 'node' });
    const task = await tasks.create({ content: 'x', projectId: project.id });
    expect(task.environment).toEqual({ slug: 'node', version: 2 });
    await tasks.cancel(task.id);
    expect(await environments.delete('node')).toEqual({ deleted: true, id: made.id });
  });
});

describe('An environment that a client builds (reference §19, §25)', () => {
  const service = useService(() => bootWorker());
  const mw = async ({ key }: Member, args: string[]) => {
    const env = { PATH: process.env['PATH'], MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: key.secret };
    const command = new Command(spawn(process.execPath, [MW, 'environments', ...args], { env }));
    return { code: await command.code(), out: command.out, err: command.err };
  };

  it('the command follows a build to its end, and tries commands in it', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    await mw(owner, ['set', 'box', '--setup', 'echo made it; echo 4711 > made.txt']);
    const built = await mw(owner, ['build', 'box']);
    expect(built).toMatchObject({ code: 0, out: expect.stringMatching(/^\S+ {2}version 1 {2}ready\n$/) as string });
    expect(built.err).toContain('made it\n');
    const tried = await mw(owner, ['test', 'box', 'cat made.txt; echo wrong >&2; exit 3']);
    expect(tried).toEqual({ code: 3, out: '4711\n', err: 'wrong\n' });
    await mw(owner, ['set', 'box', '--setup', 'exit 7']);
    expect(await mw(owner, ['build', 'box'])).toMatchObject({
      code: 1,
      out: expect.stringMatching(/failed/) as string,
    });
  });
});
