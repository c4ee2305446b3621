import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Sealing } from '../../src/platform/config/sealing.js';
import { ownerOfValue } from '../../src/resources/secrets/secret.entity.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Operator } from '../harness/operator.js';
import { createProject } from '../harness/projects.js';
import { createSecret, type SecretBody, SECRETS, VALUE } from '../harness/secrets.js';
import { temporaryFolder } from '../harness/service.js';

interface Shown {
  id: string;
  name: string;
  scope: string;
  hosts: string[];
  env: string;
  version: number;
  usedAt: string | null;
  createdBy: string;
}

const SANDBOX = { network: 'allow' as const, allowHosts: ['api.github.com', 'github.com', 'a.test:8443'] };

describe('secret … of the operator command (reference §16, §24)', () => {
  const folder = temporaryFolder();
  let owner: Member;
  let at: string[];
  const service = useService(() => bootApp({ config: { sandbox: SANDBOX } }));
  const CONFIG_FILE = join(folder.path, 'config.json');
  beforeAll(() => writeFileSync(CONFIG_FILE, JSON.stringify({ sandbox: SANDBOX })));
  beforeEach(async () => {
    owner = await makeMember(service, { role: 'owner' });
    at = ['--workspace', owner.workspace.slug];
  });
  afterAll(() => folder.remove());

  const operator = () => new Operator(service, { CONFIG_FILE });
  const set = (name: string, input: string, ...more: string[]) =>
    Object.assign(operator(), { input }).attempt('secret', 'set', name, ...at, ...more);
  const told = ({ out }: { out: string }) => (JSON.parse(out) as { secret: Shown }).secret;
  const list = async () => (await operator().json<{ secrets: Shown[] }>('secret', 'list', ...at)).secrets;
  const read = async (id: string) => (await owner.client.get<{ secret: SecretBody }>(`${SECRETS}/${id}`)).body.secret;
  const valueOf = async (id: string) => {
    const [row] = await service.db.query<{ value: Buffer }>('SELECT value FROM secrets WHERE id = $1', [id]);
    return service.app.get(Sealing).open(ownerOfValue(id), row?.value ?? Buffer.alloc(0));
  };
  const acts = async () => {
    const rows = await service.db.query<{ act: string }>(
      `SELECT action || ' ' || target_id || coalesce(' by ' || actor_id, '') AS act FROM audit_log
       WHERE workspace_id = $1 AND action LIKE 'secret.%' ORDER BY id`,
      [owner.workspace.id],
    );
    return rows.map(({ act }) => act);
  };

  it('set takes a value from standard input, and gives one that is there a new one', async () => {
    const hosts = ['--host', 'api.github.com', '--host', 'a.test:8443', '--method', 'GET', '--path', '/repos/acme/**'];
    const made = await set('TOKEN', `${VALUE}\n`, ...hosts, '--description', 'Reads.', '--json');
    expect(made).toMatchObject({ code: 0, err: '' });
    const { id } = told(made);
    const place = { header: 'Authorization', form: 'bearer', user: null };
    const narrow = { methods: ['GET'], paths: ['/repos/acme/**'], place };
    const bindings = [
      { host: 'api.github.com', port: 443, ...narrow },
      { host: 'a.test', port: 8443, ...narrow },
    ];
    expect(await read(id)).toMatchObject({
      ...{ name: 'TOKEN', scope: 'workspace', env: 'TOKEN', description: 'Reads.', version: 1, bindings },
      createdBy: { id: owner.user.id },
    });
    expect(await valueOf(id)).toBe(VALUE);
    const again = await set('TOKEN', 'another-value-of-it', '--env', 'GH_TOKEN', '--json');
    expect(told(again)).toMatchObject({ id, version: 2, env: 'GH_TOKEN', hosts: ['api.github.com', 'a.test:8443'] });
    expect(await read(id)).toMatchObject({ bindings, description: 'Reads.' });
    expect(await valueOf(id)).toBe('another-value-of-it');
    const moved = await set('TOKEN', VALUE, '--host', 'github.com', '--form', 'basic', '--user', 'x', '--json');
    expect(told(moved)).toMatchObject({ id, version: 3, hosts: ['github.com'] });
    expect((await read(id)).bindings).toMatchObject([{ place: { header: 'Authorization', form: 'basic', user: 'x' } }]);
    expect(await acts()).toEqual([`secret.create ${id}`, `secret.update ${id}`, `secret.update ${id}`]);
    expect(made.out + again.out + moved.out).not.toMatch(/canary|another-value/);
  });

  it('list shows those of the workspace, of its projects and of its users, and never a value', async () => {
    const project = await createProject(owner);
    await createSecret(owner.client, { name: 'A' });
    await createSecret(owner.client, { name: 'B', scope: 'project', projectId: project.id });
    await createSecret(owner.client, { name: 'C', scope: 'user' });
    await createSecret((await makeMember(service, { role: 'owner' })).client, { name: 'OF_OTHERS' });
    expect((await list()).map(({ name, scope }) => `${name} ${scope}`)).toEqual(['A workspace', 'B project', 'C user']);
    const words = await operator().run('secret', 'list', ...at);
    expect(words).toMatch(/\bapi\.github\.com\b/);
    expect(words).not.toContain('canary');
  });

  it('delete takes the name of one of the workspace', async () => {
    const { id } = await createSecret(owner.client);
    const mine = await createSecret(owner.client, { scope: 'user' });
    expect(await operator().json('secret', 'delete', 'TOKEN', ...at)).toEqual({ deleted: true, id });
    expect((await list()).map((one) => one.id)).toEqual([mine.id]);
    await expect(operator().run('secret', 'delete', 'TOKEN', ...at)).rejects.toThrow(
      'The workspace has no secret TOKEN',
    );
    expect((await acts()).at(-1)).toBe(`secret.delete ${id}`);
  });

  it('set takes no variable that another secret of the workspace has', async () => {
    await createSecret(owner.client, { env: 'GH' });
    const said = 'The workspace has a secret TOKEN whose variable is GH already';
    const host = ['--host', 'api.github.com'];
    for (const [name, more] of [
      ['A', ['--env', 'GH']],
      ['GH', []],
    ] as const) {
      expect(await set(name, VALUE, ...host, ...more)).toMatchObject({ code: 1, err: expect.stringContaining(said) });
    }
    expect((await set('TOKEN', VALUE, '--env', 'GH')).code).toBe(0);
    expect((await list()).map(({ name }) => name)).toEqual(['TOKEN']);
  });

  it('follows the rules of requests, and says what is wrong without a piece of the value', async () => {
    const host = ['--host', 'api.github.com'];
    const wrong: [name: string, input: string, more: string[], said: string][] = [
      ['TOKEN', VALUE, [], 'bindings must be an array'],
      ['TOKEN', VALUE, ['--host', 'other.test'], 'not among the hosts and ports'],
      ['TOKEN', '', host, 'value must have at least 8 characters'],
      ['TOKEN', `${VALUE}\n\n`, host, 'must not end in a line break'],
      ['token', VALUE, host, 'name must be 1 to 64 capital letters'],
      ['TOKEN', VALUE, [...host, '--env', 'PATH'], 'the sandbox has PATH for itself'],
      ['TOKEN', VALUE, [...host, '--header', 'Cookie'], 'must be another header'],
    ];
    for (const [name, input, more, said] of wrong) {
      const { code, err } = await set(name, input, ...more);
      expect([name, more, code, err]).toEqual([name, more, 1, expect.stringContaining(said)]);
      expect(err).not.toContain('canary');
    }
    expect(await list()).toEqual([]);
  });
});
