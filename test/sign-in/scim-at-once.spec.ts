// Requests of a directory at the same moment (reference §31).
import { useService } from '../harness/app.js';
import { bootWithRules, Company, type Directory, GROUP, type Reply, USER } from '../harness/scim.js';

/** Each race is run so often, for it may end either way. */
const ROUNDS = Array.from({ length: 6 }, (_, n) => n);

describe('Requests of a directory at the same moment (reference §31)', () => {
  const service = useService(bootWithRules);
  let acme: Company;
  let directory: Directory;
  beforeAll(async () => {
    acme = await Company.make(service, 'acme');
    ({ directory } = acme);
    // As directories do: who waits for too long for its turn is told 503, and tries again.
    const once = directory.send.bind(directory);
    directory.send = async (...words) => {
      for (;;) {
        const reply = await once(...words);
        if (reply.status !== 503) return reply;
      }
    };
  });
  const address = () => Company.address();
  const people = (count: number) => Promise.all(Array.from({ length: count }, () => directory.add(address())));
  const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status).sort();
  const membersOf = async (group: string) =>
    (await directory.send('GET', `Groups/${group}`)).body.members.map(({ value }) => value).sort();

  it('of several who tell of one person one makes it, and the others are told 409 uniqueness', async () => {
    for (const _round of ROUNDS) {
      const userName = address();
      const given = { schemas: [USER], userName, active: true };
      const replies = await Promise.all([1, 2, 3, 4].map(() => directory.send('POST', 'Users', given)));
      expect(statuses(replies)).toEqual([201, 409, 409, 409]);
      for (const { status, body } of replies) if (status === 409) expect(body['scimType']).toBe('uniqueness');
      const rows = await service.db.query(
        `SELECT 1 FROM users u JOIN memberships m ON m.user_id = u.id JOIN scim_users s ON s.user_id = u.id
         WHERE u.email = $1`,
        [userName],
      );
      expect(rows).toHaveLength(1);
    }
  });

  it('a change beside the end of a person comes before it, or finds nobody', async () => {
    for (const _round of ROUNDS) {
      const email = address();
      const id = await directory.add(email);
      const [changed, ended, off] = await Promise.all([
        directory.patch(`Users/${id}`, { op: 'replace', value: { displayName: 'Other' } }),
        directory.send('DELETE', `Users/${id}`),
        directory.patch(`Users/${id}`, { op: 'replace', value: { active: false } }),
      ]);
      expect(ended.status).toBe(204);
      for (const { status } of [changed, off]) expect([200, 404]).toContain(status);
      expect((await directory.send('GET', `Users/${id}`)).status).toBe(404);
      expect(await acme.members()).not.toHaveProperty([email]);
    }
  });

  it('people who are put into one group by one request each are all in it', async () => {
    const ids = await people(3);
    const group = await directory.group('Everybody');
    const path = `Groups/${group}`;
    const replies = await Promise.all(
      ids.map((value) => directory.patch(path, { op: 'add', path: 'members', value: [{ value }] })),
    );
    expect(statuses(replies)).toEqual(ids.map(() => 200));
    expect(await membersOf(group)).toEqual([...ids].sort());
  });

  it('a group is replaced beside a person that ends: it is in none, and whoever comes too late is told 400', async () => {
    const group = await directory.group('Changing');
    for (const _round of ROUNDS) {
      const [stays = '', goes = ''] = await people(2);
      const members = [{ value: goes }, { value: stays }];
      const [put, ended] = await Promise.all([
        directory.send('PUT', `Groups/${group}`, { schemas: [GROUP], displayName: 'Changing', members }),
        directory.send('DELETE', `Users/${goes}`),
      ]);
      expect(ended.status).toBe(204);
      expect([put.status, put.body['scimType']]).toEqual(put.status === 200 ? [200, undefined] : [400, 'invalidValue']);
      expect(await membersOf(group)).not.toContain(goes);
    }
  });

  it('a group is replaced beside a person that is told of: both are done', async () => {
    const group = await directory.group('Beside');
    for (const _round of ROUNDS) {
      const [one = ''] = await people(1);
      const replies = await Promise.all([
        directory.send('PUT', `Groups/${group}`, {
          schemas: [GROUP],
          displayName: 'Beside',
          members: [{ value: one }],
        }),
        directory.send('POST', 'Users', { schemas: [USER], userName: address(), active: true }),
      ]);
      expect(replies.map(({ status }) => status)).toEqual([200, 201]);
      expect(await membersOf(group)).toEqual([one]);
    }
  });

  it('a role is that of all groups, whichever change came last', async () => {
    const [admins, guests] = [await directory.group('Admins'), await directory.group('Guests')];
    for (const _round of ROUNDS) {
      const email = address();
      const id = await directory.add(email);
      const put = (group: string) => directory.patch(`Groups/${group}`, { op: 'add', path: 'members', value: [{ value: id }] });
      await put(guests);
      const replies = await Promise.all([put(admins), directory.patch(`Groups/${guests}`, { op: 'remove', path: `members[value eq "${id}"]` })]);
      expect(statuses(replies)).toEqual([200, 200]);
      expect((await acme.members())[email]).toBe('admin');
    }
  }); // prettier-ignore

  it('of two that take one name one is told 409 uniqueness', async () => {
    for (const round of ROUNDS) {
      const ids = await people(2);
      const groups = await Promise.all(ids.map((_, n) => directory.group(`Before ${round} ${n}`)));
      const userName = address();
      const renamed = await Promise.all(ids.map((id) => directory.patch(`Users/${id}`, { op: 'replace', value: { userName } })));
      const called = await Promise.all(groups.map((id) => directory.patch(`Groups/${id}`, { op: 'replace', value: { displayName: `After ${round}` } })));
      for (const replies of [renamed, called]) {
        expect(statuses(replies)).toEqual([200, 409]);
        expect(replies.find(({ status }) => status === 409)?.body['scimType']).toBe('uniqueness');
      }
    }
  }); // prettier-ignore

  it('and none of them has ended in a deadlock', async () => {
    const [row] = await service.db.query<{ deadlocks: string }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(Number(row?.deadlocks)).toBe(0);
  });
});
