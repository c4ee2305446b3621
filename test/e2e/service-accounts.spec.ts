import { jest } from '@jest/globals';
import { newKey } from '../../src/access/auth/api-key.js';
import { KeysService } from '../../src/access/auth/keys.service.js';
import type { Role } from '../../src/access/auth/auth-context.js';
import { Database } from '../../src/platform/database/database.js';
import { type Scope, SCOPES } from '../../src/platform/http/endpoint.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { ServiceAccountsService } from '../../src/access/workspaces/service-accounts.service.js';
import { useService } from '../harness/app.js';
import { Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { createTask, readTask } from '../harness/tasks.js';

describe('Service accounts (reference §3)', () => {
  let member: Member;
  let accounts: ServiceAccountsService;
  let count = 0;

  const service = useService();
  beforeAll(async () => {
    member = await makeMember(service);
    accounts = service.app.get(ServiceAccountsService);
  });

  const make = async ({ role = 'member', scopes = SCOPES }: { role?: Role; scopes?: readonly Scope[] } = {}) => {
    const workspaceId = member.workspace.id;
    const account = await accounts.create({ workspaceId, name: `Robot ${++count}`, role });
    const key = await keyOf(account.id, { scopes });
    return { account, key, client: new Client(service.url, key.secret) };
  };
  const keyOf = (userId: string, more: { scopes?: readonly Scope[]; service?: boolean; workspaceId?: string } = {}) =>
    service.app.get(KeysService, { strict: false }).create({
      workspaceId: member.workspace.id,
      userId,
      service: true,
      name: 'ci',
      scopes: SCOPES,
      lifetimeSeconds: null,
      ...more,
    });

  it('a service key has the form mw_sk_… and stands for the account: a user without an address', async () => {
    const { account, key, client } = await make({ role: 'admin' });
    expect(key.secret).toMatch(/^mw_sk_[0-9A-Za-z]{49}$/);
    expect(key.prefix).toBe(key.secret.slice(0, 12));
    const read = jest.spyOn(service.app.get(Database).read, 'run');
    const { status, body } = await client.get('/v1/auth/context');
    expect(read).toHaveBeenCalledTimes(1);
    read.mockRestore();
    expect(status).toBe(200);
    expect(body).toEqual({
      user: { id: account.id, name: account.name, email: null },
      workspace: { id: member.workspace.id, name: expect.any(String), slug: member.workspace.slug, role: 'admin' },
      scopes: [...SCOPES],
      credentialType: 'service',
      credential: { id: key.id, name: 'ci', prefix: key.prefix, createdAt: expect.any(String), expiresAt: null },
    });
    const { body: person } = await member.client.get('/v1/auth/context');
    expect(person).toMatchObject({ credentialType: 'personal_api_key', user: { email: member.user.email } });
  });

  it('acts as the account: its tasks are its own, its role and scopes apply', async () => {
    const { account, client } = await make();
    const task = await createTask(client, { content: 'By a program.' });
    expect((await readTask(client, task.id)) as object).toMatchObject({
      createdBy: { id: account.id, name: account.name },
    });
    expect((await member.client.get(`/v1/tasks/${task.id}`)).status).toBe(404);
    const viewer = await make({ role: 'viewer' });
    const refused = await viewer.client.post<ErrorBody>('/v1/tasks', { content: 'x' });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'role_not_allowed']);
    const narrow = await make({ scopes: ['files:read'] });
    const missing = await narrow.client.get<ErrorBody>('/v1/tasks');
    expect([missing.status, missing.body.error.code]).toEqual([403, 'missing_scope']);
    expect((await narrow.client.get('/v1/auth/context')).status).toBe(200);
    const none = await make({ scopes: [] });
    expect((await none.client.get('/v1/auth/context')).status).toBe(403);
  });

  it('deleting it ends its keys for good and cancels what it has under way; a new one of its name is another', async () => {
    const { account, client } = await make();
    const task = await createTask(client, { content: 'Under way.' });
    await accounts.delete(member.workspace.id, account.name.toUpperCase());
    expect((await client.get('/v1/auth/context')).status).toBe(401);
    expect(await accounts.list(member.workspace.id)).not.toContainEqual(expect.objectContaining({ id: account.id }));
    const owner = await makeMember(service, { workspace: member.workspace, role: 'owner' });
    expect((await readTask(owner.client, task.id)) as object).toMatchObject({
      status: 'cancelled',
      statusReason: { code: 'owner_removed' },
      createdBy: { id: account.id, name: account.name },
    });
    const again = await accounts.create({ workspaceId: member.workspace.id, name: account.name, role: 'member' });
    expect(again.id).not.toBe(account.id);
    expect((await client.get('/v1/auth/context')).status).toBe(401);
    await expect(accounts.delete(member.workspace.id, 'nobody')).rejects.toThrow("no service account 'nobody'");
  });

  it('belongs to one workspace; names are told apart there, without regard to capitals', async () => {
    const { account } = await make();
    const { id: workspaceId } = member.workspace;
    const twice = accounts.create({ workspaceId, name: account.name.toLowerCase(), role: 'member' });
    await expect(twice).rejects.toThrow('already');
    const other = await makeMember(service);
    await accounts.create({ workspaceId: other.workspace.id, name: account.name, role: 'member' });
    await expect(keyOf(account.id, { workspaceId: other.workspace.id })).rejects.toThrow('not a member');
    const people = await service.app.get(MembershipsService).list(workspaceId);
    expect(people.map(({ userId }) => userId)).not.toContain(account.id);
  });

  it('its key is never a personal one, nor a person’s a service key', async () => {
    const { account } = await make();
    await expect(keyOf(account.id, { service: false })).rejects.toThrow('not a member');
    await expect(keyOf(member.user.id)).rejects.toThrow('not a member');
    const { key } = await make();
    for (const secret of [key.secret.replace('_sk_', '_pk_'), newKey('service')]) {
      expect((await new Client(service.url, secret).get('/v1/auth/context')).status).toBe(401);
    }
  });

  it('GET /v1/members names the people and service accounts of the workspace, to every credential', async () => {
    const owner = await makeMember(service, { role: 'owner', scopes: [] });
    const viewer = await makeMember(service, { workspace: owner.workspace, role: 'viewer' });
    const workspaceId = owner.workspace.id;
    const robot = await accounts.create({ workspaceId, name: 'Robot', role: 'member' });
    const { secret } = await keyOf(robot.id, { workspaceId, scopes: ['files:read'] });
    const [first, ...others] = await Promise.all(
      [owner.client, viewer.client, owner.client.as(secret)].map((client) => client.get('/v1/members')),
    );
    const name = expect.any(String) as string;
    const createdAt = expect.stringMatching(/Z$/) as string;
    expect(first?.body).toEqual({
      members: [
        {
          id: owner.user.id,
          name,
          role: 'owner',
          kind: 'person',
          email: owner.user.email,
          access: 'has_keys',
          origin: 'added',
          provider: null,
          createdAt,
        },
        {
          id: viewer.user.id,
          name,
          role: 'viewer',
          kind: 'person',
          email: viewer.user.email,
          access: 'has_keys',
          origin: 'added',
          provider: null,
          createdAt,
        },
        {
          id: robot.id,
          name: 'Robot',
          role: 'member',
          kind: 'service',
          email: null,
          access: null,
          origin: null,
          provider: null,
          createdAt,
        },
      ],
    });
    for (const other of others) {
      expect(other.text).not.toContain('@');
      const { members } = first?.body as { members: object[] };
      expect(other.body).toEqual({
        members: members.map((one) => ({ ...one, email: null, access: null, origin: null, provider: null })),
      });
    }
    await service.app.get(MembershipsService).remove(workspaceId, viewer.user.id);
    await accounts.delete(workspaceId, 'Robot');
    const { body } = await owner.client.get<{ members: { id: string }[] }>('/v1/members');
    expect(body.members.map(({ id }) => id)).toEqual([owner.user.id]);
  });
});
