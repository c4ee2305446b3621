import { request } from 'node:http';
import { EndedSessions } from '../../src/surfaces/console/ended-sessions.js';
import { bootApp, useService } from '../harness/app.js';
import { loggedIn, works } from '../harness/browser.js';
import { makeMember } from '../harness/client.js';
import { ADA, MockProvider, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { Operator } from '../harness/operator.js';
import { makeWorkspace, reasonIn, Traveller } from '../harness/sign-in.js';

const RULES = [
  { slug: 'acme', when: { groups: ['admins'] }, role: 'admin' as const },
  { slug: 'acme', when: { groups: ['eng'] }, role: 'member' as const },
];

let provider: MockProvider;
beforeAll(async () => {
  provider = await MockProvider.listen();
});
afterEach(() => provider.reset());
afterAll(() => provider.close());

/** Somebody of the provider whom no other test knows. */
let count = 0;
function somebody(more: object = {}): { sub: string; email: string } {
  count += 1;
  const person = { ...ADA, sub: `person-${count}`, email: `person-${count}@acme.example`, ...more };
  provider.claims = person;
  return person;
}

describe('A session that a provider has signed in (reference §31)', () => {
  const service = useService(() =>
    bootApp({ env: SECRET_ENV, config: { signIn: signInBy(provider, { workspaces: RULES }) } }),
  );
  let acme: string;
  let operator: Operator;
  beforeAll(async () => {
    acme = await makeWorkspace(service, 'acme');
    operator = new Operator(service);
  });

  async function enters(): Promise<Traveller> {
    const traveller = new Traveller(service);
    expect(reasonIn((await traveller.signIn()).headers.get('location'))).toBeNull();
    return traveller;
  }

  describe('acts through a key of its own', () => {
    it('of all scopes, which ends with the session', async () => {
      somebody();
      const { scopes, credential } = (await (await enters()).who()).body;
      const own = await makeMember(service, { role: 'owner' });
      const all = await own.client.get<{ scopes: string[] }>('/v1/auth/context');
      expect([...scopes].sort()).toEqual([...all.body.scopes].sort());
      const [row] = await service.db.query<{ apart: number }>(
        'SELECT abs(extract(epoch FROM k.expires_at - s.expires_at)) AS apart FROM api_keys k JOIN console_sessions s ON s.key_id = k.id WHERE k.id = $1',
        [credential.id],
      );
      expect(Number(row?.apart)).toBeLessThan(60);
    });

    it('that no list shows, and that nobody rotates or deletes', async () => {
      somebody();
      const traveller = await enters();
      const { credential } = (await traveller.who()).body;
      expect(await (await traveller.go('/v1/keys')).json()).toEqual({ keys: [] });
      expect((await traveller.go(`/v1/keys/${credential.id}`, { method: 'DELETE' })).status).toBe(404);
      expect((await traveller.go(`/v1/keys/${credential.id}/rotate`, { method: 'POST', json: {} })).status).toBe(404);
      const listed = await operator.run('key', 'list', '--workspace', 'acme');
      expect(JSON.stringify(listed)).not.toContain(credential.id);
    });

    it('that counts in none: with fifty keys one signs in, and with many sessions one makes keys', async () => {
      const { email } = somebody();
      const traveller = await enters();
      const { user } = (await traveller.who()).body;
      await service.db.query(
        `INSERT INTO api_keys (id, workspace_id, user_id, name, prefix, digest, scopes)
         SELECT gen_random_uuid(), $1, $2, 'n', 'mw_pk_x', decode(md5(n::text || $3), 'hex'), '{}' FROM generate_series(1, 49) n`,
        [acme, user.id, email],
      );
      await enters();
      const make = () => traveller.go('/v1/keys', { method: 'POST', json: { name: 'n', scopes: ['tasks:read'] } });
      expect([(await make()).status, (await make()).status]).toEqual([201, 409]);
      await enters();
    });

    it('and makes keys that end with it at the latest, by the rule of every key', async () => {
      somebody();
      const traveller = await enters();
      const { credential } = (await traveller.who()).body;
      const make = (expiresAt?: string | null) =>
        traveller.go('/v1/keys', { method: 'POST', json: { name: 'n', scopes: ['tasks:read'], expiresAt } });
      expect((await make(null)).status).toBe(400);
      const { key } = (await (await make()).json()) as { key: { expiresAt: string } };
      expect(key.expiresAt).toBe(credential.expiresAt);
    });

    it('which is revoked at the sign-out: the cookie and the key are worth nothing, and the provider is told', async () => {
      somebody();
      const traveller = await enters();
      const { credential } = (await traveller.who()).body;
      const thief = Object.assign(new Traveller(service), { cookies: new Map(traveller.cookies) });
      const answer = await traveller.go('/console/session', { method: 'DELETE' });
      const { logoutUrl } = (await answer.json()) as { logoutUrl: string };
      const url = new URL(logoutUrl);
      expect([url.origin, url.pathname]).toEqual([provider.url, '/endsession']);
      expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${service.url}/console/`);
      expect(url.searchParams.get('id_token_hint')?.split('.')).toHaveLength(3);
      expect((await thief.who()).status).toBe(401);
      const [key] = await service.db.query<{ revoked: boolean }>(
        'SELECT revoked_at IS NOT NULL AS revoked FROM api_keys WHERE id = $1',
        [credential.id],
      );
      expect(key?.revoked).toBe(true);
      expect((await traveller.go('/console/session', { method: 'DELETE' })).status).toBe(204);
    });

    it('of which the database has neither the secret nor what the provider has said', async () => {
      const { email } = somebody();
      await enters();
      const rows = await service.db.query<{ id_token: Buffer }>(
        'SELECT id_token FROM console_sessions WHERE id_token IS NOT NULL',
      );
      const all = rows.map(({ id_token }) => id_token.toString('latin1')).join();
      expect(all).not.toMatch(/eyJ/);
      expect(all).not.toContain(email);
    });

    it('which is deleted a day after its end', async () => {
      somebody();
      const { credential } = (await (await enters()).who()).body;
      await service.db.query(`UPDATE api_keys SET expires_at = now() - interval '25 hours' WHERE id = $1`, [
        credential.id,
      ]);
      await service.app.get(EndedSessions, { strict: false }).forget();
      expect(await service.db.query('SELECT 1 FROM api_keys WHERE id = $1', [credential.id])).toEqual([]);
    });
  });

  it('ends the session that the browser had', async () => {
    somebody();
    const traveller = await enters();
    const old = Object.assign(new Traveller(service), { cookies: new Map(traveller.cookies) });
    await traveller.signIn();
    expect([(await old.who()).status, (await traveller.who()).status]).toEqual([401, 200]);
  });

  it('leaves log-ins with a key as they are', async () => {
    const member = await makeMember(service);
    const browser = await loggedIn(service, member);
    expect(await works(browser)).toBe(true);
    expect((await browser.logOut()).status).toBe(204);
  });

  it('offers nobody an invitation who signs in', async () => {
    somebody();
    const { user } = (await (await enters()).who()).body;
    somebody({ groups: ['admins'] });
    const answer = await (await enters()).go(`/v1/members/${user.id}/invitation`, { method: 'POST' });
    expect(((await answer.json()) as { error: { code: string } }).error.code).toBe('member_has_keys');
  });

  it('is refused by http at a name that is not this machine, and where PUBLIC_URL is not set', async () => {
    const location = await new Promise<string | undefined>((resolve, reject) => {
      const options = { headers: { Host: 'millwright.example' } };
      const sent = request(`${service.url}/console/sign-in`, options, (answer) =>
        resolve(answer.resume().headers.location),
      );
      sent.on('error', reject).end();
    });
    expect(reasonIn(location ?? null)).toBe('unsafe');
  });
});
