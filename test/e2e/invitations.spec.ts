import type { Role } from '../../src/access/auth/auth-context.js';
import { SCOPES } from '../../src/platform/http/endpoint.js';
import { EndedSessions } from '../../src/surfaces/console/ended-sessions.js';
import { bootApp, useService } from '../harness/app.js';
import { acts } from '../harness/audit.js';
import { Browser, WHO } from '../harness/browser.js';
import { type Client, type ErrorBody, makeMember, type Member } from '../harness/client.js';
import { tablesWith } from '../harness/database.js';
import type { KeyBody } from '../harness/keys.js';
import { add, join, listMembers, makeOwner, refused } from '../harness/members.js';
import { Operator } from '../harness/operator.js';

type Made = { invitation: { url: string | null; code: string; expiresAt: string } } & ErrorBody;
const HOURS_MS = 3_600_000;

const invite = (client: Client, id: string) => client.post<Made>(`/v1/members/${id}/invitation`);
const invited = async (client: Client, id: string) => (await invite(client, id)).body.invitation;

describe('Invitations of members (reference §3)', () => {
  const service = useService();
  let operator: Operator;
  let ann: Member;
  beforeAll(async () => {
    operator = new Operator(service);
    ann = await makeOwner(service);
  });

  /** A person who was added just now. */
  const added = async ({ client }: Member = ann, role: Role = 'member') => {
    const email = `${crypto.randomUUID()}@acme.example`;
    return (await add(client, { email, name: 'Bo', role })).body.member;
  };
  const accessOf = async (id: string) => (await listMembers(ann.client)).find((one) => one.id === id)?.access;
  const logIn = async (code: string) => {
    const browser = new Browser(service.url);
    return { browser, status: (await browser.logIn({ code })).status };
  };

  it('a link lets a member in, once, who makes a key: that one outlives the session', async () => {
    const bo = await added();
    expect(await accessOf(bo.id)).toBe('none');
    const { status, body, headers } = await invite(ann.client, bo.id);
    expect([status, headers.get('location')]).toEqual([201, `/v1/members/${bo.id}/invitation`]);
    const { url, code, expiresAt } = body.invitation;
    expect(code).toMatch(/^[\w-]{43}$/);
    expect(url).toBe(`http://127.0.0.1:3000/console/settings?part=keys#code=${code}`);
    expect(Math.abs(new Date(expiresAt).getTime() - Date.now() - 72 * HOURS_MS)).toBeLessThan(60_000);
    expect(await accessOf(bo.id)).toBe('invited');

    const { browser, status: begun } = await logIn(code);
    expect([begun, (await logIn(code)).status]).toEqual([204, 401]);
    expect(await accessOf(bo.id)).toBe('has_keys');
    const who = (await browser.get(WHO)).body;
    expect(who).toMatchObject({ user: { id: bo.id }, credential: { name: 'Invitation', expiresAt: null } });
    expect(who['scopes']).toEqual([...SCOPES]);

    const made = await browser.send('POST', '/v1/keys', { json: { name: 'Laptop', scopes: SCOPES, expiresAt: null } });
    expect(made.status).toBe(201);
    await browser.logOut();
    const own = ann.client.as(String(made.body['secret']));
    const { keys } = (await own.get<{ keys: KeyBody[] }>('/v1/keys')).body;
    expect(keys.map(({ name, current }) => [name, current])).toEqual([['Laptop', true]]);
  });

  it('of many who open it at once one is let in', async () => {
    const { code } = await invited(ann.client, (await added()).id);
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => logIn(code)))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([204, ...Array<number>(7).fill(401)]);
  });

  it('a second link replaces the first', async () => {
    const bo = await added();
    const [first, second] = [await invited(ann.client, bo.id), await invited(ann.client, bo.id)];
    expect((await logIn(first.code)).status).toBe(401);
    expect((await logIn(second.code)).status).toBe(204);
  });

  it('works until its time and no longer; then another one may be made', async () => {
    const bo = await added();
    const { code } = await invited(ann.client, bo.id);
    await service.db.query(
      `UPDATE console_codes SET expires_at = now() FROM api_keys k WHERE k.id = key_id AND k.user_id = $1`,
      [bo.id],
    );
    await service.db.query('UPDATE api_keys SET expires_at = now() WHERE user_id = $1', [bo.id]);
    expect([(await logIn(code)).status, await accessOf(bo.id)]).toEqual([401, 'none']);
    expect((await logIn((await invited(ann.client, bo.id)).code)).status).toBe(204);
  });

  it('its key ends with the session: by a log-out, and after its time', async () => {
    const live = async (id: string) =>
      (await service.db.query('SELECT 1 FROM api_keys WHERE user_id = $1 AND revoked_at IS NULL', [id])).length;
    const [bo, eve] = [await added(), await added()];
    const { browser } = await logIn((await invited(ann.client, bo.id)).code);
    await browser.logOut();
    expect([(await browser.get(WHO)).status, await live(bo.id)]).toEqual([401, 0]);
    const { browser: other } = await logIn((await invited(ann.client, eve.id)).code);
    const ended = service.app.get(EndedSessions, { strict: false });
    await ended.forget();
    expect([(await other.get(WHO)).status, await live(eve.id)]).toEqual([200, 1]);
    await service.db.query(
      `UPDATE console_sessions SET expires_at = now() FROM api_keys k WHERE k.id = key_id AND k.user_id = $1`,
      [eve.id],
    );
    await ended.forget();
    expect([(await other.get(WHO)).status, await live(eve.id)]).toEqual([401, 0]);
    for (const { id } of [bo, eve]) expect(refused(await invite(ann.client, id))).toEqual([409, 'member_has_keys', null]);
  }); // prettier-ignore

  it('is for nobody who has, or had, a key: 409 member_has_keys, the caller itself too', async () => {
    const bo = await join(service, ann, 'member');
    expect(await accessOf(bo.user.id)).toBe('has_keys');
    for (const { user } of [bo, ann]) {
      const answer = await invite(ann.client, user.id);
      expect(refused(answer)).toEqual([409, 'member_has_keys', null]);
      expect(answer.body.error.message).toContain('has logged in or has a key');
    }
    await bo.client.delete(`/v1/keys/${bo.key.id}`);
    expect(refused(await invite(ann.client, bo.user.id))).toEqual([409, 'member_has_keys', null]);
  });

  it('a key that the operator makes meanwhile ends the link', async () => {
    const bo = await added();
    const { code } = await invited(ann.client, bo.id);
    await operator.run('key', 'create', '--workspace', ann.workspace.slug, '--user', String(bo.email));
    expect([(await logIn(code)).status, (await invite(ann.client, bo.id)).status]).toEqual([401, 409]);
  });

  it('is not for service accounts, unknown ids and members who were removed: 404', async () => {
    const made = await ann.client.post<{ serviceAccount: { id: string } }>('/v1/service-accounts', { name: 'Robot' });
    const gone = await added();
    await ann.client.delete(`/v1/members/${gone.id}`);
    for (const id of [made.body.serviceAccount.id, gone.id, crypto.randomUUID(), 'x']) {
      expect(refused(await invite(ann.client, id))).toEqual([404, 'not_found', null]);
    }
  });

  it('the removal of the member ends the link at once, and adding it again revives none', async () => {
    const bo = await added();
    const { code } = await invited(ann.client, bo.id);
    await ann.client.delete(`/v1/members/${bo.id}`);
    expect((await logIn(code)).status).toBe(401);
    await add(ann.client, { email: bo.email, role: 'member' });
    expect([(await logIn(code)).status, await accessOf(bo.id)]).toEqual([401, 'none']);
  });

  it('an admin invites no owner, and a link that it has made ends when its member becomes one', async () => {
    const admin = await join(service, ann, 'admin');
    const owner = await added(ann, 'owner');
    expect(refused(await invite(admin.client, owner.id))).toEqual([403, 'role_not_allowed', null]);
    const [bo, eve] = [await added(), await added()];
    const [first, second] = [await invited(admin.client, bo.id), await invited(admin.client, eve.id)];
    await ann.client.patch(`/v1/members/${bo.id}`, { role: 'owner' });
    const words = ['--workspace', ann.workspace.slug, '--user', String(eve.email), '--role', 'owner'];
    await operator.run('member', 'add', ...words);
    for (const { code } of [first, second]) expect((await logIn(code)).status).toBe(401);
    expect((await logIn((await invited(ann.client, owner.id)).code)).status).toBe(204);
  });

  it.each(['member', 'viewer'] as const)('a %s invites nobody, and learns nothing of ways in', async (role) => {
    const [bo, caller] = [await added(), await join(service, ann, role)];
    expect(refused(await invite(caller.client, bo.id))).toEqual([403, 'role_not_allowed', null]);
    expect((await listMembers(caller.client)).map(({ access }) => access)).not.toContain('none');
  });

  it('a member of another workspace is nobody here: 404, and no word of its keys', async () => {
    const other = await makeOwner(service);
    const bo = await added(other);
    expect(refused(await invite(ann.client, bo.id))).toEqual([404, 'not_found', null]);
    // Keys elsewhere say nothing about this workspace.
    const guest = await makeMember(service);
    await add(ann.client, { email: guest.user.email, role: 'member' });
    const { browser, status } = await logIn((await invited(ann.client, guest.user.id)).code);
    expect(status).toBe(204);
    expect((await browser.get(WHO)).body).toMatchObject({ workspace: { id: ann.workspace.id } });
  });

  it('is in the audit log, and its code is stored nowhere', async () => {
    const bo = await added();
    const { code } = await invited(ann.client, bo.id);
    const asked = { headers: { 'Idempotency-Key': 'the-same' } };
    const one = await ann.client.post<Made>(`/v1/members/${bo.id}/invitation`, undefined, asked);
    const two = await ann.client.post<Made>(`/v1/members/${bo.id}/invitation`, undefined, asked);
    expect(two.body.invitation.code).not.toBe(one.body.invitation.code);
    expect((await acts(service, ann)).filter(({ action }) => action === 'member.invite').slice(-3)).toEqual(
      Array(3).fill(expect.objectContaining({ type: 'member', id: bo.id, outcome: 'done' })),
    );
    for (const text of [code, two.body.invitation.code]) expect(await tablesWith(service.db, text)).toEqual([]);
  });
});

describe('Where nobody can log in to the console', () => {
  it.each([
    [{ CONSOLE: 'off' }, 'CONSOLE=off'],
    [{ PUBLIC_URL: 'http://mill.example' }, 'PUBLIC_URL begins with http'],
  ])('%j: 409 console_not_available, and nothing is made', async (env, message) => {
    const service = await bootApp({ env });
    try {
      const ann = await makeOwner(service);
      const { body } = await add(ann.client, { email: 'bo@acme.example', role: 'member' });
      const answer = await invite(ann.client, body.member.id);
      expect(refused(answer)).toEqual([409, 'console_not_available', null]);
      expect(answer.body.error.message).toContain(message);
      expect(await service.db.query('SELECT 1 FROM api_keys WHERE user_id = $1', [body.member.id])).toEqual([]);
    } finally {
      await service.close();
    }
  });

  it('a service that does not know its own address gives the code alone', async () => {
    const service = await bootApp({ env: { HOST: '10.0.0.7' } });
    try {
      const ann = await makeOwner(service);
      const { body } = await add(ann.client, { email: 'bo@acme.example', role: 'member' });
      expect((await invited(ann.client, body.member.id)).url).toBeNull();
    } finally {
      await service.close();
    }
  });
});
