// A company's directory keeps the members of a workspace: groups, token, what it is told (reference §31, RFC 7643, RFC 7644).
import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { Operator } from '../harness/operator.js';
import { bootWithRules, Company, Directory, GROUP, PATCH, USER } from '../harness/scim.js';

describe('A directory (reference §31)', () => {
  const service = useService(bootWithRules);
  let acme: Company;
  let owner: Member;
  let directory: Directory;
  beforeAll(async () => {
    acme = await Company.make(service, 'acme');
    ({ owner, directory } = acme);
  });
  const members = () => acme.members();
  const address = (domain?: string) => Company.address(domain);

  describe('and its groups', () => {
    it('which rules name give roles, at each change', async () => {
      const email = address();
      const id = await directory.add(email);
      const admins = await directory.group('Admins', id);
      expect((await members())[email]).toBe('admin');
      expect((await directory.send('GET', `Users/${id}`)).body.groups).toEqual([{ value: admins, display: 'Admins' }]);
      await directory.patch(`Groups/${admins}`, { op: 'remove', path: `members[value eq "${id}"]` });
      expect((await members())[email]).toBe('member');
      const guests = await directory.group('Guests');
      await directory.patch(`Groups/${guests}`, { op: 'Add', path: 'members', value: [{ value: id }] });
      expect((await members())[email]).toBe('viewer');
      await directory.patch(`Groups/${guests}`, { op: 'Remove', path: 'members', value: [{ value: id }] });
      expect((await members())[email]).toBe('member');
      // A group that has none.
      expect(
        (await directory.patch(`Groups/${guests}`, { op: 'Remove', path: 'members', value: [{ value: id }] })).status,
      ).toBe(200);
      await directory.patch(`Groups/${guests}`, {
        op: 'replace',
        path: 'members',
        value: [{ value: id, display: 'x' }],
      });
      await directory.patch(`Groups/${guests}`, {
        op: 'replace',
        value: { id: guests, displayName: 'Nobody in particular' },
      });
      expect((await members())[email]).toBe('member');
      expect((await directory.send('DELETE', `Groups/${admins}`)).status).toBe(204);
      expect((await directory.send('GET', `Groups/${admins}`)).status).toBe(404);
    });

    it('and the domain of an address give the role of the first rule that matches', async () => {
      const email = address('partner.example');
      await directory.add(email);
      expect((await members())[email]).toBe('viewer');
    });

    it('never make an owner, and change nothing that an owner has made', async () => {
      const kept = await makeMember(service, { workspace: owner.workspace, role: 'member' });
      const id = await directory.add(kept.user.email);
      const group = await directory.group('Guests', id);
      expect((await members())[kept.user.email]).toBe('member');
      await directory.send('DELETE', `Groups/${group}`);
    });

    it('are found by name, without their members where nobody asks for these, and changed whole all the same', async () => {
      const [one, two] = [await directory.add(address()), await directory.add(address())];
      const id = await directory.group('Engineers', one);
      const filter = encodeURIComponent('displayName eq "engineers"');
      const { body } = await directory.send('GET', `Groups?excludedAttributes=members&filter=${filter}`);
      expect(body).toMatchObject({ totalResults: 1, Resources: [{ id, displayName: 'Engineers' }] });
      expect(body.Resources[0]).not.toHaveProperty('members');
      const add = { schemas: [PATCH], Operations: [{ op: 'Add', path: 'members', value: [{ value: two }] }] };
      await directory.send('PATCH', `Groups/${id}?excludedAttributes=members`, add);
      const { body: whole } = await directory.send('GET', `Groups/${id}`);
      expect(whole.members.map(({ value }) => value).sort()).toEqual([one, two].sort());
      const taken = await directory.send('POST', 'Groups', { schemas: [GROUP], displayName: 'ENGINEERS' });
      expect(taken).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
      const wrong = await directory.patch(`Groups/${id}`, { op: 'add', path: 'members', value: [{ value: 'nobody' }] });
      expect(wrong).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    });
  });

  describe('and its token', () => {
    it('is made, shown and ended by the operator, and kept by nobody', async () => {
      const operator = new Operator(service);
      type Made = { token: { id: string; prefix: string }; secret: string };
      const { token, secret } = await operator.json<Made>('scim-token', 'create', '--workspace', 'acme');
      expect(secret).toMatch(/^mw_scim_[0-9A-Za-z]{49}$/);
      expect(secret.startsWith(token.prefix)).toBe(true);
      const listed = await operator.run('scim-token', 'list', '--workspace', 'acme');
      expect(listed).toContain(token.id);
      expect(listed).not.toContain(secret);
      expect((await new Directory(service, secret).send('GET', 'Users')).status).toBe(200);
      await operator.run('scim-token', 'delete', token.id);
      const ended = await new Directory(service, secret).send('GET', 'Users');
      expect(ended).toMatchObject({ status: 401, body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'] } });
      expect(ended.headers.get('www-authenticate')).toBe('Bearer');
    });

    it('is no key, and a key is no token', async () => {
      expect((await new Directory(service, owner.key.secret).send('GET', 'Users')).status).toBe(401);
      const answer = await fetch(`${service.url}/v1/auth/context`, {
        headers: { authorization: `Bearer ${directory.token}` },
      });
      expect(answer.status).toBe(401);
      expect((await fetch(`${service.url}/scim/v2/Users`)).status).toBe(401);
    });

    it('takes from the bucket of writes', async () => {
      const { headers } = await directory.send('GET', 'Users?count=1');
      expect(headers.get('x-ratelimit-policy')).toBe('resource_write');
    });
  });

  it('is told what the service can do, and 404, 400 and 415 of the rest', async () => {
    const { body: config } = await directory.send('GET', 'ServiceProviderConfig');
    expect(config).toMatchObject({
      patch: { supported: true },
      bulk: { supported: false },
      filter: { supported: true, maxResults: 200 },
    });
    expect((await directory.send('GET', 'ResourceTypes')).body.Resources.map(({ name }) => name)).toEqual([
      'User',
      'Group',
    ]);
    expect((await directory.send('GET', `Schemas/${USER}`)).body).toMatchObject({ id: USER });
    expect((await directory.send('GET', 'Schemas')).body.totalResults).toBeGreaterThan(2);
    expect((await directory.send('GET', 'Bulk')).status).toBe(404);
    expect((await directory.send('POST', 'Users', '{', 'application/json')).status).toBe(400);
    expect((await directory.send('POST', 'Users', '{}', 'text/plain')).status).toBe(415);
    expect((await directory.send('GET', 'Users/nothing')).status).toBe(404);
  });

  it('stands in the audit log, by its token', async () => {
    const email = address();
    const id = await directory.add(email);
    const rows = await service.db.query<{ action: string; actor: string | null; key: string | null }>(
      `SELECT action, actor_id AS actor, key_id AS key FROM audit_log WHERE workspace_id = $1 AND target_id = $2`,
      [owner.workspace.id, id],
    );
    expect(rows).toEqual([{ action: 'scim-user.create', actor: null, key: expect.any(String) as string }]);
  });
});
