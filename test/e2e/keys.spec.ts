import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { ServiceAccountsService } from '../../src/access/workspaces/service-accounts.service.js';
import { KeysService } from '../../src/access/auth/keys.service.js';
import { SCOPES, type Scope } from '../../src/platform/http/endpoint.js';
import { bootApp, useService } from '../harness/app.js';
import { type Answer, type Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { ROOMY } from '../harness/limits.js';
import { until } from '../harness/until.js';

interface Key {
  id: string;
  name: string;
  prefix: string;
  scopes: Scope[];
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  current: boolean;
}
type Made = { key: Key; secret: string } & ErrorBody;

const READ = ['tasks:read'];

describe('Keys over the API (reference §3)', () => {
  const service = useService(() => bootApp({ config: ROOMY }));
  const person = (options: Parameters<typeof makeMember>[1] = {}) => makeMember(service, options);

  const post = (client: Client, body: object) => client.post<Made>('/v1/keys', body);
  const make = async (client: Client, body: object = {}) => {
    const { status, body: made } = await post(client, { name: 'K', scopes: READ, ...body });
    expect([status, made]).toEqual([201, expect.objectContaining({ key: expect.anything() as unknown })]);
    return { ...made, client: client.as(made.secret) };
  };
  const rotate = (client: Client, id: string, body: object = {}) => client.post<Made>(`/v1/keys/${id}/rotate`, body);
  const remove = (client: Client, id: string) => client.request<ErrorBody>('DELETE', `/v1/keys/${id}`);
  const list = async (client: Client) => (await client.get<{ keys: Key[] }>('/v1/keys')).body.keys;
  const works = async (client: Client) => (await client.get('/v1/auth/context')).status;
  const refused = ({ status, body: { error } }: Answer<ErrorBody>) => [status, error.code, error.param];
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

  it('POST makes a key of the caller, whose secret is in that answer alone', async () => {
    const member = await person();
    const answer = await post(member.client, { name: ' build ', scopes: ['tasks:read', 'files:read'] });
    expect(answer.status).toBe(201);
    const { key, secret } = answer.body;
    expect(answer.headers.get('location')).toBe(`/v1/keys/${key.id}`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(secret).toMatch(/^mw_pk_[0-9A-Za-z]{49}$/);
    expect(key).toEqual({
      id: expect.any(String) as string,
      name: 'build',
      prefix: secret.slice(0, 12),
      scopes: ['tasks:read', 'files:read'],
      createdAt: expect.any(String) as string,
      expiresAt: null,
      lastUsedAt: null,
      current: false,
    });
    const { body } = await member.client.as(secret).get('/v1/auth/context');
    expect(body).toMatchObject({ user: { id: member.user.id }, workspace: { id: member.workspace.id }, scopes: key.scopes });
    expect(JSON.stringify(await list(member.client))).not.toContain(secret.slice(12));
  }); // prettier-ignore

  it('GET lists the own keys of this workspace, newest first, and says which one asks', async () => {
    const member = await person();
    const colleague = await person({ workspace: member.workspace, role: 'owner' });
    const elsewhere = await person();
    await service.app.get(MembershipsService).add(elsewhere.workspace.id, member.user.id, 'owner');
    const about = { workspaceId: elsewhere.workspace.id, userId: member.user.id, name: 'there', scopes: SCOPES };
    await service.app.get(KeysService, { strict: false }).create({ ...about, lifetimeSeconds: null });
    const { key, client } = await make(member.client, { name: 'second' });
    expect((await list(member.client)).map(({ name, current }) => [name, current])).toEqual([
      ['second', false],
      ['test', true],
    ]);
    expect((await list(client)).map(({ current }) => current)).toEqual([true, false]);
    expect((await list(colleague.client)).map(({ id }) => id)).not.toContain(key.id);
    expect((await remove(colleague.client, key.id)).status).toBe(404);
    expect((await rotate(colleague.client, key.id)).status).toBe(404);
    expect(await works(client)).toBe(200);
  });

  it('the last use is shown, and keys that have ended are not', async () => {
    const member = await person();
    const { key } = await make(member.client);
    await service.db.query('UPDATE api_keys SET last_used_at = now() WHERE id = $1', [key.id]);
    const shown = async () => (await list(member.client)).find(({ id }) => id === key.id);
    expect((await shown())?.lastUsedAt).toMatch(/Z$/);
    await service.db.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [key.id]);
    expect(await shown()).toBeUndefined();
    expect((await rotate(member.client, key.id)).status).toBe(404);
  });

  it('a scope that the calling key lacks is 403 missing_scope, and one that does not exist 400', async () => {
    const { client } = await person({ scopes: ['tasks:read', 'files:read'] });
    const wider = await post(client, { name: 'K', scopes: ['files:read', 'tasks:write'] });
    expect(refused(wider)).toEqual([403, 'missing_scope', null]);
    expect(wider.body.error.message).toContain('tasks:write');
    const unknown = await post(client, { name: 'K', scopes: ['files:read', 'mills:grind'] });
    expect(refused(unknown)).toEqual([400, 'invalid_field', 'scopes[1]']);
    expect(await list(client)).toHaveLength(1);
  });

  it.each([
    ['scopes', { scopes: [] }],
    ['scopes', { scopes: 'tasks:read' }],
    ['scopes', { scopes: ['tasks:read', 'tasks:read'] }],
    ['scopes', { scopes: [1] }],
    ['scopes', { scopes: Array.from({ length: 101 }, () => 'tasks:read') }],
    ['name', { name: ' ' }],
    ['name', { name: 'two\nlines' }],
    ['name', { name: undefined }],
    ['expiresAt', { expiresAt: 'tomorrow' }],
    ['expiresAt', { expiresAt: '2099-02-30T00:00:00Z' }],
    ['expiresAt', { expiresAt: 4_000_000_000 }],
    ['expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
  ])('POST with a wrong %s is 400 invalid_field (%#)', async (param, change) => {
    const { client } = await person();
    expect(refused(await post(client, { name: 'K', scopes: READ, ...change }))).toEqual([400, 'invalid_field', param]);
    expect(await list(client)).toHaveLength(1);
  });

  it('a key ends not after the calling key, and with it when nothing is said', async () => {
    const { client, key } = await person({ lifetimeSeconds: 3600 });
    const own = (await list(client)).find(({ id }) => id === key.id)?.expiresAt ?? '';
    expect((await make(client)).key.expiresAt).toBe(own);
    expect((await make(client, { expiresAt: own })).key.expiresAt).toBe(own);
    const sooner = inSeconds(60);
    expect((await make(client, { expiresAt: sooner })).key.expiresAt).toBe(sooner);
    for (const expiresAt of [null, inSeconds(4000), new Date(Date.parse(own) + 1).toISOString()]) {
      const later = await post(client, { name: 'K', scopes: READ, expiresAt });
      expect(refused(later)).toEqual([400, 'invalid_field', 'expiresAt']);
    }
    const endless = await person();
    expect((await make(endless.client, { expiresAt: inSeconds(60) })).key.expiresAt).not.toBeNull();
    expect((await make(endless.client, { expiresAt: null })).key.expiresAt).toBeNull();
  });

  it('DELETE ends a key with the next request; again it is 404', async () => {
    const { client } = await person();
    const made = await make(client);
    expect((await remove(client, made.key.id.toUpperCase())).body).toEqual({ deleted: true, id: made.key.id });
    expect(await works(made.client)).toBe(401);
    expect((await remove(client, made.key.id)).status).toBe(404);
  });

  it('DELETE takes the calling key too', async () => {
    const { client } = await person();
    const made = await make(client);
    expect((await remove(made.client, made.key.id)).status).toBe(200);
    expect(await works(made.client)).toBe(401);
    expect(await works(client)).toBe(200);
  });

  it('a rotated key keeps name, scopes and end; without an overlap the old one ends at once', async () => {
    const { client } = await person();
    const old = await make(client, { name: 'build', expiresAt: inSeconds(3600) });
    const answer = await rotate(client, old.key.id);
    expect(answer.status).toBe(201);
    const { key, secret } = answer.body;
    expect(answer.headers.get('location')).toBe(`/v1/keys/${key.id}`);
    const { name, scopes, expiresAt } = old.key;
    expect(key).toMatchObject({ name, scopes, expiresAt, lastUsedAt: null, current: false });
    expect(key.id).not.toBe(old.key.id);
    expect(await works(old.client)).toBe(401);
    expect(await works(client.as(secret))).toBe(200);
    expect((await rotate(client, old.key.id)).status).toBe(404);
    const itself = await rotate(client.as(secret), key.id);
    expect([itself.status, await works(client.as(secret))]).toEqual([201, 401]);
    expect(await works(client.as(itself.body.secret))).toBe(200);
  });

  it('with an overlap the old one works until its end, by the clock of the database, and then no more', async () => {
    const { client } = await person();
    const old = await make(client);
    const { body } = await rotate(client, old.key.id, { overlapSeconds: 3600 });
    expect(body.key.expiresAt).toBeNull();
    const ends = (await list(client)).find(({ id }) => id === old.key.id)?.expiresAt ?? '';
    expect(Math.abs(Date.parse(ends) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect([await works(old.client), await works(client.as(body.secret))]).toEqual([200, 200]);
    await service.db.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [old.key.id]);
    expect([await works(old.client), await works(client.as(body.secret))]).toEqual([401, 200]);
    const brief = await make(client);
    await rotate(client, brief.key.id, { overlapSeconds: 1 });
    await until('the overlap to end', async () => (await works(brief.client)) === 401);
  });

  it('an overlap lets a key live no longer than it would have, and gives it no hold of the new one', async () => {
    const { client } = await person();
    const expiresAt = inSeconds(60);
    const old = await make(client, { expiresAt });
    await rotate(client, old.key.id, { overlapSeconds: 3600 });
    expect((await list(client)).find(({ id }) => id === old.key.id)?.expiresAt).toBe(expiresAt);
    const lasting = await make(client);
    const { body } = await rotate(client, lasting.key.id, { overlapSeconds: 3600 });
    expect(refused(await remove(lasting.client, body.key.id))).toEqual([403, 'missing_scope', null]);
  });

  it.each([-1, 604_801, 1.5, '60', null])('overlapSeconds %j is 400 invalid_field', async (overlapSeconds) => {
    const { client, key } = await person();
    expect(refused(await rotate(client, key.id, { overlapSeconds }))).toEqual([400, 'invalid_field', 'overlapSeconds']);
    expect(await works(client)).toBe(200);
  });

  it('a key with more scopes, or a later end, than the calling one is 403 missing_scope, and stays', async () => {
    const { client, key } = await person();
    const narrow = await make(client, { scopes: ['tasks:read', 'files:read'] });
    const brief = await make(client, { scopes: SCOPES, expiresAt: inSeconds(60) });
    const within = await make(client, { scopes: ['files:read'], expiresAt: inSeconds(30) });
    for (const caller of [narrow, brief]) {
      expect(refused(await remove(caller.client, key.id))).toEqual([403, 'missing_scope', null]);
      expect(refused(await rotate(caller.client, key.id))).toEqual([403, 'missing_scope', null]);
    }
    expect(await works(client)).toBe(200);
    expect((await rotate(brief.client, within.key.id)).status).toBe(201);
    const other = await make(client, { scopes: ['files:read'] });
    expect((await remove(narrow.client, other.key.id)).status).toBe(200);
  });

  it.each(['owner', 'admin', 'member', 'viewer'] as const)('a person who is %s keeps own keys', async (role) => {
    const { client } = await person({ role });
    const made = await make(client);
    expect(await list(made.client)).toHaveLength(2);
    const { status, body } = await rotate(client, made.key.id);
    expect([status, (await remove(client, body.key.id)).status]).toEqual([201, 200]);
  });

  it('a key without any scope of the routes lists and deletes itself', async () => {
    const { client, key } = await person({ scopes: [] });
    expect(await list(client)).toHaveLength(1);
    expect((await remove(client, key.id)).status).toBe(200);
  });

  it('sixty at once make exactly as many as there may be: 50 live keys, the others are 409 too_many_keys', async () => {
    const { client, key } = await person();
    const answers = await Promise.all(Array.from({ length: 60 }, () => post(client, { name: 'K', scopes: READ })));
    const codes = answers.map(({ status, body }) => (status === 201 ? '' : `${status} ${body.error.code}`)).sort();
    expect(codes).toEqual([...Array<string>(49).fill(''), ...Array<string>(11).fill('409 too_many_keys')]);
    expect(await list(client)).toHaveLength(50);
    const [last] = (await list(client)).filter(({ id }) => id !== key.id);
    expect(refused(await rotate(client, key.id, { overlapSeconds: 60 }))).toEqual([409, 'too_many_keys', null]);
    expect((await rotate(client, last?.id ?? '')).status).toBe(201);
    const [some] = (await list(client)).filter(({ id }) => id !== key.id);
    await remove(client, some?.id ?? '');
    expect((await rotate(client, key.id, { overlapSeconds: 60 })).status).toBe(201);
  });

  it('of two rotations at once one is done, and the other finds no key', async () => {
    for (const overlap of [0, 60]) {
      const { client } = await person();
      const { key } = await make(client);
      const answers = await Promise.all([1, 2].map(() => rotate(client, key.id, { overlapSeconds: overlap })));
      // With an overlap both keys work, so the second rotation is one of a key that still lives.
      expect(answers.map(({ status }) => status).sort()).toEqual(overlap === 0 ? [201, 404] : [201, 201]);
      expect(await list(client)).toHaveLength(overlap === 0 ? 2 : 4);
    }
  });

  it('a deletion and a rotation at once leave no key that neither answer names', async () => {
    for (let round = 0; round < 10; round++) {
      const { client, key: own } = await person();
      const { key } = await make(client);
      const [gone, rotated] = await Promise.all([remove(client, key.id), rotate(client, key.id)]);
      expect([[200, 404], [404, 201]]).toContainEqual([gone.status, rotated.status]); // prettier-ignore
      const left = (await list(client)).map(({ id }) => id);
      expect(left.sort()).toEqual([own.id, ...(rotated.status === 201 ? [rotated.body.key.id] : [])].sort());
    }
  });

  it.each(['its deletion over the API', 'the revocation by the operator', 'the removal of the member'])(
    'a key makes none after %s, not even by a request that was on its way',
    async (how) => {
      const member = await person();
      const second = await make(member.client, { scopes: SCOPES });
      const end = () =>
        how.startsWith('its') ? remove(second.client, second.key.id)
        : how.includes('operator') ? service.app.get(KeysService, { strict: false }).revoke(second.key.id)
        : service.app.get(MembershipsService).remove(member.workspace.id, member.user.id); // prettier-ignore
      const posts = Array.from({ length: 20 }, () => post(second.client, { name: 'K', scopes: READ }));
      await end();
      const rows = await liveKeys(member);
      const statuses = (await Promise.all(posts)).map(({ status }) => status);
      expect(statuses.every((status) => status === 201 || status === 401)).toBe(true);
      expect(await liveKeys(member)).toBe(rows);
      expect(await works(second.client)).toBe(401);
    },
  ); // prettier-ignore

  it('an Idempotency-Key is ignored: each request makes a key, and no answer is stored', async () => {
    const { client } = await person();
    const headers = { 'Idempotency-Key': 'once' };
    const body = { name: 'K', scopes: READ };
    const answers = [await client.post<Made>('/v1/keys', body, { headers }), await client.post<Made>('/v1/keys', body, { headers })]; // prettier-ignore
    expect(new Set(answers.map(({ body: { secret } }) => secret)).size).toBe(2);
    expect(answers.map(({ headers: given }) => given.has('idempotent-replayed'))).toEqual([false, false]);
  });

  it('no table holds a secret', async () => {
    const { client } = await person();
    const { secret, key } = await make(client);
    const rotated = await rotate(client, key.id);
    const tables = await service.db.query<{ name: string }>(
      `SELECT format('%I', table_name) AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
    );
    expect(tables.length).toBeGreaterThan(10);
    for (const one of [secret, rotated.body.secret].map((text) => text.slice(12))) {
      for (const { name } of tables) {
        const found = await service.db.query(`SELECT 1 FROM ${name} AS t WHERE strpos(t::text, $1) > 0`, [one]);
        expect([name, found.length]).toEqual([name, 0]);
      }
    }
  });

  it('GET /v1/members names the people and service accounts of the workspace, to every credential', async () => {
    const owner = await person({ role: 'owner', scopes: [] });
    const viewer = await person({ workspace: owner.workspace, role: 'viewer' });
    const workspaceId = owner.workspace.id;
    const robot = await service.app
      .get(ServiceAccountsService)
      .create({ workspaceId, name: 'Robot', role: 'member' });
    const about = { workspaceId, userId: robot.id, service: true, name: 'ci', lifetimeSeconds: null };
    const { secret } = await service.app.get(KeysService, { strict: false }).create({ ...about, scopes: ['files:read'] });
    const [first, ...others] = await Promise.all(
      [owner.client, viewer.client, owner.client.as(secret)].map((client) => client.get('/v1/members')),
    );
    const name = expect.any(String) as string;
    expect(first?.body).toEqual({
      members: [
        { id: owner.user.id, name, role: 'owner', kind: 'person' },
        { id: viewer.user.id, name, role: 'viewer', kind: 'person' },
        { id: robot.id, name: 'Robot', role: 'member', kind: 'service' },
      ],
    });
    for (const other of others) expect(other.body).toEqual(first?.body);
    expect(first?.text).not.toContain('@');
    await service.app.get(MembershipsService).remove(workspaceId, viewer.user.id);
    await service.app.get(ServiceAccountsService).delete(workspaceId, 'Robot');
    const { body } = await owner.client.get<{ members: { id: string }[] }>('/v1/members');
    expect(body.members.map(({ id }) => id)).toEqual([owner.user.id]);
  }); // prettier-ignore

  async function liveKeys({ user }: Member): Promise<number> {
    const [row] = await service.db.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM api_keys WHERE user_id = $1 AND revoked_at IS NULL',
      [user.id],
    );
    return row?.n ?? 0;
  }
});
