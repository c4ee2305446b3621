import { useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { acts } from '../harness/audit.js';
import { works } from '../harness/keys.js';
import { add, change, join as joins, listMembers, type Made, makeOwner, refused, remove } from '../harness/members.js';

describe('Members over the API (reference §3)', () => {
  const service = useService();
  const owner = () => makeOwner(service);
  const join = (of: Member, role: Parameters<typeof joins>[2]) => joins(service, of, role);
  const roleOf = async ({ client }: Member, { user }: Member) =>
    (await listMembers(client)).find(({ id }) => id === user.id)?.role;
  const newAddress = () => `${crypto.randomUUID()}@acme.example`;

  describe('POST /v1/members', () => {
    it('adds a person, whose account is made when there is none', async () => {
      const ann = await owner();
      const email = newAddress();
      const { status, headers, body } = await add(ann.client, {
        email: ` ${email} `,
        name: 'Bo Miller',
        role: 'admin',
      });
      expect(status).toBe(201);
      expect(body.member).toEqual({
        id: expect.any(String) as string,
        name: 'Bo Miller',
        role: 'admin',
        kind: 'person',
        email,
        access: 'none',
        origin: 'added',
        provider: null,
        createdAt: expect.stringMatching(/Z$/) as string,
      });
      expect(headers.get('location')).toBe(`/v1/members/${body.member.id}`);
      expect(await listMembers(ann.client)).toContainEqual(body.member);
      const nameless = newAddress();
      const second = await add(ann.client, { email: nameless, role: 'viewer' });
      expect(second.body.member.name).toBe(nameless.split('@')[0]);
    });

    it('a known account joins under its own name, whatever the capitals of its address', async () => {
      const ann = await owner();
      const elsewhere = await makeMember(service);
      const { body } = await add(ann.client, { email: elsewhere.user.email.toUpperCase(), name: 'X', role: 'member' });
      expect(body.member).toMatchObject({ id: elsewhere.user.id, email: elsewhere.user.email });
      expect(body.member.name).not.toBe('X');
      expect(await works(elsewhere.client)).toBe(200);
    });

    it('a member already is 409 member_exists and keeps its role, the caller itself too', async () => {
      const ann = await owner();
      const bo = await join(ann, 'member');
      for (const { user } of [bo, ann]) {
        const again = await add(ann.client, { email: user.email, role: 'viewer' });
        expect(refused(again)).toEqual([409, 'member_exists', 'email']);
      }
      expect([await roleOf(ann, bo), await roleOf(ann, ann)]).toEqual(['member', 'owner']);
    });

    it('an Idempotency-Key adds once', async () => {
      const ann = await owner();
      const body = { email: newAddress(), role: 'member' };
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      const [first, second] = [
        await ann.client.post<Made>('/v1/members', body, { headers }),
        await ann.client.post<Made>('/v1/members', body, { headers }),
      ];
      expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
      expect(second.body.member.id).toBe(first.body.member.id);
    });

    it('of two who add the same address at once one adds it, and one account is made', async () => {
      const ann = await owner();
      const bo = await join(ann, 'admin');
      const email = newAddress();
      const answers = await Promise.all([ann, bo].map(({ client }) => add(client, { email, role: 'member' })));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
      expect(await service.db.query('SELECT 1 FROM users WHERE email = $1', [email])).toHaveLength(1);
    });

    it.each([
      ['email', { email: 'ann' }],
      ['email', { email: 'a b@acme.example' }],
      ['email', { email: 'a@b@acme.example' }],
      ['email', { email: `${'a'.repeat(320)}@acme.example` }],
      ['email', { email: 'a\u202e@acme.example' }],
      ['email', { email: 1 }],
      ['email', { email: undefined }],
      ['name', { name: ' ' }],
      ['name', { name: null }],
      ['role', { role: 'boss' }],
      ['role', { role: undefined }],
    ])('a wrong %s is 400, and no account is made (%#)', async (param, wrong) => {
      const ann = await owner();
      const count = async () => (await service.db.query('SELECT 1 FROM users')).length;
      const before = await count();
      expect(refused(await add(ann.client, { email: newAddress(), role: 'member', ...wrong }))).toEqual([
        400,
        'invalid_field',
        param,
      ]);
      expect(await count()).toBe(before);
    });
  });

  describe('PATCH /v1/members/{id}', () => {
    it('changes a role with the next request', async () => {
      const ann = await owner();
      const bo = await join(ann, 'member');
      const { status, body } = await change(ann.client, bo, 'viewer');
      expect([status, body.member.role]).toEqual([200, 'viewer']);
      expect((await bo.client.post('/v1/tasks', { content: 'x' })).status).toBe(403);
      expect((await change(ann.client, bo, 'viewer')).status).toBe(200);
    });

    it('the last owner stays one, also when it lowers itself, and a service account does not count', async () => {
      const ann = await owner();
      await ann.client.post('/v1/service-accounts', { name: 'Robot', role: 'owner' });
      expect(refused(await change(ann.client, ann, 'admin'))).toEqual([409, 'last_owner', null]);
      const bo = await join(ann, 'owner');
      expect((await change(ann.client, ann, 'admin')).status).toBe(200);
      expect(refused(await change(bo.client, bo, 'member'))).toEqual([409, 'last_owner', null]);
    });

    it('of two owners who lower each other at once one stays', async () => {
      for (let round = 0; round < 5; round += 1) {
        const ann = await owner();
        const bo = await join(ann, 'owner');
        const answers = await Promise.all([change(ann.client, bo, 'member'), change(bo.client, ann, 'member')]);
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
        const owners = (await listMembers(ann.client)).filter(({ role }) => role === 'owner');
        expect(owners).toHaveLength(1);
      }
    });
  });

  it('an admin neither makes, changes nor removes owners; it does so with all others', async () => {
    const ann = await owner();
    const [admin, second, bo] = [await join(ann, 'admin'), await join(ann, 'owner'), await join(ann, 'member')];
    const { client } = admin;
    for (const answer of [
      await add(client, { email: newAddress(), role: 'owner' }),
      await change(client, bo, 'owner'),
      await change(client, admin, 'owner'),
      await change(client, second, 'member'),
      await remove(client, second),
    ]) {
      expect(refused(answer)).toEqual([403, 'role_not_allowed', null]);
      expect(answer.body.error.message).toContain('Only an owner');
    }
    expect(await roleOf(ann, second)).toBe('owner');
    expect((await change(client, bo, 'admin')).status).toBe(200);
    expect((await remove(client, bo)).status).toBe(200);
    expect((await change(client, admin, 'member')).status).toBe(200);
    expect((await remove(client, ann)).status).toBe(403);
  });

  it('addresses are shown to the personal keys of owners and admins alone', async () => {
    const ann = await owner();
    const { body } = await ann.client.post<{ serviceAccount: { id: string } }>('/v1/service-accounts', {
      name: 'Robot',
      role: 'admin',
    });
    const made = await ann.client.post<{ secret: string }>(`/v1/service-accounts/${body.serviceAccount.id}/keys`, {
      name: 'k',
      scopes: ['tasks:read'],
    });
    for (const [client, seen] of [
      [ann.client, true],
      [(await join(ann, 'admin')).client, true],
      [(await join(ann, 'member')).client, false],
      [(await join(ann, 'viewer')).client, false],
      [ann.client.as(made.body.secret), false],
    ] as const) {
      const answer = await client.get('/v1/members');
      expect([answer.status, answer.text.includes(ann.user.email), answer.text.includes('@')]).toEqual([
        200,
        seen,
        seen,
      ]);
    }
  });

  it('each change has its row in the audit log, with whom it concerned', async () => {
    const ann = await owner();
    const { body } = await add(ann.client, { email: newAddress(), role: 'member' });
    const { id } = body.member;
    await ann.client.patch(`/v1/members/${id}`, { role: 'viewer' });
    await ann.client.delete(`/v1/members/${id}`);
    expect(await acts(service, ann)).toEqual(
      ['member.add', 'member.change', 'member.remove'].map((action) => ({
        action,
        type: 'member',
        id,
        outcome: 'done',
      })),
    );
    const made = `SELECT action FROM audit_log WHERE target_id = $1 AND workspace_id <> $2`;
    expect(await service.db.query(made, [id, ann.workspace.id])).toEqual([{ action: 'user.create' }]);
  });
});
