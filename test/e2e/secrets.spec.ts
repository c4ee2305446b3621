import { bootApp, useService } from '../harness/app.js';
import { makeCaller } from '../harness/callers.js';
import { type Client, type ErrorBody, makeMember } from '../harness/client.js';
import { createProject } from '../harness/projects.js';
import { BINDING, createSecret, namesOf, postSecret, type SecretBody, SECRETS, VALUE } from '../harness/secrets.js';

const SANDBOX = {
  network: 'allow' as const,
  allowHosts: ['api.github.com', '*.example.com', '10.1.2.3', '192.168.1.1', 'internal.test:8443'],
  allowNetworks: ['10.0.0.0/8'],
};

describe('Secrets (reference §24)', () => {
  const service = useService(() => bootApp({ config: { sandbox: SANDBOX } }));
  const makeOwner = () => makeMember(service, { role: 'owner' });
  const refusedBy = ({ status, body }: { status: number; body: ErrorBody }) => [
    status,
    body.error.code,
    body.error.param,
  ];
  const change = <T = { secret: SecretBody }>(client: Client, { id }: { id: string }, json: object) =>
    client.patch<T>(`${SECRETS}/${id}`, json);
  const get = (client: Client, { id }: { id: string }) => client.get<{ secret: SecretBody }>(`${SECRETS}/${id}`);

  it('are created, listed, read, changed and deleted, and never shown with a value', async () => {
    const owner = await makeOwner();
    const made = await postSecret(owner.client, { description: 'Reads issues.' });
    const { secret } = made.body;
    expect(made.headers.get('location')).toBe(`${SECRETS}/${secret.id}`);
    expect(secret).toEqual({
      ...{ id: expect.any(String), name: 'TOKEN', description: 'Reads issues.', scope: 'workspace', projectId: null },
      env: 'TOKEN',
      bindings: [
        {
          ...{ host: 'api.github.com', port: 443, methods: null, paths: null },
          place: { header: 'Authorization', form: 'bearer', user: null },
        },
      ],
      ...{ version: 1, usedAt: null, createdBy: { id: owner.user.id, name: expect.any(String) } },
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
    });
    expect((await get(owner.client, secret)).body.secret).toEqual(secret);
    const other = await createSecret(owner.client, { name: 'OTHER' });
    const list = await owner.client.get<{ secrets: SecretBody[] }>(SECRETS);
    expect(list.body.secrets).toEqual([other, secret]);
    const changed = await change(owner.client, secret, { description: null, env: 'GH_TOKEN', value: 'another-value' });
    expect(changed.body.secret).toEqual({
      ...{ ...secret, description: null, env: 'GH_TOKEN', version: 2 },
      updatedAt: expect.any(String),
    });
    expect((await owner.client.delete(`${SECRETS}/${secret.id}`)).body).toEqual({ deleted: true, id: secret.id });
    expect((await get(owner.client, secret)).status).toBe(404);
  });

  it('of the workspace are seen by all members, of a project as it is, and one’s own by nobody else', async () => {
    const owner = await makeOwner();
    const { workspace } = owner;
    const [member, viewer] = [
      await makeMember(service, { workspace }),
      await makeMember(service, { workspace, role: 'viewer' }),
    ];
    const hidden = await createProject(owner, { name: 'Hidden', visibility: 'private' });
    const shown = await createProject(owner, { name: 'Shown', visibility: 'workspace' });
    await createSecret(owner.client, { name: 'OF_ALL' });
    const inHidden = await createSecret(owner.client, { name: 'IN_HIDDEN', scope: 'project', projectId: hidden.id });
    await createSecret(owner.client, { name: 'IN_SHOWN', scope: 'project', projectId: shown.id });
    const owners = await createSecret(owner.client, { name: 'OF_THE_OWNER', scope: 'user' });
    const members = await createSecret(member.client, { name: 'OF_THE_MEMBER', scope: 'user' });
    expect(await namesOf(owner.client)).toEqual(['IN_HIDDEN', 'IN_SHOWN', 'OF_ALL', 'OF_THE_OWNER']);
    expect(await namesOf(member.client)).toEqual(['IN_SHOWN', 'OF_ALL', 'OF_THE_MEMBER']);
    expect(await namesOf(viewer.client)).toEqual(['IN_SHOWN', 'OF_ALL']);
    for (const [who, secret] of [[member, inHidden], [member, owners], [owner, members]] as const) {
      expect((await get(who.client, secret)).status).toBe(404);
      expect((await change(who.client, secret, { value: 'another-value' })).status).toBe(404);
      expect((await who.client.delete(`${SECRETS}/${secret.id}`)).status).toBe(404);
    }
    expect((await get((await makeOwner()).client, owners)).status).toBe(404);
  }); // prettier-ignore

  it('are changed by owners and admins with a personal key; their own by all members but viewers', async () => {
    const owner = await makeOwner();
    const { workspace } = owner;
    const project = await createProject(owner, { name: 'P', visibility: 'workspace' });
    const inProject = { scope: 'project', projectId: project.id };
    const [one, two] = [await createSecret(owner.client), await createSecret(owner.client, inProject)];
    const admin = await makeMember(service, { workspace, role: 'admin' });
    expect((await change(admin.client, one, { description: 'By an admin.' })).status).toBe(200);
    const [member, viewer] = [
      await makeMember(service, { workspace }),
      await makeMember(service, { workspace, role: 'viewer' }),
    ];
    const robot = await makeCaller(service, workspace, { role: 'admin', kind: 'service' });
    for (const { client } of [member, viewer, robot]) {
      expect(await namesOf(client)).toEqual(['TOKEN', 'TOKEN']);
      const refused = [
        await postSecret<ErrorBody>(client, { name: 'MORE' }),
        await postSecret<ErrorBody>(client, { name: 'MORE', ...inProject }),
        await change<ErrorBody>(client, one, { value: 'another-value' }),
        await change<ErrorBody>(client, two, { bindings: [BINDING] }),
        await client.delete<ErrorBody>(`${SECRETS}/${one.id}`),
      ];
      for (const answer of refused) expect(refusedBy(answer)).toEqual([403, 'role_not_allowed', null]);
    }
    const own = await createSecret(member.client, { scope: 'user' });
    expect((await change(member.client, own, { value: 'another-value' })).body.secret.version).toBe(2);
    expect((await member.client.delete(`${SECRETS}/${own.id}`)).status).toBe(200);
    for (const { client } of [viewer, robot]) {
      expect(refusedBy(await postSecret<ErrorBody>(client, { scope: 'user' }))[0]).toBe(403);
    }
  });

  it('have a name once in their scope, and a variable', async () => {
    const owner = await makeOwner();
    const { client } = owner;
    const projects = [await createProject(owner), await createProject(owner)];
    const member = await makeMember(service, { workspace: owner.workspace });
    const scopes = [{}, ...projects.map(({ id }) => ({ scope: 'project', projectId: id })), { scope: 'user' }];
    for (const scope of scopes) {
      await createSecret(client, scope);
      expect(refusedBy(await postSecret<ErrorBody>(client, scope))).toEqual([409, 'secret_exists', null]);
      const other = await createSecret(client, { name: 'OTHER', ...scope });
      expect(refusedBy(await change<ErrorBody>(client, other, { name: 'TOKEN' }))).toEqual([409, 'secret_exists', null]);
      const same = await postSecret<ErrorBody>(client, { name: 'A', env: 'OTHER', ...scope });
      expect(same.body.error.message).toMatch(/a secret OTHER whose variable is OTHER already; give another env\.$/);
      expect(refusedBy(await change<ErrorBody>(client, other, { env: 'TOKEN' }))).toEqual([409, 'secret_exists', null]);
      expect((await change(client, other, { name: 'OTHER', env: 'OTHER' })).status).toBe(200);
      expect((await change(client, other, { name: 'RENAMED' })).body.secret).toMatchObject({ name: 'RENAMED', env: 'OTHER', version: 1 });
    }
    await createSecret(member.client, { scope: 'user' });
    const { workspace } = await makeOwner();
    await createSecret((await makeMember(service, { workspace, role: 'owner' })).client);
  }); // prettier-ignore

  it('are 200 in a workspace at most, of two at once too, and of one name one is made', async () => {
    const { client } = await makeOwner();
    for (let n = 0; n < 190; n += 19) {
      await Promise.all(Array.from({ length: 19 }, (_, i) => createSecret(client, { name: `S${n + i}` })));
    }
    const same = await Promise.all(Array.from({ length: 4 }, () => postSecret<ErrorBody>(client)));
    expect(same.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const more = await Promise.all(
      Array.from({ length: 12 }, (_, i) => postSecret<ErrorBody>(client, { name: `MORE${i}` })),
    );
    const refused = more.filter(({ status }) => status === 409);
    expect(refused.map(({ body }) => body.error.code)).toEqual(Array(3).fill('too_many_secrets'));
  });

  it('take no Idempotency-Key: the same request again finds the name taken', async () => {
    const { client } = await makeOwner();
    const headers = { 'Idempotency-Key': 'once' };
    const send = () => client.post<ErrorBody>(SECRETS, { name: 'TOKEN', value: VALUE, bindings: [BINDING] }, { headers });
    expect((await send()).status).toBe(201);
    expect(refusedBy(await send())).toEqual([409, 'secret_exists', null]);
  }); // prettier-ignore

  it('go with the membership of those whose own they are, and with their project', async () => {
    const owner = await makeOwner();
    const member = await makeMember(service, { workspace: owner.workspace });
    const project = await createProject(owner);
    await createSecret(member.client, { scope: 'user' });
    await createSecret(owner.client, { scope: 'project', projectId: project.id });
    const left = async () =>
      (await service.db.query('SELECT 1 FROM secrets WHERE workspace_id = $1', [owner.workspace.id])).length;
    expect(await left()).toBe(2);
    expect((await owner.client.delete(`/v1/members/${member.user.id}`)).status).toBe(200);
    expect(await left()).toBe(1);
    expect((await owner.client.delete(`/v1/projects/${project.id}`)).status).toBe(200);
    expect(await left()).toBe(0);
  });

  it('have a version that moves with their value and their bindings alone', async () => {
    const { client } = await makeOwner();
    const secret = await createSecret(client);
    const version = async (json: object) => (await change(client, secret, json)).body.secret.version;
    expect(await version({})).toBe(1);
    expect(await version({ description: 'x', env: 'X', name: 'Y' })).toBe(1);
    expect(await version({ value: 'another-value' })).toBe(2);
    // What was read can be sent back.
    expect(await version({ bindings: secret.bindings })).toBe(3);
    expect(await version({ value: VALUE, bindings: [BINDING] })).toBe(4);
  });

  const binding = (more: object) => ({ bindings: [{ ...BINDING, ...more }] });
  const place = (given: object) => binding({ place: given });
  it.each([
    ['a name in small letters', { name: 'token' }, 'name'],
    ['a name of 65 characters', { name: 'A'.repeat(65) }, 'name'],
    ['a value of 7 characters', { value: VALUE.slice(-7) }, 'value'],
    ['a value of 65,537 characters', { value: VALUE.padEnd(65_537, '.') }, 'value'],
    ['a value that ends in a line break', { value: `${VALUE}\n` }, 'value'],
    ['a value with a line break', { value: `${VALUE}\r\nX: 1` }, 'value'],
    ['a value with a control character', { value: `${VALUE}\u0001${VALUE}` }, 'value'],
    ['a value that no header takes', { value: `${VALUE}é` }, 'value'],
    ['a value that is none', { value: { of: VALUE } }, 'value'],
    ['a variable with a dash', { env: 'A-B' }, 'env'],
    ['PATH', { env: 'PATH' }, 'env'],
    ['a variable of the loader', { env: 'LD_PRELOAD' }, 'env'],
    ['a variable of a proxy', { env: 'https_proxy' }, 'env'],
    ['a variable of the sandbox', { env: 'NODE_EXTRA_CA_CERTS' }, 'env'],
    ['a name that is a variable of the sandbox', { name: 'PATH' }, 'env'],
    ['an unknown scope', { scope: 'all' }, 'scope'],
    ['a project without its scope', { projectId: 'x' }, 'projectId'],
    ['a scope without its project', { scope: 'project' }, 'projectId'],
    ['no bindings', { bindings: [] }, 'bindings'],
    ['17 bindings', { bindings: Array(17).fill(BINDING) }, 'bindings'],
    ['a binding that is none', { bindings: ['api.github.com'] }, 'bindings[0]'],
    ['a host in capitals', binding({ host: 'API.github.com' }), 'bindings[0].host'],
    ['a host with a port', binding({ host: 'internal.test:8443' }), 'bindings[0].host'],
    ['a host written as an address of the web', binding({ host: 'https://api.github.com' }), 'bindings[0].host'],
    ['a host with a dot behind it', binding({ host: 'api.github.com.' }), 'bindings[0].host'],
    ['a star before one label', binding({ host: '*.com' }), 'bindings[0].host'],
    ['a star before an address', binding({ host: '*.10.1.2.3' }), 'bindings[0].host'],
    ['a star in the middle', binding({ host: 'a.*.example.com' }), 'bindings[0].host'],
    ['an address that is not public', binding({ host: '192.168.1.1' }), 'bindings[0].host'],
    ['another spelling of an address', binding({ host: '0x0a.1.2.3' }), 'bindings[0].host'],
    ['a port beyond the last', binding({ port: 65_536 }), 'bindings[0].port'],
    ['a method that opens a tunnel', binding({ methods: ['CONNECT'] }), 'bindings[0].methods'],
    ['a path without a slash before it', binding({ paths: ['repos'] }), 'bindings[0].paths'],
    ['a path that goes up', binding({ paths: ['/a/../b'] }), 'bindings[0].paths'],
    ['a path with a query', binding({ paths: ['/a?b'] }), 'bindings[0].paths'],
    ['17 paths', binding({ paths: Array.from({ length: 17 }, (_, n) => `/${n}`) }), 'bindings[0].paths'],
    ['a path of 201 characters', binding({ paths: ['/'.padEnd(201, 'a')] }), 'bindings[0].paths'],
    ['no place', binding({ place: undefined }), 'bindings[0].place'],
    ['two places', place({ header: 'X-Key', query: 'key' }), 'bindings[0].place'],
    ['a place that is none', place({}), 'bindings[0].place'],
    ['a header that hosts write to their logs', place({ header: 'User-Agent' }), 'bindings[0].place.header'],
    ['a header of proxies', place({ header: 'X-Forwarded-For' }), 'bindings[0].place.header'],
    ['a header that frames the request', place({ header: 'transfer-encoding' }), 'bindings[0].place.header'],
    ['a header with a space', place({ header: 'X Key' }), 'bindings[0].place.header'],
    ['a form that is none', place({ header: 'X-Key', form: 'digest' }), 'bindings[0].place.form'],
    ['a user without Basic', place({ header: 'Authorization', user: 'me' }), 'bindings[0].place.user'],
    ['a user with a colon', place({ header: 'Authorization', form: 'basic', user: 'a:b' }), 'bindings[0].place.user'],
    ['a form of a query', place({ query: 'key', form: 'raw' }), 'bindings[0].place.form'],
    ['a parameter with a space', place({ query: 'a key' }), 'bindings[0].place.query'],
  ])('%s is refused, and the value is not in the answer', async (_what, more, param) => {
    const { client } = await makeOwner();
    const answer = await postSecret<ErrorBody>(client, more);
    expect(refusedBy(answer)).toEqual([400, 'invalid_field', param]);
    expect(answer.text).not.toMatch(/canary|e-4711/);
    const { scope, projectId, ...changes } = more as Record<string, unknown>;
    if (scope !== undefined || projectId !== undefined || param === 'env') return;
    const secret = await createSecret(client);
    expect(refusedBy(await change<ErrorBody>(client, secret, changes))).toEqual([400, 'invalid_field', param]);
  });

  it.each([
    [{ colour: 'red' }, 'colour'],
    [binding({ colour: 'red' }), 'bindings[0].colour'],
    [binding({ hasOwnProperty: 1 }), 'bindings[0].hasOwnProperty'],
    [place({ header: 'X-Key', colour: 'red' }), 'bindings[0].place.colour'],
    [place({ header: 'X-Key', valueOf: 1 }), 'bindings[0].place.valueOf'],
  ])('with a field that is not known, %j, are refused', async (more, param) => {
    const { client } = await makeOwner();
    expect(refusedBy(await postSecret<ErrorBody>(client, more))).toEqual([400, 'unknown_field', param]);
  });

  it.each([
    ['api.github.com', undefined],
    ['api.github.com', 80],
    ['a.example.com', undefined],
    ['*.example.com', undefined],
    ['*.a.example.com', undefined],
    ['10.1.2.3', undefined],
    ['internal.test', 8443],
  ])('may be bound to the host %s, port %s, that the operator allows', async (host, port) => {
    const { client } = await makeOwner();
    const { bindings } = await createSecret(client, binding({ host, port }));
    expect(bindings).toMatchObject([{ host, port: port ?? 443 }]);
  });

  it.each([
    ['github.com', undefined],
    ['*.github.com', undefined],
    ['example.com', undefined],
    ['badexample.com', undefined],
    ['api.github.com', 8443],
    ['internal.test', undefined],
    ['10.1.2.4', undefined],
  ])('are not bound to the host %s, port %s, that the operator does not allow', async (host, port) => {
    const { client } = await makeOwner();
    const more = { bindings: [BINDING, { ...BINDING, host, port }] };
    expect(refusedBy(await postSecret<ErrorBody>(client, more))).toEqual([400, 'host_not_allowed', 'bindings[1].host']);
  });

  it('are bound to hosts of secretHosts alone, where the operator has them', async () => {
    const sandbox = { ...SANDBOX, secretHosts: ['*.example.com'] };
    const narrow = await bootApp({ config: { sandbox } });
    try {
      const { client } = await makeMember(narrow, { role: 'owner' });
      expect(refusedBy(await postSecret<ErrorBody>(client))[1]).toBe('host_not_allowed');
      await createSecret(client, binding({ host: 'a.example.com' }));
    } finally {
      await narrow.close();
    }
  });
});
