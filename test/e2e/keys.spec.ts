import { KeysService } from '../../src/access/auth/keys.service.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { useService } from '../harness/app.js';
import { type Answer, type ErrorBody, makeMember } from '../harness/client.js';
import { listKeys, makeKey, postKey, READER, removeKey, rotateKey, works } from '../harness/keys.js';
import { until } from '../harness/until.js';

describe('Keys over the API (reference §3)', () => {
  const service = useService();
  const person = (options: Parameters<typeof makeMember>[1] = {}) => makeMember(service, options);
  const refused = ({ status, body: { error } }: Answer<ErrorBody>) => [status, error.code, error.param];
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

  it('POST makes a key of the caller, whose secret is in that answer alone', async () => {
    const member = await person();
    const answer = await postKey(member.client, { name: ' build ', scopes: ['tasks:read', 'files:read'] });
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
    expect(JSON.stringify(await listKeys(member.client))).not.toContain(secret.slice(12));
  }); // prettier-ignore

  it('GET lists the own keys of this workspace, newest first, and says which one asks', async () => {
    const member = await person();
    const colleague = await person({ workspace: member.workspace, role: 'owner' });
    const elsewhere = await person();
    await service.app.get(MembershipsService).add(elsewhere.workspace.id, member.user.id, 'owner');
    const about = { workspaceId: elsewhere.workspace.id, userId: member.user.id, name: 'there', scopes: SCOPES };
    await service.app.get(KeysService, { strict: false }).create({ ...about, lifetimeSeconds: null });
    const { key, client } = await makeKey(member.client, { name: 'second' });
    expect((await listKeys(member.client)).map(({ name, current }) => [name, current])).toEqual([
      ['second', false],
      ['test', true],
    ]);
    expect((await listKeys(client)).map(({ current }) => current)).toEqual([true, false]);
    expect((await listKeys(colleague.client)).map(({ id }) => id)).not.toContain(key.id);
    expect((await removeKey(colleague.client, key.id)).status).toBe(404);
    expect((await rotateKey(colleague.client, key.id)).status).toBe(404);
    expect(await works(client)).toBe(200);
  });

  it('the last use is shown, and keys that have ended are not', async () => {
    const member = await person();
    const { key } = await makeKey(member.client);
    await service.db.query('UPDATE api_keys SET last_used_at = now() WHERE id = $1', [key.id]);
    const shown = async () => (await listKeys(member.client)).find(({ id }) => id === key.id);
    expect((await shown())?.lastUsedAt).toMatch(/Z$/);
    await service.db.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [key.id]);
    expect(await shown()).toBeUndefined();
    expect((await rotateKey(member.client, key.id)).status).toBe(404);
  });

  it('a scope that the calling key lacks is 403 missing_scope, and one that does not exist 400', async () => {
    const { client } = await person({ scopes: ['tasks:read', 'files:read'] });
    const wider = await postKey(client, { name: 'K', scopes: ['files:read', 'tasks:write'] });
    expect(refused(wider)).toEqual([403, 'missing_scope', null]);
    expect(wider.body.error.message).toContain('tasks:write');
    const unknown = await postKey(client, { name: 'K', scopes: ['files:read', 'mills:grind'] });
    expect(refused(unknown)).toEqual([400, 'invalid_field', 'scopes[1]']);
    expect(await listKeys(client)).toHaveLength(1);
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
    expect(refused(await postKey(client, { ...READER, ...change }))).toEqual([400, 'invalid_field', param]);
    expect(await listKeys(client)).toHaveLength(1);
  });

  it('a key ends not after the calling key, and with it when nothing is said', async () => {
    const { client, key } = await person({ lifetimeSeconds: 3600 });
    const own = (await listKeys(client)).find(({ id }) => id === key.id)?.expiresAt ?? '';
    expect((await makeKey(client)).key.expiresAt).toBe(own);
    expect((await makeKey(client, { expiresAt: own })).key.expiresAt).toBe(own);
    const sooner = inSeconds(60);
    expect((await makeKey(client, { expiresAt: sooner })).key.expiresAt).toBe(sooner);
    for (const expiresAt of [null, inSeconds(4000), new Date(Date.parse(own) + 1).toISOString()]) {
      const later = await postKey(client, { ...READER, expiresAt });
      expect(refused(later)).toEqual([400, 'invalid_field', 'expiresAt']);
    }
    const endless = await person();
    expect((await makeKey(endless.client, { expiresAt: inSeconds(60) })).key.expiresAt).not.toBeNull();
    expect((await makeKey(endless.client, { expiresAt: null })).key.expiresAt).toBeNull();
  });

  it('DELETE ends a key with the next request; again it is 404', async () => {
    const { client } = await person();
    const made = await makeKey(client);
    expect((await removeKey(client, made.key.id.toUpperCase())).body).toEqual({ deleted: true, id: made.key.id });
    expect(await works(made.client)).toBe(401);
    expect((await removeKey(client, made.key.id)).status).toBe(404);
  });

  it('DELETE takes the calling key too', async () => {
    const { client } = await person();
    const made = await makeKey(client);
    expect((await removeKey(made.client, made.key.id)).status).toBe(200);
    expect(await works(made.client)).toBe(401);
    expect(await works(client)).toBe(200);
  });

  it('a rotated key keeps name, scopes and end; without an overlap the old one ends at once', async () => {
    const { client } = await person();
    const old = await makeKey(client, { name: 'build', expiresAt: inSeconds(3600) });
    const answer = await rotateKey(client, old.key.id);
    expect(answer.status).toBe(201);
    const { key, secret } = answer.body;
    expect(answer.headers.get('location')).toBe(`/v1/keys/${key.id}`);
    const { name, scopes, expiresAt } = old.key;
    expect(key).toMatchObject({ name, scopes, expiresAt, lastUsedAt: null, current: false });
    expect(key.id).not.toBe(old.key.id);
    expect(await works(old.client)).toBe(401);
    expect(await works(client.as(secret))).toBe(200);
    expect((await rotateKey(client, old.key.id)).status).toBe(404);
    const itself = await rotateKey(client.as(secret), key.id);
    expect([itself.status, await works(client.as(secret))]).toEqual([201, 401]);
    expect(await works(client.as(itself.body.secret))).toBe(200);
  });

  it('with an overlap the old one works until its end, by the clock of the database, and then no more', async () => {
    const { client } = await person();
    const old = await makeKey(client);
    const { body } = await rotateKey(client, old.key.id, { overlapSeconds: 3600 });
    expect(body.key.expiresAt).toBeNull();
    const ends = (await listKeys(client)).find(({ id }) => id === old.key.id)?.expiresAt ?? '';
    expect(Math.abs(Date.parse(ends) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect([await works(old.client), await works(client.as(body.secret))]).toEqual([200, 200]);
    await service.db.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [old.key.id]);
    expect([await works(old.client), await works(client.as(body.secret))]).toEqual([401, 200]);
    const brief = await makeKey(client);
    await rotateKey(client, brief.key.id, { overlapSeconds: 1 });
    await until('the overlap to end', async () => (await works(brief.client)) === 401);
  });

  it('an overlap lets a key live no longer than it would have, and gives it no hold of the new one', async () => {
    const { client } = await person();
    const expiresAt = inSeconds(60);
    const old = await makeKey(client, { expiresAt });
    await rotateKey(client, old.key.id, { overlapSeconds: 3600 });
    expect((await listKeys(client)).find(({ id }) => id === old.key.id)?.expiresAt).toBe(expiresAt);
    const lasting = await makeKey(client);
    const { body } = await rotateKey(client, lasting.key.id, { overlapSeconds: 3600 });
    expect(refused(await removeKey(lasting.client, body.key.id))).toEqual([403, 'missing_scope', null]);
  });

  it.each([-1, 604_801, 1.5, '60', null])('overlapSeconds %j is 400 invalid_field', async (overlapSeconds) => {
    const { client, key } = await person();
    expect(refused(await rotateKey(client, key.id, { overlapSeconds }))).toEqual([
      400,
      'invalid_field',
      'overlapSeconds',
    ]);
    expect(await works(client)).toBe(200);
  });

  it('a key with more scopes, or a later end, than the calling one is 403 missing_scope, and stays', async () => {
    const { client, key } = await person();
    const narrow = await makeKey(client, { scopes: ['tasks:read', 'files:read'] });
    const brief = await makeKey(client, { scopes: SCOPES, expiresAt: inSeconds(60) });
    const within = await makeKey(client, { scopes: ['files:read'], expiresAt: inSeconds(30) });
    for (const caller of [narrow, brief]) {
      expect(refused(await removeKey(caller.client, key.id))).toEqual([403, 'missing_scope', null]);
      expect(refused(await rotateKey(caller.client, key.id))).toEqual([403, 'missing_scope', null]);
    }
    expect(await works(client)).toBe(200);
    expect((await rotateKey(brief.client, within.key.id)).status).toBe(201);
    const other = await makeKey(client, { scopes: ['files:read'] });
    expect((await removeKey(narrow.client, other.key.id)).status).toBe(200);
  });

  it.each(['owner', 'admin', 'member', 'viewer'] as const)('a person who is %s keeps own keys', async (role) => {
    const { client } = await person({ role });
    const made = await makeKey(client);
    expect(await listKeys(made.client)).toHaveLength(2);
    const { status, body } = await rotateKey(client, made.key.id);
    expect([status, (await removeKey(client, body.key.id)).status]).toEqual([201, 200]);
  });

  it('a key without any scope of the routes lists and deletes itself', async () => {
    const { client, key } = await person({ scopes: [] });
    expect(await listKeys(client)).toHaveLength(1);
    expect((await removeKey(client, key.id)).status).toBe(200);
  });

  it('an Idempotency-Key is ignored: each request makes a key, and no answer is stored', async () => {
    const { client } = await person();
    const headers = { 'Idempotency-Key': 'once' };
    const send = () => client.post<{ secret: string }>('/v1/keys', READER, { headers });
    const answers = [await send(), await send()];
    expect(new Set(answers.map(({ body: { secret } }) => secret)).size).toBe(2);
    expect(answers.map(({ headers: given }) => given.has('idempotent-replayed'))).toEqual([false, false]);
  });

  it('no table holds a secret', async () => {
    const { client } = await person();
    const { secret, key } = await makeKey(client);
    const rotated = await rotateKey(client, key.id);
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
});
