import { bootApp, useService } from '../harness/app.js';
import { ADA, MockProvider, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { Operator } from '../harness/operator.js';
import { madeIn, makePerson, makeWorkspace, reasonIn, Traveller } from '../harness/sign-in.js';

const RULES = [
  { slug: 'acme', when: { groups: ['admins'] }, role: 'admin' as const },
  { slug: 'acme', when: { groups: ['eng', 'ops'] }, role: 'member' as const },
  { slug: 'acme', when: { emailDomains: ['Partner.example'] }, role: 'viewer' as const },
  { slug: 'beta', when: { groups: ['eng'] }, role: 'viewer' as const },
  { slug: 'not-there', when: { groups: ['eng'] }, role: 'admin' as const },
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

describe('Sign-in by a provider (reference §31)', () => {
  const service = useService(() =>
    bootApp({ env: SECRET_ENV, config: { signIn: signInBy(provider, { workspaces: RULES }) } }),
  );
  let acme: string;
  let operator: Operator;
  beforeAll(async () => {
    acme = await makeWorkspace(service, 'acme');
    await makeWorkspace(service, 'beta');
    operator = new Operator(service);
  });

  async function enters(query = ''): Promise<Traveller> {
    const traveller = new Traveller(service);
    expect(reasonIn((await traveller.signIn(query)).headers.get('location'))).toBeNull();
    return traveller;
  }
  async function refused(query = ''): Promise<string | null> {
    return reasonIn((await new Traveller(service).signIn(query)).headers.get('location'));
  }
  const roleIn = async (userId: string, slug: string): Promise<string | undefined> => {
    const [row] = await service.db.query<{ role: string }>(
      'SELECT role FROM memberships JOIN workspaces w ON w.id = workspace_id WHERE user_id = $1 AND slug = $2',
      [userId, slug],
    );
    return row?.role;
  };

  it('leads to the provider with PKCE, state and nonce, back to the callback, and into a session', async () => {
    const traveller = new Traveller(service);
    const there = await traveller.begin('?return=/console/settings');
    expect(there.origin).toBe(provider.url);
    expect(Object.fromEntries(there.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'millwright',
      redirect_uri: `${service.url}/console/sign-in/callback`,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      state: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
    });
    const back = await traveller.visit(there);
    const answer = await traveller.go(back.pathname + back.search);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console/settings']);
    const cookies = answer.headers.getSetCookie();
    expect(
      cookies.some((one) => /^millwright_\w+=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/.test(one)),
    ).toBe(true);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { body } = await traveller.who();
    expect(body).toMatchObject({
      user: { name: 'Ada Lovelace', email: 'ada@acme.example' },
      workspace: { slug: 'acme', role: 'member' },
      credential: { name: 'Console' },
    });
  });

  describe('finds the account', () => {
    it('by issuer and subject: another address and another name are the same person', async () => {
      const { sub } = somebody();
      const first = await (await enters()).who();
      somebody({ sub, name: 'Ada King' });
      expect((await (await enters()).who()).body.user.id).toBe(first.body.user.id);
    });

    it('that the operator has made, by its verified address, at the first sign-in', async () => {
      const { email } = somebody();
      const id = await makePerson(service, email.toUpperCase().replace('@ACME', '@Acme'), acme, 'owner');
      const { body } = await (await enters()).who();
      expect([body.user.id, body.workspace.role]).toEqual([id, 'owner']);
    });

    it('never by an address that is not verified', async () => {
      const { email } = somebody({ email_verified: false });
      await makePerson(service, email, acme, 'owner');
      const before = await madeIn(service);
      expect(await refused()).toBe('unverified');
      expect(await madeIn(service)).toEqual(before);
    });

    it('by an address whose domain Entra has verified, where it says nothing else', async () => {
      somebody({ email_verified: undefined, xms_edov: true });
      expect((await (await enters()).who()).status).toBe(200);
      somebody({ email_verified: false, xms_edov: true });
      expect(await refused()).toBe('unverified');
    });

    it('by an address and groups that only the userinfo endpoint has', async () => {
      const { email } = somebody();
      provider.userinfo = { email, email_verified: true, groups: ['admins'] };
      provider.claims = { ...provider.claims, email: undefined, email_verified: undefined, groups: undefined };
      expect((await (await enters()).who()).body).toMatchObject({ user: { email }, workspace: { role: 'admin' } });
    });

    it('once, of two browsers that bring the same person at the same moment', async () => {
      const { email } = somebody();
      const answers = await Promise.all(Array.from({ length: 6 }, () => new Traveller(service).signIn()));
      expect(answers.map((one) => one.headers.get('location'))).toEqual(Array(6).fill('/console/'));
      expect(await service.db.query('SELECT 1 FROM users WHERE email = $1', [email])).toHaveLength(1);
    });

    it('no more once it was deleted: the person begins anew, with nothing of before', async () => {
      const { email } = somebody();
      const first = await (await enters()).who();
      await operator.run('user', 'delete', '--user', email, '--yes');
      const second = await (await enters()).who();
      expect(second.body.user.id).not.toBe(first.body.user.id);
    });
  });

  describe('has memberships follow the rules', () => {
    it('the first that matches, for each workspace', async () => {
      somebody({ groups: ['eng', 'admins'] });
      const { user } = (await (await enters()).who()).body;
      expect([await roleIn(user.id, 'acme'), await roleIn(user.id, 'beta')]).toEqual(['admin', 'viewer']);
    });

    it('by the domain of the address, whatever its capitals, and not by the end of another one', async () => {
      somebody({ groups: [], email: 'x@PARTNER.example' });
      expect((await (await enters()).who()).body.workspace.role).toBe('viewer');
      somebody({ groups: [], email: 'x@evil-partner.example' });
      expect(await refused()).toBe('no_workspace');
      somebody({ groups: [], email: 'x@sub.partner.example' });
      expect(await refused()).toBe('no_workspace');
    });

    it('at each sign-in: a role is raised and lowered, and a membership ends with its keys', async () => {
      const { sub, email } = somebody({ groups: ['admins'] });
      const first = await enters();
      const { user } = (await first.who()).body;
      const made = await first.go('/v1/keys', { method: 'POST', json: { name: 'k', scopes: ['tasks:read'] } });
      expect(made.status).toBe(201);
      const { secret } = (await made.json()) as { secret: string };
      somebody({ sub, email, groups: ['eng'] });
      await enters();
      expect([await roleIn(user.id, 'acme'), await roleIn(user.id, 'beta')]).toEqual(['member', 'viewer']);
      somebody({ sub, email, groups: [] });
      expect(await refused()).toBe('no_workspace');
      expect([await roleIn(user.id, 'acme'), await roleIn(user.id, 'beta')]).toEqual([undefined, undefined]);
      expect((await first.who()).status).toBe(401);
      const byKey = await fetch(`${service.url}/v1/auth/context`, { headers: { Authorization: `Bearer ${secret}` } });
      expect(byKey.status).toBe(401);
    });

    it('and never lowers or removes what the operator has given; what a rule has raised goes with the rule', async () => {
      const { sub, email } = somebody({ groups: ['admins'] });
      const id = await makePerson(service, email, acme, 'viewer');
      await enters();
      expect(await roleIn(id, 'acme')).toBe('admin');
      somebody({ sub, email, groups: [] });
      await enters();
      expect(await roleIn(id, 'acme')).toBe('viewer');
      const owner = somebody({ groups: ['eng'] });
      const ownerId = await makePerson(service, owner.email, acme, 'owner');
      await enters();
      expect(await roleIn(ownerId, 'acme')).toBe('owner');
    });

    it('but keeps what an owner or admin has made of somebody since', async () => {
      const { sub, email } = somebody();
      const { user } = (await (await enters()).who()).body;
      somebody({ groups: ['admins'] });
      const admin = await enters();
      const changed = await admin.go(`/v1/members/${user.id}`, { method: 'PATCH', json: { role: 'admin' } });
      expect(changed.status).toBe(200);
      somebody({ sub, email, groups: [] });
      await enters();
      expect(await roleIn(user.id, 'acme')).toBe('admin');
    });

    it('and never makes an owner: such a rule stops the boot', async () => {
      const rule = [{ slug: 'acme', when: { groups: ['eng'] }, role: 'owner' as never }];
      await expect(bootApp({ config: { signIn: signInBy(provider, { workspaces: rule }) } })).rejects.toThrow(
        /one of admin, member, viewer/,
      );
    });

    it('with an entry of the audit log for each change', async () => {
      somebody();
      const { user } = (await (await enters()).who()).body;
      const acts = await service.db.query<{ action: string }>('SELECT action FROM audit_log WHERE actor_id = $1', [
        user.id,
      ]);
      expect(acts.map(({ action }) => action).sort()).toEqual(
        ['console.login', 'member.add', 'member.add', 'user.create', 'user.link'].sort(),
      );
    });
  });

  it('enters the workspace that is asked for, and only where the person is a member', async () => {
    somebody();
    expect((await (await enters('?workspace=beta')).who()).body.workspace.slug).toBe('beta');
    const before = await service.db.query('SELECT 1 FROM users');
    somebody({ groups: ['admins'] });
    expect(await refused('?workspace=beta')).toBe('no_workspace');
    expect(await service.db.query('SELECT 1 FROM users')).toHaveLength(before.length);
  });
});
