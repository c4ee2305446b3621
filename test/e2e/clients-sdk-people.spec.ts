import { Millwright, MillwrightError } from '@millwright/sdk';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';

describe('The SDK, people and connections (reference §3, §13, §19)', () => {
  let ann: Member;
  let mw: Millwright;
  const service = useService(() => bootApp({ config: { repositoryNetworks: ['127.0.0.2/32'] } }));
  beforeAll(async () => {
    ann = await makeMember(service, { role: 'owner' });
    mw = new Millwright({ apiKey: ann.key.secret, baseUrl: service.url });
  });

  it('adds, changes and removes members', async () => {
    const bo = await mw.members.add({ email: 'bo@acme.example', name: 'Bo', role: 'member' });
    expect(await mw.members.update(bo.id, { role: 'admin' })).toEqual({ ...bo, role: 'admin' });
    expect((await mw.members.list()).map(({ email }) => email)).toEqual([ann.user.email, 'bo@acme.example']);
    const { url, code } = await mw.members.invite(bo.id);
    expect(url).toContain(`#code=${code}`);
    const again = mw.members.add({ email: 'bo@acme.example', role: 'viewer' });
    await expect(again).rejects.toMatchObject({ status: 409, code: 'member_exists' });
    await expect(mw.members.remove(ann.user.id)).rejects.toBeInstanceOf(MillwrightError);
    expect(await mw.members.remove(bo.id, { transferTo: ann.user.id })).toEqual({ deleted: true, id: bo.id });
  });

  it('makes a service account with a key that works, and ends both', async () => {
    const robot = await mw.serviceAccounts.create({ name: 'Robot' });
    expect(await mw.serviceAccounts.list()).toEqual([robot]);
    const { key, secret } = await mw.serviceAccounts.createKey(robot.id, { name: 'ci', scopes: ['tasks:read'] });
    const { user } = await new Millwright({ apiKey: secret, baseUrl: service.url }).auth.context();
    expect(user.id).toBe(robot.id);
    expect((await mw.serviceAccounts.keys(robot.id)).map(({ id }) => id)).toEqual([key.id]);
    await mw.serviceAccounts.deleteKey(robot.id, key.id);
    expect(await mw.serviceAccounts.keys(robot.id)).toEqual([]);
    expect(await mw.serviceAccounts.delete(robot.id)).toEqual({ deleted: true, id: robot.id });
  });

  it('connects a host of repositories, changes and tests the connection and deletes it', async () => {
    // Nothing listens there.
    const given = { host: '127.0.0.2:9', hosting: 'github', token: 'a-token-of-a-test' } as const;
    const connection = await mw.repositoryConnections.create(given);
    expect(connection).toMatchObject({ kind: 'token', status: 'ready', paths: ['**'] });
    const changed = await mw.repositoryConnections.update(connection.id, { paths: ['acme/*'], push: [] });
    expect(changed).toEqual({ ...connection, paths: ['acme/*'], push: [] });
    expect(await mw.repositoryConnections.get(connection.id)).toEqual(changed);
    const { status, lastError } = await mw.repositoryConnections.test(connection.id);
    expect([status, lastError]).toEqual(['ready', expect.stringContaining('127.0.0.2:9 is not reached')]);
    expect((await mw.repositoryConnections.list().page()).items.map(({ id }) => id)).toEqual([connection.id]);
    expect(await mw.repositoryConnections.delete(connection.id)).toEqual({ deleted: true, id: connection.id });
    await expect(mw.repositoryConnections.get(connection.id)).rejects.toMatchObject({ status: 404 });
  });

  it('connects an integration, rotates its secret and disconnects it', async () => {
    const { connection, secret } = await mw.integrations.connect('github', { scope: 'workspace' });
    const rotated = await mw.integrations.rotate('github', connection.id);
    expect(rotated.secret).not.toBe(secret);
    expect(await mw.integrations.connections('github')).toEqual([rotated.connection]);
    expect(await mw.integrations.test('github', connection.id)).toMatchObject({ verdict: 'handshake' });
    await mw.integrations.disconnect('github', connection.id);
    expect(await mw.integrations.connections('github')).toEqual([]);
  });
});
