import type { Role } from '../../src/access/auth/auth-context.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { ServiceAccountsService } from '../../src/access/workspaces/service-accounts.service.js';
import { UsersService } from '../../src/access/workspaces/users.service.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { holding, untilWaiting } from '../harness/locks.js';

const ALL_THE_SAME = { evenLastOwner: true };

describe('The last owner of a workspace (reference §3)', () => {
  let service: TestApp;
  beforeAll(async () => (service = await bootApp({ env: { ROLE: 'api' } })));
  afterAll(() => service.close());

  const members = () => service.app.get(MembershipsService);
  const users = () => service.app.get(UsersService);
  const accounts = () => service.app.get(ServiceAccountsService);
  const join = ({ workspace }: Member, role: Role) => makeMember(service, { workspace, role });
  const refusal = ({ workspace }: Member) =>
    `This would leave '${workspace.slug}' without a person as owner; make another member one first`;
  const roleOf = async ({ workspace, user }: Member) =>
    (await members().list(workspace.id)).find(({ userId }) => userId === user.id)?.role;

  it('is neither removed, demoted nor deleted, unless it is meant so', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const { id } = owner.workspace;
    await join(owner, 'admin');
    await expect(members().remove(id, owner.user.id)).rejects.toThrow(refusal(owner));
    await expect(members().add(id, owner.user.id, 'admin')).rejects.toThrow(refusal(owner));
    await expect(users().delete(owner.user.id)).rejects.toThrow(refusal(owner));
    expect(await roleOf(owner)).toBe('owner');
    expect((await owner.client.get('/v1/auth/context')).status).toBe(200);
    const change = await members().add(id, owner.user.id, 'admin', ALL_THE_SAME);
    expect(change).toMatchObject({ role: 'admin', previousRole: 'owner' });
    await members().add(id, owner.user.id, 'owner');
    await users().delete(owner.user.id, ALL_THE_SAME);
    expect(await roleOf(owner)).toBeUndefined();
  });

  it('with another person as owner each may go; handing over makes no owner', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const [second, heir] = [await join(owner, 'owner'), await join(owner, 'member')];
    const { id } = owner.workspace;
    expect(await members().add(id, owner.user.id, 'owner')).toMatchObject({ previousRole: 'owner' });
    await members().remove(id, owner.user.id);
    await expect(members().remove(id, second.user.id, heir.user.id)).rejects.toThrow(refusal(owner));
    expect(await members().add(id, heir.user.id, 'owner')).toMatchObject({ role: 'owner', previousRole: 'member' });
    await users().delete(second.user.id);
    await members().remove(id, heir.user.id, null, ALL_THE_SAME);
    expect(await members().list(id)).toEqual([]);
  });

  it('a service account does not stand in for a person; where no person is an owner it is kept as one', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const workspaceId = owner.workspace.id;
    for (const name of ['One', 'Two']) await accounts().create({ workspaceId, name, role: 'owner' });
    await expect(members().remove(workspaceId, owner.user.id)).rejects.toThrow(refusal(owner));
    await accounts().delete(workspaceId, 'One');
    await members().remove(workspaceId, owner.user.id, null, ALL_THE_SAME);
    await expect(accounts().delete(workspaceId, 'Two')).rejects.toThrow(refusal(owner));
    await accounts().delete(workspaceId, 'Two', ALL_THE_SAME);
    expect(await accounts().list(workspaceId)).toEqual([]);
  });

  it('all workspaces that a deleted user would leave behind are named', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const other = await makeMember(service, { role: 'owner' });
    await members().add(other.workspace.id, owner.user.id, 'owner');
    const alone = await makeMember(service);
    await members().add(alone.workspace.id, owner.user.id, 'owner');
    const slugs = [owner, alone].map(({ workspace }) => `'${workspace.slug}'`).sort();
    await expect(users().delete(owner.user.id)).rejects.toThrow(
      `This would leave ${slugs.join(', ')} without a person`,
    );
  });

  it('of two owners who go at the same moment one stays', async () => {
    const owner = await makeMember(service, { role: 'owner' });
    const second = await join(owner, 'owner');
    const { id } = owner.workspace;
    // The first removal is held before its end: the second one must wait for it, and not count on who is about to go.
    const holder = await holding(service.db, 'SELECT 1 FROM api_keys WHERE id = $1 FOR UPDATE', [owner.key.id]);
    const first = members().remove(id, owner.user.id);
    await untilWaiting(service.db, 'DELETE FROM memberships');
    const late = members().add(id, second.user.id, 'viewer');
    await Promise.race([late.catch(() => undefined), untilWaiting(service.db, 'pg_advisory_xact_lock')]);
    await holder.release();
    await first;
    await expect(late).rejects.toThrow(refusal(owner));
    expect(await roleOf(second)).toBe('owner');
  });
});
