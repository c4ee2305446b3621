import { KeysService } from '../../src/access/auth/keys.service.js';
import { MembershipsService } from '../../src/access/workspaces/memberships.service.js';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { useService } from '../harness/app.js';
import { type Answer, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { listKeys, makeKey, postKey, removeKey, rotateKey, works } from '../harness/keys.js';

describe('Changes of keys at the same moment (reference §3)', () => {
  const service = useService();
  const person = (options: Parameters<typeof makeMember>[1] = {}) => makeMember(service, options);
  const refused = ({ status, body: { error } }: Answer<ErrorBody>) => [status, error.code, error.param];

  it('sixty at once make exactly as many as there may be: 50 live keys, the others are 409 too_many_keys', async () => {
    const { client, key } = await person();
    const answers = await Promise.all(Array.from({ length: 60 }, () => postKey(client)));
    const codes = answers.map(({ status, body }) => (status === 201 ? '' : `${status} ${body.error.code}`)).sort();
    expect(codes).toEqual([...Array<string>(49).fill(''), ...Array<string>(11).fill('409 too_many_keys')]);
    expect(await listKeys(client)).toHaveLength(50);
    const [last] = (await listKeys(client)).filter(({ id }) => id !== key.id);
    expect(refused(await rotateKey(client, key.id, { overlapSeconds: 60 }))).toEqual([409, 'too_many_keys', null]);
    expect((await rotateKey(client, last?.id ?? '')).status).toBe(201);
    const [some] = (await listKeys(client)).filter(({ id }) => id !== key.id);
    await removeKey(client, some?.id ?? '');
    expect((await rotateKey(client, key.id, { overlapSeconds: 60 })).status).toBe(201);
  });

  it('of two rotations at once one is done, and the other finds no key', async () => {
    for (const overlap of [0, 60]) {
      const { client } = await person();
      const { key } = await makeKey(client);
      const answers = await Promise.all([1, 2].map(() => rotateKey(client, key.id, { overlapSeconds: overlap })));
      // With an overlap both keys work, so the second rotation is one of a key that still lives.
      expect(answers.map(({ status }) => status).sort()).toEqual(overlap === 0 ? [201, 404] : [201, 201]);
      expect(await listKeys(client)).toHaveLength(overlap === 0 ? 2 : 4);
    }
  });

  it('a deletion and a rotation at once leave no key that neither answer names', async () => {
    for (let round = 0; round < 10; round++) {
      const { client, key: own } = await person();
      const { key } = await makeKey(client);
      const [gone, rotated] = await Promise.all([removeKey(client, key.id), rotateKey(client, key.id)]);
      expect([[200, 404], [404, 201]]).toContainEqual([gone.status, rotated.status]); // prettier-ignore
      const left = (await listKeys(client)).map(({ id }) => id);
      expect(left.sort()).toEqual([own.id, ...(rotated.status === 201 ? [rotated.body.key.id] : [])].sort());
    }
  });

  it.each(['its deletion over the API', 'the revocation by the operator', 'the removal of the member'])(
    'a key makes none after %s, not even by a request that was on its way',
    async (how) => {
      const member = await person();
      const second = await makeKey(member.client, { scopes: SCOPES });
      const end = () =>
        how.startsWith('its') ? removeKey(second.client, second.key.id)
        : how.includes('operator') ? service.app.get(KeysService, { strict: false }).revoke(second.key.id)
        : service.app.get(MembershipsService).remove(member.workspace.id, member.user.id); // prettier-ignore
      const posts = Array.from({ length: 20 }, () => postKey(second.client));
      await end();
      const rows = await liveKeys(member);
      const statuses = (await Promise.all(posts)).map(({ status }) => status);
      expect(statuses.every((status) => status === 201 || status === 401)).toBe(true);
      expect(await liveKeys(member)).toBe(rows);
      expect(await works(second.client)).toBe(401);
    },
  ); // prettier-ignore

  async function liveKeys({ user }: Member): Promise<number> {
    const [row] = await service.db.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM api_keys WHERE user_id = $1 AND revoked_at IS NULL',
      [user.id],
    );
    return row?.n ?? 0;
  }
});
