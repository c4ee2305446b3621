import { jest } from '@jest/globals';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { upload } from '../harness/files.js';
import { until } from '../harness/until.js';

const MINUTE = 60_000;

// The work itself is tested in `uploads.spec` and `idempotency-duplicates.spec`; here nothing but the clock asks for it.
describe('What the service does by itself (reference §7, §8)', () => {
  let member: Member;
  let timers: { every: number; ring: () => void }[];

  const service = useService(async () => {
    const set = jest.spyOn(globalThis, 'setInterval');
    const booted = await bootApp();
    timers = set.mock.calls.map(([ring, every]) => ({ ring: ring, every: every ?? 0 }));
    set.mockRestore();
    return booted;
  });
  beforeAll(async () => {
    member = await makeMember(service);
  });

  /** As if so much time had passed for everything that runs at least that often. */
  const pass = (time: number) =>
    timers.filter(({ every }) => every >= MINUTE && every <= time).forEach(({ ring }) => ring());

  it('expired uploads are purged within minutes, and no others', async () => {
    const [gone, kept] = [await upload(service, member, 'gone'), await upload(service, member, 'kept')];
    const ids = async () => (await service.db.query<{ id: string }>('SELECT id FROM uploads')).map(({ id }) => id);
    await service.db.query('UPDATE uploads SET expires_at = now() WHERE id = $1', [gone.id]);
    pass(5 * MINUTE);
    await until('the upload to be purged', async () => !(await ids()).includes(gone.id));
    expect(await ids()).toEqual([kept.id]);
  });

  it('stored answers whose 24 hours are over are deleted within a minute', async () => {
    for (const name of ['old', 'new']) {
      const headers = { 'Idempotency-Key': name };
      expect((await member.client.post('/v1/projects', { name }, { headers })).status).toBe(201);
    }
    await service.db.query(`UPDATE idempotency_keys SET expires_at = now() WHERE key = 'old'`);
    pass(MINUTE);
    const keys = () => service.db.query<{ key: string }>('SELECT key FROM idempotency_keys');
    await until('the record to be deleted', async () => (await keys()).length === 1);
    expect(await keys()).toEqual([{ key: 'new' }]);
  });
});
