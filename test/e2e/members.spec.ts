import { useService } from '../harness/app.js';
import { type Answer, type Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { createAutomation } from '../harness/automation-requests.js';
import { acts } from '../harness/audit.js';
import { createProject, type ProjectBody } from '../harness/projects.js';
import { createTask, readTask } from '../harness/tasks.js';
import { works } from '../harness/keys.js';
import { automationOn, connect } from '../harness/hooks.js';
import { holding, untilWaiting } from '../harness/locks.js';

interface MemberBody {
  id: string;
  name: string;
  role: string;
  kind: string;
  email: string | null;
  createdAt: string;
}
type Made = { member: MemberBody } & ErrorBody;

describe('Members over the API (reference §3)', () => {
  const service = useService();
  const owner = () => makeMember(service, { role: 'owner' });
  const join = ({ workspace }: Member, role: 'owner' | 'admin' | 'member' | 'viewer') =>
    makeMember(service, { workspace, role });
  const refused = ({ status, body: { error } }: Answer<ErrorBody>) => [status, error.code, error.param];
  const add = (client: Client, body: object) => client.post<Made>('/v1/members', body);
  const change = (client: Client, { user }: Member, role: string) =>
    client.patch<Made>(`/v1/members/${user.id}`, { role });
  const remove = (client: Client, { user }: Member, query = '') =>
    client.delete<ErrorBody>(`/v1/members/${user.id}${query}`);
  const list = async (client: Client) => (await client.get<{ members: MemberBody[] }>('/v1/members')).body.members;
  const roleOf = async ({ client }: Member, { user }: Member) =>
    (await list(client)).find(({ id }) => id === user.id)?.role;
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
        createdAt: expect.stringMatching(/Z$/) as string,
      });
      expect(headers.get('location')).toBe(`/v1/members/${body.member.id}`);
      expect(await list(ann.client)).toContainEqual(body.member);
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
        const owners = (await list(ann.client)).filter(({ role }) => role === 'owner');
        expect(owners).toHaveLength(1);
      }
    });
  });

  describe('DELETE /v1/members/{id}', () => {
    it('ends the keys for good, cancels tasks and pauses automations; things stay', async () => {
      const ann = await owner();
      const bo = await join(ann, 'member');
      const task = await createTask(bo.client, { content: 'x' });
      const automation = await createAutomation(bo);
      const project = await createProject(bo);
      expect((await remove(ann.client, bo)).body).toEqual({ deleted: true, id: bo.user.id });
      expect(await works(bo.client)).toBe(401);
      expect(await readTask(ann.client, task.id)).toMatchObject({
        status: 'cancelled',
        statusReason: { code: 'owner_removed' },
      });
      const { body } = await ann.client.get(`/v1/automations/${automation.id}`);
      expect(body).toMatchObject({ automation: { status: 'paused', pausedReason: { code: 'owner_removed' } } });
      expect((await ann.client.get(`/v1/projects/${project.id}`)).status).toBe(200);
      expect(refused(await remove(ann.client, bo))).toEqual([404, 'not_found', null]);
      await add(ann.client, { email: bo.user.email, role: 'member' });
      expect(await works(bo.client)).toBe(401);
    });

    it('transferTo hands over projects, tasks and automations, which go on', async () => {
      const ann = await owner();
      const [bo, eve] = [await join(ann, 'member'), await join(ann, 'member')];
      const task = await createTask(bo.client, { content: 'x' });
      const automation = await createAutomation(bo);
      const project = await createProject(bo);
      expect((await remove(ann.client, bo, `?transferTo=${eve.user.id.toUpperCase()}`)).status).toBe(200);
      expect(await readTask(eve.client, task.id)).toMatchObject({ status: 'queued', createdBy: { id: eve.user.id } });
      const { body } = await eve.client.get(`/v1/automations/${automation.id}`);
      expect(body).toMatchObject({ automation: { status: 'active' } });
      const { body: found } = await eve.client.get<{ project: ProjectBody }>(`/v1/projects/${project.id}`);
      expect(found.project.owner.id).toBe(eve.user.id);
    });

    it('transferTo no member is 404, a viewer and the member itself 400; nothing has happened', async () => {
      const ann = await owner();
      const [bo, viewer, stranger] = [await join(ann, 'member'), await join(ann, 'viewer'), await owner()];
      const task = await createTask(bo.client, { content: 'x' });
      for (const [to, status, code] of [
        [stranger.user.id, 404, 'not_found'],
        [crypto.randomUUID(), 404, 'not_found'],
        ['nobody', 404, 'not_found'],
        [viewer.user.id, 400, 'invalid_field'],
        [bo.user.id, 400, 'invalid_field'],
      ] as const) {
        expect(refused(await remove(ann.client, bo, `?transferTo=${to}`))).toEqual([status, code, 'transferTo']);
      }
      expect(await works(bo.client)).toBe(200);
      expect(await readTask(bo.client, task.id)).toMatchObject({ status: 'queued', createdBy: { id: bo.user.id } });
    });

    it('an owner who removes itself is told so, and its next request is 401; the last owner stays', async () => {
      const ann = await owner();
      expect(refused(await remove(ann.client, ann))).toEqual([409, 'last_owner', null]);
      const bo = await join(ann, 'owner');
      expect((await remove(ann.client, ann)).status).toBe(200);
      expect(await works(ann.client)).toBe(401);
      expect(refused(await remove(bo.client, bo))).toEqual([409, 'last_owner', null]);
    });

    it('of two owners who remove each other at once one stays, and no database error is told', async () => {
      for (let round = 0; round < 8; round += 1) {
        const ann = await owner();
        const bo = await join(ann, 'owner');
        const answers = await Promise.all([remove(ann.client, bo), remove(bo.client, ann)]);
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
        expect((await Promise.all([works(ann.client), works(bo.client)])).sort()).toEqual([200, 401]);
      }
    });

    it('of three owners who remove each other in a ring, and themselves, one stays', async () => {
      for (let round = 0; round < 4; round += 1) {
        const ann = await owner();
        const all = [ann, await join(ann, 'owner'), await join(ann, 'owner')] as const;
        const [a, b, c] = all;
        const answers = await Promise.all([
          remove(a.client, b, `?transferTo=${c.user.id}`),
          remove(b.client, c, `?transferTo=${a.user.id}`),
          remove(c.client, a, `?transferTo=${b.user.id}`),
          ...all.map((one) => remove(one.client, one)),
        ]);
        expect(answers.filter(({ status }) => ![200, 401, 404, 409].includes(status))).toEqual([]);
        const left = await service.db.query<{ role: string }>('SELECT role FROM memberships WHERE workspace_id = $1', [
          ann.workspace.id,
        ]);
        expect(left.filter(({ role }) => role === 'owner').length).toBeGreaterThanOrEqual(1);
      }
    });

    it('locks the connections of the member before its automations, as all others do', async () => {
      const ann = await owner();
      const bo = await join(ann, 'member');
      const connectionId = (await connect(service, bo, { own: true })).id;
      const automation = await automationOn(service, bo, connectionId);
      const delivery = await holding(service.db, 'SELECT 1 FROM connections WHERE id = $1 FOR KEY SHARE', [
        connectionId,
      ]);
      const removed = remove(ann.client, bo);
      await untilWaiting(service.db, 'FROM connections');
      await delivery.query('SELECT 1 FROM automations WHERE id = $1 FOR UPDATE NOWAIT', [automation]);
      await delivery.release();
      expect((await removed).status).toBe(200);
    });

    it('waits for the writes of the member under way, and not for those of its caller', async () => {
      const ann = await owner();
      const bo = await join(ann, 'member');
      const holdOf = 'SELECT 1 FROM memberships WHERE workspace_id = $1 AND user_id = $2 FOR KEY SHARE';
      const ofCaller = await holding(service.db, holdOf, [ann.workspace.id, ann.user.id]);
      const ofMember = await holding(service.db, holdOf, [ann.workspace.id, bo.user.id]);
      const removed = remove(ann.client, bo);
      await untilWaiting(service.db, 'FOR UPDATE');
      await ofMember.release();
      expect((await removed).status).toBe(200);
      await ofCaller.release();
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
