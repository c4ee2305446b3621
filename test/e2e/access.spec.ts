import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { bootApp, useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { holding } from '../harness/locks.js';
import { makeNotes, NotesModule } from './notes.module.js';

describe('Scopes, roles and the order of the checks (reference §1, §3)', () => {
  let reader: Member;
  let viewer: Member;

  const service = useService(() => bootApp({ imports: [NotesModule] }));
  beforeAll(async () => {
    await makeNotes(service.db);
    reader = await makeMember(service, { scopes: ['tasks:read'] });
    viewer = await makeMember(service, { role: 'viewer' });
  });

  it('a missing scope is 403 missing_scope and named', async () => {
    const { status, body } = await reader.client.post<ErrorBody>('/v1/notes', { text: 'a' });
    expect(status).toBe(403);
    expect(body.error).toMatchObject({ type: 'forbidden', code: 'missing_scope' });
    expect(body.error.message).toContain('tasks:write');
  });
  it('two scopes are both needed', async () => {
    const { status, body } = await reader.client.get<ErrorBody>('/v1/notes/both');
    expect(status).toBe(403);
    expect(body.error.message).toContain('files:read');
    expect((await viewer.client.get('/v1/notes/both')).status).toBe(200);
  });
  it('any scope will do where any is asked for', async () => {
    const billing = await makeMember(service, { scopes: ['billing:read'] });
    expect((await billing.client.get('/v1/notes/any')).status).toBe(200);
    expect((await billing.client.get('/v1/auth/context')).body['scopes']).toEqual(['billing:read']);
  });
  it('a viewer only reads, whatever its scopes', async () => {
    expect((await viewer.client.get('/v1/notes')).status).toBe(200);
    for (const [method, path] of [
      ['POST', '/v1/notes'],
      ['POST', '/v1/notes/upload'],
      ['DELETE', '/v1/notes/1'],
    ] as const) {
      const { status, body } = await viewer.client.request<ErrorBody>(method, path);
      expect(status).toBe(403);
      expect(body.error).toMatchObject({ type: 'forbidden', code: 'role_not_allowed' });
    }
  });
  it('the scope is looked at before the role', async () => {
    const narrow = await makeMember(service, { role: 'viewer', scopes: ['files:read'] });
    const { body } = await narrow.client.post<ErrorBody>('/v1/notes', { text: 'a' });
    expect(body.error.code).toBe('missing_scope');
  });
  it('a change of role works with the next request', async () => {
    const { client, workspace, user } = await makeMember(service, { scopes: SCOPES });
    expect((await client.post('/v1/notes', { text: 'as member' })).status).toBe(201);
    await service.db.query(`UPDATE memberships SET role = 'viewer' WHERE workspace_id = $1 AND user_id = $2`, [
      workspace.id,
      user.id,
    ]);
    expect((await client.post('/v1/notes', { text: 'as viewer' })).status).toBe(403);
  });
  it('a change of role does not wait for a write of the member that is under way', async () => {
    const { workspace, user } = await makeMember(service);
    const writing = await holding(service.db, 'SELECT hold_membership($1, $2)', [workspace.id, user.id]);
    const changed = await service.app.get(MembershipsService).add(workspace.id, user.id, 'admin');
    await writing.release();
    expect(changed).toMatchObject({ role: 'admin', previousRole: 'member' });
  });

  describe('each check comes before the next', () => {
    const broken = { raw: '{', headers: { 'Content-Type': 'text/plain', 'Idempotency-Key': 'a b' } };
    const codeOf = async (client: Client, path: string, options = broken) =>
      (await client.request<ErrorBody>('POST', path, options)).body.error.code;

    it('route, credential, scope, body, key, fields', async () => {
      const nobody = new Client(service.url);
      expect(await codeOf(nobody, '/v1/nothing')).toBe('not_found');
      expect(await codeOf(nobody, '/v1/auth/context')).toBe('method_not_allowed');
      expect(await codeOf(nobody, '/v1/notes')).toBe('missing_credential');
      expect(await codeOf(reader.client, '/v1/notes')).toBe('missing_scope');
      const { client } = await makeMember(service);
      expect(await codeOf(client, '/v1/notes')).toBe('unsupported_media_type');
      const json = { 'Content-Type': 'application/json', 'Idempotency-Key': 'a b' };
      expect(await codeOf(client, '/v1/notes', { raw: '{', headers: json })).toBe('invalid_body');
      expect(await codeOf(client, '/v1/notes', { raw: '{"no":1}', headers: json })).toBe('invalid_idempotency_key');
      const good = { ...json, 'Idempotency-Key': 'ab' };
      expect(await codeOf(client, '/v1/notes', { raw: '{"no":1}', headers: good })).toBe('unknown_field');
    });
  });
});
