import { jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { SCOPES } from '../../src/http/endpoint.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { Client } from '../harness/client.js';
import { createDatabase } from '../harness/database.js';

// Each call is a process that boots: about a second, and several on a busy machine.
jest.setTimeout(120_000);

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';

interface Result {
  code: number | null;
  out: string;
  err: string;
}

describe('The operator command (reference §16)', () => {
  let service: TestApp;

  beforeAll(async () => {
    service = await bootApp();
  });
  afterAll(() => service.close());

  const run = (...args: string[]) =>
    new Promise<Result>((resolve, reject) => {
      const child = spawn(process.execPath, [CLI, ...args], {
        env: { PATH: process.env['PATH'], NODE_ENV: 'test', DATABASE_URL: service.db.url, SECRET_KEY },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const result: Result = { code: null, out: '', err: '' };
      child.stdout.on('data', (chunk) => (result.out += String(chunk)));
      child.stderr.on('data', (chunk) => (result.err += String(chunk)));
      child.on('error', reject);
      child.on('close', (code) => resolve({ ...result, code }));
    });
  const json = async <T>(...args: string[]): Promise<T> => {
    const { code, out, err } = await run(...args, '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.trim().split('\n')).toHaveLength(1);
    return JSON.parse(out) as T;
  };

  it('makes a workspace, a user, a member and a key that works, and ends them', async () => {
    const { workspace } = await json<{ workspace: object }>('workspace', 'create', '--name', 'Ünder Mill & Co');
    expect(workspace).toMatchObject({ slug: 'under-mill-co', name: 'Ünder Mill & Co', plan: 'paid' });
    const { user } = await json<{ user: object }>('user', 'create', '--email', 'Ada@example.test', '--name', 'Ada');
    expect(user).toMatchObject({ email: 'Ada@example.test', name: 'Ada' });
    const at = ['--workspace', 'under-mill-co'];
    const ada = ['--user', 'ada@example.test'];
    const { member } = await json<{ member: object }>('member', 'add', ...at, ...ada, '--role', 'admin');
    expect(member).toMatchObject({ email: 'Ada@example.test', role: 'admin' });

    const { key } = await json<{ key: { id: string; secret: string; prefix: string; scopes: string[] } }>(
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

    const listed = await json<{ keys: Record<string, unknown>[] }>('key', 'list', ...at);
    expect(listed.keys.map(({ id }) => id)).toEqual([key.id]);
    expect(JSON.stringify(listed)).not.toContain(key.secret.slice(key.prefix.length));
    await json('key', 'revoke', key.id);
    expect((await client.get('/v1/auth/context')).status).toBe(401);

    expect((await json<{ members: object[] }>('member', 'list', ...at)).members).toHaveLength(1);
    await json('member', 'remove', ...at, ...ada);
    expect((await json<{ members: object[] }>('member', 'list', ...at)).members).toEqual([]);
    const slugs = (await json<{ workspaces: { slug: string }[] }>('workspace', 'list')).workspaces.map((w) => w.slug);
    expect(slugs).toEqual(expect.arrayContaining(['default', 'under-mill-co']));
  });
  it('makes a service account with a key, and sets the policy of a workspace', async () => {
    const at = ['--workspace', 'default'];
    const { serviceAccount } = await json<{ serviceAccount: { id: string } }>(
      'service-account', 'create', ...at, '--name', 'ci', '--role', 'admin',
    ); // prettier-ignore
    expect(serviceAccount).toMatchObject({ name: 'ci', role: 'admin' });
    const { key } = await json<{ key: { secret: string } }>('key', 'create', ...at, '--service', 'ci');
    const client = new Client(service.url, key.secret);
    expect((await client.get('/v1/auth/context')).body).toMatchObject({
      credentialType: 'service',
      user: { name: 'ci' },
    });
    const policy = async (...words: string[]) =>
      (await json<{ workspace: { transparency: string[] | null } }>('workspace', 'policy', ...at, ...words)).workspace;
    expect((await policy('--expose', 'files,text')).transparency).toEqual(['text', 'files']);
    const neither = await run('workspace', 'policy', ...at);
    expect([neither.code, neither.err]).toEqual([1, expect.stringMatching(/^Give either/)]);
    expect(await json('service-account', 'delete', ...at, '--name', 'ci')).toEqual({
      deleted: true,
      id: serviceAccount.id,
    });
    expect((await client.get('/v1/auth/context')).status).toBe(401);
  }, 60_000);
  it('without --json people can read it; a key has all scopes unless told otherwise', async () => {
    const { code, out } = await run('key', 'create', '--workspace', 'default', '--user', 'owner@localhost');
    expect(code).toBe(0);
    expect(out).toMatch(/^secret: mw_pk_\w{49}$/m);
    expect(out).toMatch(new RegExp(`^scopes: ${SCOPES.join(',')}$`, 'm'));
  });
  it('what cannot be done ends with 1 and says why on standard error', async () => {
    const cases: [string[], string][] = [
      [['key', 'create', '--workspace', 'nowhere', '--user', 'owner@localhost'], "There is no workspace 'nowhere'"],
      [['key', 'revoke', 'x'], "There is no key 'x'"],
      [['user', 'create', '--email', 'OWNER@localhost', '--name', 'x'], 'There is a user'],
    ];
    for (const [args, message] of cases) {
      const { code, out, err } = await run(...args, '--json');
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain(message);
      expect(err.trim().split('\n')).toHaveLength(1);
    }
  });
  it('a wrong command line ends with 2', async () => {
    for (const args of [
      ['nothing'],
      ['key', 'create', '--workspace', 'a', '--user', 'b', '--scopes', 'all:things'],
    ]) {
      const { code, err } = await run(...args);
      expect(code).toBe(2);
      expect(err).toMatch(/error: /);
    } // prettier-ignore
    expect((await run('--help')).code).toBe(0);
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
