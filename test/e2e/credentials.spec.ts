import { bootApp, type TestApp } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';

describe('Credentials (reference §3)', () => {
  let service: TestApp;
  let member: Member;
  let anonymous: Client;

  beforeAll(async () => {
    service = await bootApp();
    member = await makeMember(service);
    anonymous = new Client(service.url);
  });
  afterAll(() => service.close());

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
      user: { id: member.user.id, name: expect.any(String), email: member.user.email },
      workspace: {
        id: member.workspace.id,
        name: expect.any(String),
        slug: member.workspace.slug,
        role: 'member',
      },
      scopes: expect.arrayContaining(['tasks:read', 'tasks:write']),
      credentialType: 'personal_api_key',
      credential: {
        id: member.key.id,
        name: 'test',
        prefix: member.key.prefix,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        expiresAt: null,
      },
    });
    expect(member.key.secret.startsWith(member.key.prefix)).toBe(true);
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
  });
});
