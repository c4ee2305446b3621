import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Millwright } from '@millwright/sdk';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Command } from '../harness/command.js';
import { createProject } from '../harness/projects.js';

const MW = fileURLToPath(new URL('../../packages/cli/bin.js', import.meta.url));
const VALUE = 'a-value-of-the-tests';

describe('Secrets from a client (reference §19, §24)', () => {
  let owner: Member;
  const service = useService(() =>
    bootApp({ config: { sandbox: { network: 'allow', allowHosts: ['api.github.com', 'github.com', 'a.test:8443'] } } }),
  );
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
  });

  const mw = async (args: string[], input = '', group = ['secrets']) => {
    const env = { PATH: process.env['PATH'], MILLWRIGHT_URL: service.url, MILLWRIGHT_API_KEY: owner.key.secret };
    const command = new Command(spawn(process.execPath, [MW, ...group, ...args], { env }));
    command.child.stdin?.end(input);
    return { code: await command.code(), out: command.out, err: command.err };
  };
  const told = ({ out }: { out: string }) => JSON.parse(out) as { id: string; version: number; bindings: object[] };

  it('the command takes a value from standard input, and gives one that is there a new one', async () => {
    const hosts = ['--host', 'api.github.com', '--host', 'a.test:8443', '--path', '/repos/acme/**', '--method', 'GET'];
    const made = await mw(['set', 'TOKEN', ...hosts, '--json'], `${VALUE}\n`);
    expect(made.code).toBe(0);
    const place = { header: 'Authorization', form: 'bearer', user: null };
    const narrow = { methods: ['GET'], paths: ['/repos/acme/**'], place };
    expect(told(made).bindings).toEqual([
      { host: 'api.github.com', port: 443, ...narrow },
      { host: 'a.test', port: 8443, ...narrow },
    ]);
    const again = told(await mw(['set', 'TOKEN', '--json'], 'another-value-of-it'));
    expect([again.id, again.version, again.bindings]).toEqual([told(made).id, 2, told(made).bindings]);
    const basic = await mw(['set', 'TOKEN', '--mine', '--host', 'github.com', '--form', 'basic', '--user', 'x'], VALUE);
    expect(basic.out).toMatch(/^\S+ {2}TOKEN {2}user {2}github.com {2}not used yet\n$/);
    const { out } = await mw(['list']);
    expect(out.trim().split('\n')).toHaveLength(2);
    expect(out + made.out + basic.out).not.toContain(VALUE);
    expect((await mw(['delete', told(made).id])).out).toBe(`Deleted ${told(made).id}\n`);
    expect((await mw(['list'])).out.trim().split('\n')).toHaveLength(1);
  });

  it('the command says what is missing', async () => {
    expect(await mw(['set', 'TOKEN'], VALUE)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--host is missing'),
    });
    expect(await mw(['set', 'TOKEN', '--host', 'a.test'])).toMatchObject({ code: 2, err: expect.stringContaining('Standard input is empty') }); // prettier-ignore
    expect(await mw(['set', 'TOKEN', '--host', 'other.test'], VALUE)).toMatchObject({ code: 5, err: expect.stringContaining('not among the hosts') }); // prettier-ignore
    expect(await mw(['get'])).toMatchObject({ code: 2, err: expect.stringContaining('mw secrets list|set|delete') });
  });

  it('the command refuses what it could not hand over whole', async () => {
    const host = ['--host', 'api.github.com'];
    for (const more of [
      ['--header', 'X-Key'],
      ['--form', 'raw'],
      ['--user', 'u'],
    ]) {
      const { code, err } = await mw(['set', 'TOKEN', ...host, '--query', 'k', ...more], VALUE);
      expect([code, err]).toEqual([2, `--query and ${more[0]} do not go together.\n`]);
    }
    for (const more of [
      ['--header', 'X-Key'],
      ['--query', 'k'],
      ['--method', 'GET'],
      ['--path', '/a'],
    ]) {
      const { code, err } = await mw(['set', 'TOKEN', ...more], VALUE);
      expect([code, err]).toEqual([2, `--host is missing: ${more[0]} says how a value goes there.\n`]);
    }
    const both = await mw(['set', 'TOKEN', ...host, '--mine', '--project', 'x'], VALUE);
    expect(both).toMatchObject({ code: 2, err: '--mine and --project do not go together.\n' });
    expect((await mw(['list'])).out).toBe('');
  });

  it('the command deletes the secret of a name, in the scope that it is told', async () => {
    const project = await createProject(owner);
    const host = ['--host', 'api.github.com'];
    const scopes = [[], ['--mine'], ['--project', project.id]];
    const ids = [];
    for (const scope of scopes) ids.push(told(await mw(['set', 'TOKEN', ...host, ...scope, '--json'], VALUE)).id);
    for (const [n, scope] of scopes.entries()) {
      expect((await mw(['delete', 'TOKEN', ...scope])).out).toBe(`Deleted ${ids[n]}\n`);
    }
    const err = "There is no secret TOKEN of the workspace: 'mw secrets list' shows all.\n";
    expect(await mw(['delete', 'TOKEN'])).toMatchObject({ code: 2, err });
  });

  it('the command says what is wrong with the file of an environment', async () => {
    const set = (file: string) => mw(['set', 'box', '--file', file], '', ['environments']);
    expect(await set('/nope')).toMatchObject({ code: 2, err: '--file /nope: there is no such file.\n' });
    expect(await set('/tmp')).toMatchObject({ code: 2, err: '--file /tmp: it is a folder.\n' });
  });

  it('the SDK and the command say which hosts a task reached and was refused', async () => {
    const { tasks } = new Millwright({ apiKey: owner.key.secret, baseUrl: service.url });
    const { id } = await tasks.create({ content: 'Go on.' });
    expect((await mw([id], '', ['network'])).out).toBe('');
    await service.db.query(
      `INSERT INTO network_uses (task_id, host, port, connections, refused, refused_for, bytes_in, bytes_out, first_at, last_at)
       SELECT $1, host, 443, made, refused, why, made * 100, made * 10, now(), now()
       FROM (VALUES ('a.test', 2, 0, NULL), ('b.test', 0, 3, 'host_not_allowed')) AS v(host, made, refused, why)`,
      [id],
    );
    const found = [];
    for await (const one of tasks.network(id, { limit: 1 })) found.push([one.host, one.connections, one.refusedFor]);
    expect(found).toEqual([
      ['a.test', 2, null],
      ['b.test', 0, 'host_not_allowed'],
    ]);
    expect((await mw([id], '', ['network'])).out).toBe(
      'a.test:443  2 connections  200 in  20 out\nb.test:443  0 connections  0 in  0 out  refused 3 (host_not_allowed)\n',
    );
  });

  it('the SDK creates, reads, changes and deletes them, and says what a task did with them', async () => {
    const { secrets, tasks } = new Millwright({ apiKey: owner.key.secret, baseUrl: service.url });
    const project = await createProject(owner, { name: 'Shown' });
    const bindings = [{ host: 'api.github.com', place: { header: 'Authorization' } }];
    const made = await secrets.create({
      name: 'TOKEN',
      scope: 'project',
      projectId: project.id,
      value: VALUE,
      bindings,
    });
    expect(await secrets.get(made.id)).toEqual(made);
    expect(await secrets.update(made.id, { value: 'another-value-of-it' })).toMatchObject({ version: 2 });
    expect((await secrets.list().page()).items.map(({ id }) => id)).toEqual([made.id]);
    const { id } = await tasks.create({ content: 'Go on.' });
    expect(await tasks.secretUses(id)).toEqual([]);
    expect(await secrets.delete(made.id)).toMatchObject({ deleted: true });
  });
});
