import { KeysService } from '../../src/access/auth/keys.service.js';
import { KeyUses } from '../../src/access/auth/key-uses.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { createDatabase } from '../harness/database.js';
import { holding } from '../harness/locks.js';

const lastUse = async (service: Pick<TestApp, 'db'>, { key }: Member) => {
  const sql = 'SELECT last_used_at AS at, now() AS now FROM api_keys WHERE id = $1';
  const [row] = await service.db.query<{ at: Date | null; now: Date }>(sql, [key.id]);
  return row?.at == null ? null : (row.now.getTime() - row.at.getTime()) / 1000;
};

describe('The last use of a key (reference §3)', () => {
  let service: TestApp;
  let uses: KeyUses;

  beforeAll(async () => {
    service = await bootApp({ env: { ROLE: 'api' } });
    uses = service.app.get(KeyUses, { strict: false });
  });
  afterAll(() => service.close());

  it('is written a while after it, and stands in the list of keys with the person', async () => {
    const [used, unused] = [await makeMember(service), await makeMember(service)];
    expect((await used.client.get('/v1/auth/context')).status).toBe(200);
    await uses.write();
    expect(await lastUse(service, used)).toBeLessThan(60);
    expect(await lastUse(service, unused)).toBeNull();
    const [listed] = await service.app.get(KeysService, { strict: false }).list(used.workspace.id);
    expect(listed).toMatchObject({
      userEmail: used.user.email,
      userName: expect.stringMatching(/^User /),
      lastUsedAt: expect.any(Date),
    });
  });

  it('is no use when the key is refused', async () => {
    const member = await makeMember(service);
    await service.app.get(KeysService, { strict: false }).revoke(member.key.id);
    expect((await member.client.get('/v1/auth/context')).status).toBe(401);
    await uses.write();
    expect(await lastUse(service, member)).toBeNull();
  });

  it('never moves backwards: another process may have written a later one', async () => {
    const member = await makeMember(service);
    await member.client.get('/v1/auth/context');
    await service.db.query(`UPDATE api_keys SET last_used_at = now() + interval '1 hour' WHERE id = $1`, [
      member.key.id,
    ]);
    await uses.write();
    expect(await lastUse(service, member)).toBeLessThan(-3500);
  });

  it('waits in memory while the database does not take it', async () => {
    const member = await makeMember(service);
    await member.client.get('/v1/auth/context');
    const holder = await holding(service.db, 'SELECT 1 FROM api_keys WHERE id = $1 FOR UPDATE', [member.key.id]);
    await expect(uses.write()).rejects.toThrow();
    await holder.release();
    expect(await lastUse(service, member)).toBeNull();
    await uses.write();
    expect(await lastUse(service, member)).toBeLessThan(60);
  });

  it('is written by a process that stops', async () => {
    const db = await createDatabase();
    try {
      const stopped = await bootApp({ db, env: { ROLE: 'api' } });
      const member = await makeMember(stopped);
      await member.client.get('/v1/auth/context');
      await stopped.close();
      expect(await lastUse({ db }, member)).toBeLessThan(60);
    } finally {
      await db.drop();
    }
  });
});
