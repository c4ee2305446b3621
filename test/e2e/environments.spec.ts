import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { bootApp, useService } from '../harness/app.js';
import { makeCaller } from '../harness/callers.js';
import { type Client, type ErrorBody, makeMember } from '../harness/client.js';
import {
  changeEnvironment,
  createEnvironment,
  type EnvironmentBody,
  ENVIRONMENTS,
  postEnvironment,
} from '../harness/environments.js';

const SANDBOX = {
  network: 'allow' as const,
  allowHosts: ['registry.npmjs.org', '*.example.com', '10.1.2.3', 'internal.test:8443', '[fd00::1]'],
  allowNetworks: ['10.0.0.0/8'],
  memoryBytes: 1024 ** 3,
  diskBytes: 1024 ** 3,
  wallClockSeconds: 300,
};

const NOTHING = {
  ...{ repository: null, setup: [], variables: {}, allowHosts: [], secrets: [], tools: {} },
  resources: { memoryBytes: null, diskBytes: null, wallClockSeconds: null },
  ...{ refresh: 'never', onFailure: 'fail', checks: null, maxRepairs: null, mcpServers: null },
};
const WHOLE = {
  repository: { url: 'https://github.com/acme/api', ref: 'main' },
  setup: ['npm ci', 'npm run build'],
  variables: { NODE_ENV: 'test', valueOf: 'a name like any other' },
  allowHosts: ['registry.npmjs.org', '*.a.example.com', 'internal.test:8443', '[fd00::1]:443'],
  secrets: ['NPM_TOKEN', 'NOT_THERE'],
  tools: {},
  resources: { memoryBytes: 512 * 1024 ** 2, diskBytes: null, wallClockSeconds: 300 },
  refresh: { onLockfile: ['package-lock.json', 'packages/**/package-lock.json'] },
  onFailure: 'lastGood',
  checks: [
    { name: 'test', command: 'npm test', timeoutSeconds: 60, required: true, protect: ['test/**'], network: false },
  ],
  maxRepairs: 1,
  mcpServers: [],
};

describe('Environments (reference §25)', () => {
  const service = useService(() => bootApp({ config: { sandbox: SANDBOX } }));
  const makeOwner = () => makeMember(service, { role: 'owner' });
  const refusedBy = ({ status, body }: { status: number; body: ErrorBody }) => [
    status,
    body.error.code,
    body.error.param,
  ];
  const change = <T = { environment: EnvironmentBody }>(client: Client, slug: string, json: object) =>
    client.patch<T>(`${ENVIRONMENTS}/${slug}`, json);
  const get = (client: Client, slug: string) => client.get<{ environment: EnvironmentBody }>(`${ENVIRONMENTS}/${slug}`);
  interface VersionBody {
    version: number;
    setup: string[];
    createdBy: { id: string };
  }
  const versionsOf = async (client: Client, slug = 'node', query = '') =>
    (
      await client.get<{ versions: VersionBody[]; nextCursor: string | null }>(
        `${ENVIRONMENTS}/${slug}/versions${query}`,
      )
    ).body;

  it('are created, listed, read, changed and deleted', async () => {
    const owner = await makeOwner();
    const made = await postEnvironment(owner.client, { ...WHOLE, name: ' Node of the API ' });
    const { environment } = made.body;
    expect(made.headers.get('location')).toBe(`${ENVIRONMENTS}/node`);
    const about = { createdBy: { id: owner.user.id, name: expect.any(String) }, createdAt: expect.any(String), updatedAt: expect.any(String) }; // prettier-ignore
    expect(environment).toEqual({ id: expect.any(String), slug: 'node', name: 'Node of the API', version: 1, ...WHOLE, ...about }); // prettier-ignore
    expect((await get(owner.client, 'node')).body.environment).toEqual(environment);
    const bare = await createEnvironment(owner.client, { slug: 'bare' });
    expect(bare).toEqual({ id: expect.any(String), slug: 'bare', name: 'bare', version: 1, ...NOTHING, ...about });
    const list = await owner.client.get<{ environments: EnvironmentBody[] }>(ENVIRONMENTS);
    expect(list.body.environments).toEqual([bare, environment]);
    const changed = await changeEnvironment(owner.client, 'node', { setup: ['npm ci'], repository: null, refresh: 'daily' }); // prettier-ignore
    expect(changed).toEqual({ ...environment, version: 2, setup: ['npm ci'], repository: null, refresh: 'daily', updatedAt: expect.any(String) }); // prettier-ignore
    expect((await owner.client.delete(`${ENVIRONMENTS}/node`)).body).toEqual({ deleted: true, id: environment.id });
    expect((await get(owner.client, 'node')).status).toBe(404);
    expect((await owner.client.delete(`${ENVIRONMENTS}/node`)).status).toBe(404);
  });

  it('get a version with each change of what they describe; old ones are kept and readable', async () => {
    const { client, user } = await makeOwner();
    await createEnvironment(client, { setup: ['one'] });
    const version = async (json: object) => (await changeEnvironment(client, 'node', json)).version;
    expect(await version({ setup: ['two'] })).toBe(2);
    expect(await version({})).toBe(2);
    expect(await version({ name: 'Called otherwise' })).toBe(2);
    expect(await version({ setup: ['two'], refresh: 'never' })).toBe(2);
    expect(await version({ variables: { A: '1', B: '2' } })).toBe(3);
    expect(await version({ variables: { B: '2', A: '1' } })).toBe(3);
    // What was read can be sent back.
    const { environment } = (await get(client, 'node')).body;
    const { slug: _s, id: _i, version: _v, createdBy: _by, createdAt: _c, updatedAt: _u, ...sent } = environment;
    expect(await version(sent)).toBe(3);
    const all = await versionsOf(client);
    expect(all.versions.map((one) => [one.version, one.setup])).toEqual([[3, ['two']], [2, ['two']], [1, ['one']]]); // prettier-ignore
    const first = await client.get<{ version: VersionBody }>(`${ENVIRONMENTS}/node/versions/1`);
    expect(first.body.version).toEqual(all.versions[2]);
    expect(first.body.version.createdBy.id).toBe(user.id);
    for (const none of ['4', '0', '01', 'x', '99999999999']) {
      expect((await client.get(`${ENVIRONMENTS}/node/versions/${none}`)).status).toBe(404);
    }
    const page = await versionsOf(client, 'node', '?limit=2');
    expect(page.versions.map((one) => one.version)).toEqual([3, 2]);
    const rest = await versionsOf(client, 'node', `?limit=2&cursor=${page.nextCursor ?? ''}`);
    expect([rest.versions.map((one) => one.version), rest.nextCursor]).toEqual([[1], null]);
  });

  it('changed twenty times at once have all versions', async () => {
    const { client } = await makeOwner();
    await createEnvironment(client);
    const setups = Array.from({ length: 20 }, (_, n) => `${n}`);
    const all = await Promise.all(setups.map((setup) => changeEnvironment(client, 'node', { setup: [setup] })));
    const versions = all.map(({ version }) => version).sort((one, other) => one - other);
    expect(versions).toEqual(setups.map((_, n) => n + 2));
    expect((await versionsOf(client)).versions).toHaveLength(21);
  });

  it('changed and deleted at once are deleted', async () => {
    const { client } = await makeOwner();
    await createEnvironment(client);
    const setups = Array.from({ length: 20 }, (_, n) => change(client, 'node', { setup: [`${n}`] }));
    const { status } = await client.delete(`${ENVIRONMENTS}/node`);
    expect([status, (await get(client, 'node')).status]).toEqual([200, 404]);
    // Before it, or not there any more.
    for (const one of await Promise.all(setups)) expect([200, 404]).toContain(one.status);
  });

  it('are read by all members, and changed by owners and admins with a personal key alone', async () => {
    const owner = await makeOwner();
    const { workspace } = owner;
    await createEnvironment(owner.client);
    const admin = await makeMember(service, { workspace, role: 'admin' });
    expect((await change(admin.client, 'node', { setup: ['true'] })).status).toBe(200);
    await createEnvironment(admin.client, { slug: 'of-an-admin' });
    const members = [
      await makeMember(service, { workspace }),
      await makeMember(service, { workspace, role: 'viewer' }),
    ];
    const robot = await makeCaller(service, workspace, { role: 'admin', kind: 'service' });
    for (const { client } of [...members, robot]) {
      expect((await get(client, 'node')).status).toBe(200);
      expect((await versionsOf(client)).versions).toHaveLength(2);
      const refused = [
        await postEnvironment<ErrorBody>(client, { slug: 'more' }),
        await change<ErrorBody>(client, 'node', { name: 'x' }),
        await client.delete<ErrorBody>(`${ENVIRONMENTS}/node`),
      ];
      expect(refused.map(refusedBy)).toEqual(Array(3).fill([403, 'role_not_allowed', null]));
    }
    expect((await get(owner.client, 'node')).body.environment).toMatchObject({ name: 'node', version: 2 });
  });

  it('of one workspace are not there for another', async () => {
    const [mine, theirs] = [await makeOwner(), await makeOwner()];
    await createEnvironment(theirs.client);
    const paths = ['', '/versions', '/versions/1', '/builds'].map((rest) => `${ENVIRONMENTS}/node${rest}`);
    for (const path of paths) expect((await mine.client.get(path)).status).toBe(404);
    expect((await change(mine.client, 'node', { name: 'x' })).status).toBe(404);
    expect((await mine.client.delete(`${ENVIRONMENTS}/node`)).status).toBe(404);
    // The slug is taken in its workspace alone.
    await createEnvironment(mine.client);
  });

  it('have a slug that is taken once, also when two ask at once; at most 50 are in a workspace', async () => {
    const { client, workspace, user } = await makeOwner();
    const twice = await Promise.all([postEnvironment<ErrorBody>(client), postEnvironment<ErrorBody>(client)]);
    expect(twice.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(refusedBy(twice.find(({ status }) => status === 409) ?? twice[0])).toEqual([409, 'environment_exists', null]); // prettier-ignore
    await service.db.query(
      `INSERT INTO environments (id, workspace_id, slug, name, created_by)
       SELECT gen_random_uuid(), $1, 'e' || n, 'E', $2 FROM generate_series(1, 48) n`,
      [workspace.id, user.id],
    );
    const last = await Promise.all([1, 2, 3].map((n) => postEnvironment<ErrorBody>(client, { slug: `last-${n}` })));
    expect(last.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(last.filter(({ status }) => status === 409).map(({ body }) => body.error.code)).toEqual(Array(2).fill('too_many_environments')); // prettier-ignore
  });

  it('take an Idempotency-Key', async () => {
    const { client } = await makeOwner();
    const headers = { 'Idempotency-Key': randomUUID() };
    const send = () => client.post(ENVIRONMENTS, { slug: 'node' }, { headers });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
  });

  it('have builds, newest first, with the last of what their commands wrote', async () => {
    const { client, workspace } = await makeOwner();
    const { id } = await createEnvironment(client);
    const builds = (query = '') =>
      client.get<{ builds: { id: string; state: string; log: string }[]; nextCursor: string | null }>(`${ENVIRONMENTS}/node/builds${query}`); // prettier-ignore
    expect((await builds()).body).toEqual({ builds: [], nextCursor: null });
    const add = async (state: string, more: { log?: string; error?: string; key?: string } = {}) => {
      const build = uuidv7();
      await service.db.query(
        `INSERT INTO environment_builds (id, workspace_id, environment_id, version, key, driver, state, log, error, files, bytes, finished_at)
         VALUES ($1, $2, $3, 1, $4, 'bubblewrap', $5, $6, $7, 20000, 9000000000, CASE WHEN $5 <> 'building' THEN now() END)`,
        [build, workspace.id, id, more.key ?? '', state, more.log ?? '', more.error ?? null],
      );
      return build;
    };
    const failed = await add('failed', { log: 'npm error code E404', error: 'npm ci ended with 1.' });
    const building = await add('building', { key: '2026-11-29' });
    const { body } = await builds();
    expect(body.builds.map((one) => one.id)).toEqual([building, failed]);
    expect(body.builds[1]).toEqual({
      ...{
        id: failed,
        version: 1,
        key: '',
        driver: 'bubblewrap',
        state: 'failed',
        files: 20_000,
        bytes: 9_000_000_000,
      },
      ...{ log: 'npm error code E404', error: 'npm ci ended with 1.' },
      ...{ createdAt: expect.any(String), finishedAt: expect.any(String) },
    });
    expect(body.builds[0]).toMatchObject({ state: 'building', finishedAt: null, key: '2026-11-29' });
    const page = await builds('?limit=1');
    expect((await builds(`?limit=1&cursor=${page.body.nextCursor ?? ''}`)).body.builds[0]?.id).toBe(failed);
    await client.delete(`${ENVIRONMENTS}/node`);
    expect(await service.db.query('SELECT 1 FROM environment_builds WHERE environment_id = $1', [id])).toEqual([]);
  });

  it('stay when who made them leaves', async () => {
    const owner = await makeOwner();
    const admin = await makeMember(service, { workspace: owner.workspace, role: 'admin' });
    await createEnvironment(admin.client);
    expect((await owner.client.delete(`/v1/members/${admin.user.id}`)).status).toBe(200);
    expect((await get(owner.client, 'node')).body.environment.createdBy.id).toBe(admin.user.id);
  });

  it('are in the audit log, a change with the names of its fields and never what was in them', async () => {
    const { client, workspace } = await makeOwner();
    await createEnvironment(client);
    await changeEnvironment(client, 'node', { setup: ['echo canary'], variables: { A: 'canary' } });
    await client.delete(`${ENVIRONMENTS}/node`);
    const rows = await service.db.query(
      `SELECT action, target_type AS type, target_id AS target, fields FROM audit_log
       WHERE workspace_id = $1 AND action LIKE 'environment.%' ORDER BY id`,
      [workspace.id],
    );
    const about = { type: 'environment', target: 'node' };
    expect(rows).toEqual([
      { action: 'environment.create', ...about, fields: null },
      { action: 'environment.update', ...about, fields: ['setup', 'variables'] },
      { action: 'environment.delete', ...about, fields: null },
    ]);
  });
});
