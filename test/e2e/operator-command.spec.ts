import { SCOPES } from '../../src/platform/http/endpoint.js';
import { bootApp, useService } from '../harness/app.js';
import { Client } from '../harness/client.js';
import { createDatabase } from '../harness/database.js';
import { Operator } from '../harness/operator.js';
import { createProject, type ProjectBody } from '../harness/projects.js';
import { slowIt } from '../harness/slow.js';

describe('The operator command (reference §16)', () => {
  let operator: Operator;

  const service = useService();
  beforeAll(() => {
    operator = new Operator(service);
  });

  it('puts new workspaces on the plan DEFAULT_PLAN, unless it is told another', async () => {
    const env = { DEFAULT_PLAN: 'free' };
    const free = await bootApp({ env });
    try {
      const command = new Operator(free, env);
      await command.run('workspace', 'create', '--name', 'Told', '--plan', 'paid');
      await command.run('workspace', 'create', '--name', 'Not told');
      const { workspaces } = await command.json<{ workspaces: object[] }>('workspace', 'list');
      expect(workspaces).toMatchObject([
        { slug: 'default', plan: 'free' },
        { slug: 'told', plan: 'paid' },
        { slug: 'not-told', plan: 'free' },
      ]);
    } finally {
      await free.close();
    }
  });

  it('makes a workspace, a user, a member and a key that works, and ends them', async () => {
    const { workspace } = await operator.json<{ workspace: object }>(
      'workspace',
      'create',
      '--name',
      'Ünder Mill & Co',
    );
    expect(workspace).toMatchObject({ slug: 'under-mill-co', name: 'Ünder Mill & Co', plan: 'paid' });
    const made = await operator.json<{ user: object }>(
      'user',
      'create',
      '--email',
      'Ada@example.test',
      '--name',
      'Ada',
    );
    expect(made.user).toMatchObject({ email: 'Ada@example.test', name: 'Ada' });
    const at = ['--workspace', 'under-mill-co'];
    const ada = ['--user', 'ada@example.test'];
    const { member } = await operator.json<{ member: object }>('member', 'add', ...at, ...ada, '--role', 'admin');
    expect(member).toMatchObject({ email: 'Ada@example.test', role: 'admin' });

    const { key } = await operator.json<{ key: { id: string; secret: string; prefix: string; scopes: string[] } }>(
      'key', 'create', ...at, ...ada, '--name', 'laptop', '--scopes', 'tasks:write,tasks:read', '--expires', '90d',
    ); // prettier-ignore
    expect(key.scopes).toEqual(['tasks:read', 'tasks:write']);
    expect(key.secret.startsWith(key.prefix)).toBe(true);
    const client = new Client(service.url, key.secret);
    expect((await client.get('/v1/auth/context')).body).toMatchObject({
      user: { email: 'Ada@example.test' },
      workspace: { slug: 'under-mill-co', role: 'admin' },
      credential: { id: key.id, name: 'laptop' },
    });

    const listed = await operator.json<{ keys: Record<string, unknown>[] }>('key', 'list', ...at);
    expect(listed.keys.map(({ id }) => id)).toEqual([key.id]);
    expect(JSON.stringify(listed)).not.toContain(key.secret.slice(key.prefix.length));
    await operator.json('key', 'revoke', key.id);
    expect((await client.get('/v1/auth/context')).status).toBe(401);

    const members = async () => (await operator.json<{ members: object[] }>('member', 'list', ...at)).members;
    expect(await members()).toHaveLength(1);
    expect(await operator.json('member', 'remove', ...at, ...ada)).toMatchObject({
      removed: true,
      transferredTo: null,
    });
    expect(await members()).toEqual([]);
    const slugs = async () =>
      (await operator.json<{ workspaces: { slug: string }[] }>('workspace', 'list')).workspaces.map((w) => w.slug);
    expect(await slugs()).toEqual(['default', 'under-mill-co']);

    await expect(operator.run('workspace', 'delete', ...at)).rejects.toThrow('add --yes');
    expect(await slugs()).toContain('under-mill-co');
    const deleted = await operator.json<{ id: string }>('workspace', 'delete', ...at, '--yes');
    expect(deleted).toEqual({ deleted: true, id: (workspace as { id: string }).id });
    expect(await slugs()).toEqual(['default']);
  });
  it('removes a member, whose things go to the one that --transfer-to names', async () => {
    const at = ['--workspace', 'default'];
    const people = ['leaver@example.test', 'heir@example.test'];
    for (const email of people) {
      await operator.json('user', 'create', '--email', email, '--name', email);
      await operator.json('member', 'add', ...at, '--user', email, '--role', 'member');
    }
    type Made = { key: { secret: string } };
    const clientOf = async (email = '') => {
      const { key } = await operator.json<Made>('key', 'create', ...at, '--user', email);
      return new Client(service.url, key.secret);
    };
    const leaver = await clientOf(people[0]);
    const heir = await clientOf(people[1]);
    const project = await createProject({ client: leaver });
    const remove = ['member', 'remove', ...at, '--user', 'leaver@example.test', '--transfer-to', 'heir@example.test'];
    const { body } = await heir.get<{ user: { id: string } }>('/v1/auth/context');
    expect(await operator.json(...remove)).toMatchObject({ removed: true, transferredTo: body.user.id });
    expect((await leaver.get('/v1/auth/context')).status).toBe(401);
    const found = await heir.get<{ project: ProjectBody }>(`/v1/projects/${project.id}`);
    expect(found.body.project.owner.id).toBe(body.user.id);
  });
  it('lists people, and forgets those who are deleted', async () => {
    const users = async () => (await operator.json<{ users: Record<string, unknown>[] }>('user', 'list')).users;
    const { user } = await operator.json<{ user: object }>(
      'user',
      'create',
      '--email',
      'bo@example.test',
      '--name',
      'Bo',
    );
    expect(await users()).toContainEqual(user);
    expect(user).toEqual({
      id: expect.any(String),
      email: 'bo@example.test',
      name: 'Bo',
      createdAt: expect.any(String),
    });
    expect(await operator.run('user', 'list')).toMatch(
      /^ID +EMAIL +NAME +CREATED AT\n[^]* {2}bo@example\.test +Bo +20[-\dT:]{14}Z$/m,
    );
    const { id } = user as { id: string };
    expect(await operator.json('user', 'delete', '--user', 'BO@example.test')).toEqual({ deleted: true, id });
    expect((await users()).map(({ email }) => email)).not.toContain('bo@example.test');
    await expect(operator.run('user', 'delete', '--user', 'bo@example.test')).rejects.toThrow('There is no user');
  });
  it('makes a service account with a key, and sets the policy of a workspace', async () => {
    const at = ['--workspace', 'default'];
    const { serviceAccount } = await operator.json<{ serviceAccount: { id: string } }>(
      'service-account', 'create', ...at, '--name', 'ci', '--role', 'admin',
    ); // prettier-ignore
    expect(serviceAccount).toMatchObject({ name: 'ci', role: 'admin' });
    expect(await operator.json('service-account', 'list', ...at)).toEqual({ serviceAccounts: [serviceAccount] });
    const { key } = await operator.json<{ key: { secret: string } }>('key', 'create', ...at, '--service', 'ci');
    const client = new Client(service.url, key.secret);
    expect((await client.get('/v1/auth/context')).body).toMatchObject({
      credentialType: 'service',
      user: { name: 'ci' },
    });
    type Policy = { workspace: { transparency: string[] | null }; exposed: string[] };
    const policy = (...flags: string[]) => operator.json<Policy>('workspace', 'policy', ...at, ...flags);
    const own = { workspace: { transparency: ['text', 'files'] }, exposed: ['text', 'files'] };
    expect(await policy('--expose', 'files,text')).toMatchObject(own);
    expect(await policy()).toMatchObject(own);
    await expect(policy('--expose', 'text', '--default')).rejects.toThrow(/^Give either/);
    expect(await operator.run('workspace', 'policy', ...at)).toBe(
      "The workspace 'default' exposes, by a policy of its own: text, files.",
    );
    const deployment = { workspace: { transparency: null }, exposed: ['text', 'reasoning', 'tool_activity'] };
    expect(await policy('--default')).toMatchObject(deployment);
    expect(await policy()).toMatchObject(deployment);
    expect(await operator.json('service-account', 'delete', ...at, '--name', 'ci')).toEqual({
      deleted: true,
      id: serviceAccount.id,
    });
    expect((await client.get('/v1/auth/context')).status).toBe(401);
  });
  it('without --json people can read it: the secret of a key comes first; it has all scopes unless told otherwise', async () => {
    const out = await operator.run('key', 'create', '--workspace', 'default', '--user', 'owner@localhost');
    expect(out).toMatch(/^mw_pk_\w{49}\nThis secret is shown once\b/);
    expect(out.match(/mw_pk_\w{49}/g)).toHaveLength(1);
    expect(out).toMatch(new RegExp(`^scopes: ${SCOPES.join(',')}$`, 'm'));
    expect(await operator.run('service-account', 'list', '--workspace', 'default')).toBe('None.');
  });
  it('says what cannot be done, and why', async () => {
    const cases: [string[], string][] = [
      [['key', 'create', '--workspace', 'nowhere', '--user', 'owner@localhost'], "There is no workspace 'nowhere'"],
      [['key', 'revoke', 'x'], "There is no key 'x'"],
      [['user', 'create', '--email', 'OWNER@localhost', '--name', 'x'], 'There is a user'],
      [['member', 'remove', '--workspace', 'default', '--user', 'nobody@localhost'], 'There is no user'],
      [['workspace', 'delete', '--workspace', 'nowhere', '--yes'], "There is no workspace 'nowhere'"],
    ];
    for (const [args, message] of cases) await expect(operator.run(...args, '--json')).rejects.toThrow(message);
  });

  describe('as a process', () => {
    it('prints one JSON object and ends with 0', async () => {
      const owner = ['--workspace', 'default', '--user', 'owner@localhost'];
      const { code, out, err } = await operator.spawn('key', 'create', ...owner, '--json');
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out.trim().split('\n')).toHaveLength(1);
      const { key } = JSON.parse(out) as { key: { secret: string } };
      expect((await new Client(service.url, key.secret).get('/v1/auth/context')).status).toBe(200);
    });
    slowIt('what cannot be done ends with 1 and says why on standard error', async () => {
      const { code, out, err } = await operator.spawn('key', 'list', '--workspace', 'nowhere', '--json');
      expect(err).toMatch(/^There is no workspace 'nowhere'.*\n$/);
      expect({ code, out }).toEqual({ code: 1, out: `${JSON.stringify({ error: { message: err.trim() } })}\n` });
    });
    slowIt('a wrong command line ends with 2, help and the version with 0', async () => {
      const wrong = [['nothing'], ['key', 'create', '--workspace', 'a', '--user', 'b', '--scopes', 'all:things']];
      const lines = [['--help'], ['--version'], ...wrong];
      const [help, version, ...results] = await Promise.all(lines.map((args) => operator.spawn(...args)));
      expect(help?.code).toBe(0);
      expect(version).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), err: '' });
      for (const { code, err } of results) {
        expect(code).toBe(2);
        expect(err).toMatch(/error: /);
      }
    });
  });
});

describe('The first boot', () => {
  it('makes a workspace and its owner once, and no key', async () => {
    const db = await createDatabase();
    try {
      // Two at once, then one more: processes of one installation start together.
      const both = await Promise.all([bootApp({ db }), bootApp({ db })]);
      await Promise.all(both.map((service) => service.close()));
      await (await bootApp({ db })).close();
      const rows = await db.query(
        `SELECT w.slug, u.email, m.role, (SELECT count(*)::int FROM api_keys) AS keys
         FROM memberships m JOIN workspaces w ON w.id = m.workspace_id JOIN users u ON u.id = m.user_id`,
      );
      expect(rows).toEqual([{ slug: 'default', email: 'owner@localhost', role: 'owner', keys: 0 }]);
    } finally {
      await db.drop();
    }
  });
});
