import type { Role } from '../../src/access/auth/auth-context.js';
import { useService } from '../harness/app.js';
import { acts } from '../harness/audit.js';
import { makeCaller } from '../harness/callers.js';
import { type Answer, type Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { tablesWith } from '../harness/database.js';
import { type KeyBody, works } from '../harness/keys.js';
import { createTask, readTask } from '../harness/tasks.js';

interface AccountBody {
  id: string;
  name: string;
  role: string;
  createdAt: string;
}
type MadeAccount = { serviceAccount: AccountBody } & ErrorBody;
type MadeKey = { key: KeyBody; secret: string } & ErrorBody;

const ACCOUNTS = '/v1/service-accounts';

describe('Service accounts and their keys over the API (reference §3)', () => {
  const service = useService();
  const owner = () => makeMember(service, { role: 'owner' });
  const join = ({ workspace }: Member, role: Role) => makeMember(service, { workspace, role });
  const refused = ({ status, body: { error } }: Answer<ErrorBody>) => [status, error.code, error.param];
  const make = (client: Client, body: object = { name: 'Robot' }) => client.post<MadeAccount>(ACCOUNTS, body);
  const accountOf = async (client: Client, body?: object) => (await make(client, body)).body.serviceAccount;
  const postKey = (client: Client, id: string, body: object = {}) =>
    client.post<MadeKey>(`${ACCOUNTS}/${id}/keys`, { name: 'ci', scopes: ['tasks:read', 'tasks:write'], ...body });
  const list = async (client: Client) =>
    (await client.get<{ serviceAccounts: AccountBody[] }>(ACCOUNTS)).body.serviceAccounts;
  const keysOf = async (client: Client, id: string) =>
    (await client.get<{ keys: KeyBody[] }>(`${ACCOUNTS}/${id}/keys`)).body.keys;

  it('an account is made, listed and deleted; its name is told apart without capitals', async () => {
    const ann = await owner();
    const { status, headers, body } = await make(ann.client, { name: ' Nightly ' });
    expect(status).toBe(201);
    const { serviceAccount: account } = body;
    expect(account).toEqual({
      id: expect.any(String) as string,
      name: 'Nightly',
      role: 'member',
      createdAt: expect.stringMatching(/Z$/) as string,
    });
    expect(headers.get('location')).toBe(`${ACCOUNTS}/${account.id}`);
    expect(await list(ann.client)).toEqual([account]);
    expect(refused(await make(ann.client, { name: 'NIGHTLY' }))).toEqual([409, 'service_account_exists', 'name']);
    const gone = await ann.client.delete(`${ACCOUNTS}/${account.id.toUpperCase()}`);
    expect(gone.body).toEqual({ deleted: true, id: account.id });
    expect(refused(await ann.client.delete(`${ACCOUNTS}/${account.id}`))).toEqual([404, 'not_found', null]);
    expect(await list(ann.client)).toEqual([]);
    expect((await make(ann.client, { name: 'nightly' })).status).toBe(201);
  });

  it.each([
    ['name', { name: ' ' }],
    ['name', { name: 'two\nlines' }],
    ['name', { name: undefined }],
    ['role', { role: 'boss' }],
    ['role', { role: null }],
  ])('an account with a wrong %s is 400 (%#)', async (param, wrong) => {
    const ann = await owner();
    expect(refused(await make(ann.client, { name: 'Robot', ...wrong }))).toEqual([400, 'invalid_field', param]);
    expect(await list(ann.client)).toEqual([]);
  });

  it('a key is a service key of the account, with any scopes, and its secret is in that answer alone', async () => {
    const ann = await owner();
    const account = await accountOf(ann.client, { name: 'Robot', role: 'viewer' });
    const { status, headers, body } = await postKey(ann.client, account.id);
    expect(status).toBe(201);
    expect(body.secret).toMatch(/^mw_sk_[0-9A-Za-z]{49}$/);
    expect(headers.get('location')).toBe(`${ACCOUNTS}/${account.id}/keys/${body.key.id}`);
    expect(body.key).toEqual({
      id: expect.any(String) as string,
      name: 'ci',
      prefix: body.secret.slice(0, 12),
      scopes: ['tasks:read', 'tasks:write'],
      createdAt: expect.stringMatching(/Z$/) as string,
      expiresAt: null,
      lastUsedAt: null,
      current: false,
    });
    const context = await ann.client.as(body.secret).get('/v1/auth/context');
    expect(context.body).toMatchObject({
      user: { id: account.id, email: null },
      workspace: { id: ann.workspace.id, role: 'viewer' },
      credentialType: 'service',
    });
    const listed = await keysOf(ann.client, account.id);
    expect(listed.map(({ id }) => id)).toEqual([body.key.id]);
    expect(JSON.stringify(listed)).not.toContain(body.secret.slice(12));
  });

  it('a key ends when it says, and by DELETE with the next request; what it has under way goes on', async () => {
    const ann = await owner();
    const account = await accountOf(ann.client);
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    expect((await postKey(ann.client, account.id, { expiresAt })).body.key.expiresAt).toBe(expiresAt);
    const { body } = await postKey(ann.client, account.id);
    const robot = ann.client.as(body.secret);
    const task = await createTask(robot, { content: 'x' });
    const path = `${ACCOUNTS}/${account.id}/keys/${body.key.id}`;
    expect((await ann.client.delete(path)).body).toEqual({ deleted: true, id: body.key.id });
    expect(await works(robot)).toBe(401);
    expect(await readTask(ann.client, task.id)).toMatchObject({ status: 'queued' });
    expect(refused(await ann.client.delete(path))).toEqual([404, 'not_found', null]);
    expect(await keysOf(ann.client, account.id)).toHaveLength(1);
  });

  it('deleting the account ends its keys and cancels what it has under way', async () => {
    const ann = await owner();
    const account = await accountOf(ann.client);
    const { secret } = (await postKey(ann.client, account.id)).body;
    const task = await createTask(ann.client.as(secret), { content: 'x' });
    await ann.client.delete(`${ACCOUNTS}/${account.id}`);
    expect(await works(ann.client.as(secret))).toBe(401);
    expect(await readTask(ann.client, task.id)).toMatchObject({
      status: 'cancelled',
      statusReason: { code: 'owner_removed' },
    });
    expect(refused(await postKey(ann.client, account.id))).toEqual([404, 'not_found', null]);
  });

  it.each([
    ['scopes[1]', { scopes: ['tasks:read', 'mills:grind'] }],
    ['scopes', { scopes: [] }],
    ['scopes', { scopes: ['tasks:read', 'tasks:read'] }],
    ['expiresAt', { expiresAt: 'tomorrow' }],
    ['expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['name', { name: '' }],
  ])('a key with wrong %s is 400, and none is made (%#)', async (param, wrong) => {
    const ann = await owner();
    const { id } = await accountOf(ann.client);
    expect(refused(await postKey(ann.client, id, wrong))).toEqual([400, 'invalid_field', param]);
    expect(await keysOf(ann.client, id)).toEqual([]);
  });

  it('an account has at most 50 live keys, also when they are made at once', async () => {
    const ann = await owner();
    const { id } = await accountOf(ann.client);
    const fill = `INSERT INTO api_keys (id, workspace_id, user_id, name, prefix, digest, scopes)
      SELECT gen_random_uuid(), $1, $2, 'k', 'mw_sk_', decode(md5(random()::text), 'hex'), '{}' FROM generate_series(1, 48)`;
    await service.db.query(fill, [ann.workspace.id, id]);
    const answers = await Promise.all([1, 2, 3, 4].map(() => postKey(ann.client, id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409]);
    expect(refused(await postKey(ann.client, id))).toEqual([409, 'too_many_keys', null]);
  });

  it('a person is no service account here, nor is one of another workspace', async () => {
    const [ann, stranger] = [await owner(), await owner()];
    const bo = await join(ann, 'member');
    const theirs = await accountOf(stranger.client);
    const key = (await postKey(stranger.client, theirs.id)).body.key;
    for (const id of [bo.user.id, theirs.id]) {
      expect(refused(await ann.client.delete(`${ACCOUNTS}/${id}`))).toEqual([404, 'not_found', null]);
      expect(refused(await ann.client.get<ErrorBody>(`${ACCOUNTS}/${id}/keys`))).toEqual([404, 'not_found', null]);
      expect(refused(await postKey(ann.client, id))).toEqual([404, 'not_found', null]);
      for (const keyId of [key.id, bo.key.id]) {
        expect((await ann.client.delete(`${ACCOUNTS}/${id}/keys/${keyId}`)).status).toBe(404);
      }
    }
    const own = await accountOf(ann.client);
    expect((await ann.client.delete(`${ACCOUNTS}/${own.id}/keys/${key.id}`)).status).toBe(404);
    expect(await works(bo.client)).toBe(200);
  });

  it('an admin makes no account whose role is owner, deletes none, and makes and ends none of its keys', async () => {
    const ann = await owner();
    const { client } = await join(ann, 'admin');
    const boss = await accountOf(ann.client, { name: 'Boss', role: 'owner' });
    const { key } = (await postKey(ann.client, boss.id)).body;
    for (const answer of [
      await make(client, { name: 'Second', role: 'owner' }),
      await client.delete<ErrorBody>(`${ACCOUNTS}/${boss.id}`),
      await client.delete<ErrorBody>(`/v1/members/${boss.id}`),
      await client.patch<ErrorBody>(`/v1/members/${boss.id}`, { role: 'viewer' }),
      await postKey(client, boss.id),
      await client.delete<ErrorBody>(`${ACCOUNTS}/${boss.id}/keys/${key.id}`),
    ]) {
      expect(refused(answer)).toEqual([403, 'role_not_allowed', null]);
    }
    const other = await accountOf(client, { name: 'Robot', role: 'admin' });
    expect((await postKey(client, other.id)).status).toBe(201);
    expect((await client.patch(`/v1/members/${other.id}`, { role: 'viewer' })).status).toBe(200);
    expect((await client.delete(`${ACCOUNTS}/${other.id}`)).status).toBe(200);
  });

  describe('Who may what', () => {
    /** The status of each route; those of people come from a key with all ten scopes. */
    const OWNER = { list: 200, add: 201, change: 200, remove: 200, accounts: 200, make: 201, keys: 200, key: 201, end: 200, delete: 200 };
    const NOBODY = { list: 200, add: 403, change: 403, remove: 403, accounts: 403, make: 403, keys: 403, key: 403, end: 403, delete: 403 };

    it.each([
      ['owner', 'person', OWNER],
      ['admin', 'person', OWNER],
      ['member', 'person', NOBODY],
      ['viewer', 'person', NOBODY],
      ['owner', 'service', NOBODY],
      ['admin', 'service', NOBODY],
      ['member', 'service', NOBODY],
      ['viewer', 'service', NOBODY],
    ] as const)('%s %s', async (role, kind, right) => {
      const ann = await owner();
      const { client } = await makeCaller(service, ann.workspace, { role, kind });
      const account = await accountOf(ann.client, { name: 'Robot' });
      const { key } = (await postKey(ann.client, account.id)).body;
      const { user } = await join(ann, 'viewer');
      const at = `${ACCOUNTS}/${account.id}`;
      const told = {
        list: (await client.get('/v1/members')).status,
        add: (await client.post('/v1/members', { email: `${crypto.randomUUID()}@acme.example`, role: 'viewer' })).status,
        change: (await client.patch(`/v1/members/${user.id}`, { role: 'member' })).status,
        remove: (await client.delete(`/v1/members/${user.id}`)).status,
        accounts: (await client.get(ACCOUNTS)).status,
        make: (await make(client, { name: 'Another' })).status,
        keys: (await client.get(`${at}/keys`)).status,
        key: (await postKey(client, account.id)).status,
        end: (await client.delete(`${at}/keys/${key.id}`)).status,
        delete: (await client.delete(at)).status,
      };
      expect(told).toEqual(right);
    });
  }); // prettier-ignore

  it('each write has its row in the audit log; the secret is in none, nor anywhere else in the database', async () => {
    const ann = await owner();
    const account = await accountOf(ann.client);
    const { key, secret } = (await postKey(ann.client, account.id)).body;
    await ann.client.as(secret).get('/v1/tasks');
    await ann.client.delete(`${ACCOUNTS}/${account.id}/keys/${key.id}`);
    await ann.client.delete(`${ACCOUNTS}/${account.id}`);
    const of = (action: string, type: string, id: string) => ({ action, type, id, outcome: 'done' });
    expect(await acts(service, ann)).toEqual([
      of('service-account.create', 'service-account', account.id),
      of('key.create', 'key', key.id),
      of('key.delete', 'key', key.id),
      of('service-account.delete', 'service-account', account.id),
    ]);
    expect(await tablesWith(service.db, secret.slice(12))).toEqual([]);
  });
});
