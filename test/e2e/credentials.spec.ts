import { SCOPES } from '../../src/platform/http/endpoint.js';
import { newKey } from '../../src/access/auth/api-key.js';
import { KeysService } from '../../src/access/auth/keys.service.js';
import { Database } from '../../src/platform/database/database.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { jest } from '@jest/globals';
import { bootApp, useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { rawRequest } from '../harness/raw.js';

describe('Credentials (reference §3)', () => {
  let member: Member;
  let anonymous: Client;

  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
    anonymous = new Client(service.url);
  });

  const refused = async (headers: Record<string, string>, path = '/v1/auth/context') => {
    const answer = await anonymous.get<ErrorBody>(path, { headers });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.body.error.type).toBe('unauthorized');
    return answer.body.error.code;
  };

  it('GET /v1/auth/context says who asks, in which workspace, with what', async () => {
    const { status, body } = await member.client.get('/v1/auth/context');
    expect(status).toBe(200);
    expect(body).toEqual({
      user: { id: member.user.id, name: expect.any(String) as string, email: member.user.email },
      workspace: {
        id: member.workspace.id,
        name: expect.any(String) as string,
        slug: member.workspace.slug,
        role: 'member',
      },
      scopes: [...SCOPES],
      credentialType: 'personal_api_key',
      credential: {
        id: member.key.id,
        name: 'test',
        prefix: member.key.prefix,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        expiresAt: null,
      },
    });
    expect(member.key.secret.startsWith(member.key.prefix)).toBe(true);
  });
  it('there are ten scopes, and a key has those that were chosen when it was made', async () => {
    const all = ['projects', 'tasks', 'files'].flatMap((name) => [`${name}:read`, `${name}:write`]);
    all.push('billing:read', 'integrations:read', 'automations:read', 'automations:write');
    const scopesOf = async ({ client }: Member) =>
      (await client.get<{ scopes: string[] }>('/v1/auth/context')).body.scopes;
    expect(await scopesOf(member)).toEqual(all);
    expect(await scopesOf(await makeMember(service, { scopes: ['files:read', 'tasks:read'] }))).toEqual(
      expect.arrayContaining(['files:read', 'tasks:read']),
    );
    for (const scope of SCOPES) {
      expect(await scopesOf(await makeMember(service, { scopes: [scope] }))).toEqual([scope]);
    }
  });
  it('the scheme is not case-sensitive', async () => {
    const { status } = await anonymous.get('/v1/auth/context', {
      headers: { Authorization: `bEARER ${member.key.secret}` },
    });
    expect(status).toBe(200);
  });
  it('no credential is 401 missing_credential', async () => {
    expect(await refused({})).toBe('missing_credential');
  });
  it('any number of spaces stands before the key (RFC 9110 §11.4)', async () => {
    for (const header of [`Bearer  ${member.key.secret}`, `bearer    ${member.key.secret}  `]) {
      const answer = await rawRequest(service.url, ['GET /v1/auth/context HTTP/1.1', `Authorization: ${header}`]);
      expect([header.length, answer.status]).toEqual([header.length, 200]);
    }
  });

  it.each(['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer ', 'Bearer a b', 'bearer', 'a', 'Bearer\ta', 'mw_pk_x'])(
    'the header %j is 401, never 400',
    async (value) => {
      expect(await refused({ Authorization: value })).toBe('invalid_credential');
    },
  );
  it('a key in the query is not looked at', async () => {
    expect(await refused({}, `/v1/auth/context?access_token=${member.key.secret}`)).toBe('missing_credential');
  });
  it('a key in the body is not looked at', async () => {
    const raw = `access_token=${member.key.secret}`;
    const answer = await anonymous.request<ErrorBody>('POST', '/v1/auth/context', {
      raw,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(answer.status).toBe(405);
    for (const [type, body] of [
      ['application/x-www-form-urlencoded', raw],
      ['application/json', JSON.stringify({ content: 'x', access_token: member.key.secret })],
    ] as const) {
      const headers = { 'Content-Type': type, 'Idempotency-Key': crypto.randomUUID() };
      const posted = await anonymous.request<ErrorBody>('POST', '/v1/tasks', { raw: body, headers });
      expect([posted.status, posted.body.error.code]).toEqual([401, 'missing_credential']);
    }
  });
  it('two Authorization headers are 401', async () => {
    const header = `Authorization: Bearer ${member.key.secret}`;
    const answer = await rawRequest(service.url, ['GET /v1/auth/context HTTP/1.1', header, header]);
    expect(answer.status).toBe(401);
    expect(answer.body).toContain('invalid_credential');
  });
  it('a mistyped key is refused without a look at the database', async () => {
    const { read: auth } = service.app.get(Database);
    const look = jest.spyOn(auth, 'run');
    const { secret } = member.key;
    const last = secret.endsWith('0') ? '1' : '0';
    expect(await refused({ Authorization: `Bearer ${secret.slice(0, -1)}${last}` })).toBe('invalid_credential');
    expect(look).not.toHaveBeenCalled();
    await member.client.get('/v1/auth/context');
    expect(look).toHaveBeenCalledTimes(1);
    look.mockRestore();
  });
  it('an unknown key is 401', async () => {
    expect(await refused({ Authorization: `Bearer ${newKey()}` })).toBe('invalid_credential');
  });
  it('a revoked key ends with the next request', async () => {
    const { client, key } = await makeMember(service);
    expect((await client.get('/v1/auth/context')).status).toBe(200);
    await service.app.get(KeysService, { strict: false }).revoke(key.id);
    expect(await refused({ Authorization: `Bearer ${key.secret}` })).toBe('invalid_credential');
  });
  it('an expired key is 401 expired_credential, by the clock of the database', async () => {
    const { client, key } = await makeMember(service, { lifetimeSeconds: 3600 });
    const { body } = await client.get<{ credential: { expiresAt: string } }>('/v1/auth/context');
    expect(Date.parse(body.credential.expiresAt)).toBeGreaterThan(Date.now() + 3_500_000);
    await service.db.query('UPDATE api_keys SET expires_at = now() WHERE id = $1', [key.id]);
    expect(await refused({ Authorization: `Bearer ${key.secret}` })).toBe('expired_credential');
  });
  it('a removed member has no key any more, and adding it again revives none', async () => {
    const { workspace, user, key } = await makeMember(service);
    const members = service.app.get(MembershipsService);
    await members.remove(workspace.id, user.id);
    expect(await refused({ Authorization: `Bearer ${key.secret}` })).toBe('invalid_credential');
    await members.add(workspace.id, user.id, 'owner');
    expect(await refused({ Authorization: `Bearer ${key.secret}` })).toBe('invalid_credential');
  });
  it('what takes part in a removal is done in its transaction, and afterwards only when it was committed', async () => {
    const { workspace, user } = await makeMember(service);
    const members = service.app.get(MembershipsService);
    const after = jest.fn();
    const seen: unknown[] = [];
    members.onRemoved(async (tx, ...who) => {
      seen.push(who, await tx.manager.query('SELECT 1 FROM memberships WHERE user_id = $1', [user.id]));
      tx.afterCommit(after);
    });
    await members.remove(workspace.id, user.id);
    expect(seen).toEqual([[workspace.id, user.id, null], []]);
    expect(after).toHaveBeenCalledTimes(1);
    await expect(members.remove(workspace.id, user.id)).rejects.toThrow('There is no such member');
    expect(after).toHaveBeenCalledTimes(1);
    const [leaver, heir] = [await makeMember(service, { workspace }), await makeMember(service, { workspace })];
    await members.remove(workspace.id, leaver.user.id, heir.user.id);
    expect(seen.at(-2)).toEqual([workspace.id, leaver.user.id, heir.user.id]);
  });
  it('the database holds neither key nor anything that reveals it', async () => {
    const rows = await service.db.query<{ row: string }>('SELECT to_jsonb(k)::text AS row FROM api_keys k');
    const { secret, prefix } = member.key;
    expect(rows.some(({ row }) => row.includes(prefix))).toBe(true);
    expect(rows.every(({ row }) => !row.includes(secret.slice(prefix.length)))).toBe(true);
  });
  it('two services in one process know only their own callers', async () => {
    const other = await bootApp();
    try {
      const stranger = await makeMember(other);
      expect((await stranger.client.get('/v1/auth/context')).status).toBe(200);
      expect((await member.client.get('/v1/auth/context')).status).toBe(200);
      expect(await refused({ Authorization: `Bearer ${stranger.key.secret}` })).toBe('invalid_credential');
    } finally {
      await other.close();
    }
    expect((await member.client.get('/v1/auth/context')).status).toBe(200);
  });
});
