import { bootApp, type TestApp } from '../harness/app.js';
import { loggedIn, works } from '../harness/browser.js';
import { makeMember } from '../harness/client.js';
import { MockProvider, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { makeWorkspace, reasonIn, Traveller } from '../harness/sign-in.js';

let provider: MockProvider;
beforeAll(async () => {
  provider = await MockProvider.listen();
});
afterEach(() => provider.reset());
afterAll(() => provider.close());

describe('signIn of CONFIG_FILE', () => {
  it("with keys 'operators' has people sign in, and only the operator makes keys", async () => {
    const config = { signIn: signInBy(provider, { keys: 'operators' as const, sessionHours: 2 }) };
    const service: TestApp = await bootApp({ env: SECRET_ENV, config });
    try {
      await makeWorkspace(service, 'acme');
      const traveller = new Traveller(service);
      const answer = await traveller.signIn();
      expect(answer.headers.getSetCookie().join()).toContain('Max-Age=7200');
      const made = await traveller.go('/v1/keys', { method: 'POST', json: { name: 'k', scopes: ['tasks:read'] } });
      expect([made.status, ((await made.json()) as { error: { code: string } }).error.code]).toEqual([
        403,
        'role_not_allowed',
      ]);
      const member = await makeMember(service, { role: 'owner' });
      await expect(member.client.post(`/v1/keys/${member.key.id}/rotate`, {})).resolves.toMatchObject({ status: 403 });
      expect(await works(await loggedIn(service, member))).toBe(true);
    } finally {
      await service.close();
    }
  });

  it('keeps nobody from booting while the provider is away: health says so, keys work, and it is found again', async () => {
    const away = await MockProvider.listen();
    await away.close();
    const service = await bootApp({ env: SECRET_ENV, config: { signIn: signInBy(away) } });
    const health = async () => {
      const answer = await fetch(`${service.url}/health/ready`);
      return [answer.status, ((await answer.json()) as { checks: { signIn?: string } }).checks.signIn];
    };
    try {
      await makeWorkspace(service, 'acme');
      expect(await health()).toEqual([200, 'unavailable']);
      expect(reasonIn((await new Traveller(service).go('/console/sign-in')).headers.get('location'))).toBe(
        'unavailable',
      );
      const member = await makeMember(service);
      expect(await works(await loggedIn(service, member))).toBe(true);
      await away.reopen();
      expect((await new Traveller(service).signIn()).headers.get('location')).toBe('/console/');
      expect(await health()).toEqual([200, 'ok']);
    } finally {
      await service.close();
      await away.close();
    }
  });

  it('takes no provider that says that it is another one, or that names an address that is not safe', async () => {
    for (const metadata of [
      { issuer: 'http://127.0.0.1:1' },
      { token_endpoint: 'http://login.evil.example/token' },
      { jwks_uri: 'http://login.evil.example/jwks' },
      { userinfo_endpoint: 'http://login.evil.example/userinfo' },
      { end_session_endpoint: 'http://login.evil.example/end' },
      { authorization_endpoint: 'http://login.evil.example/authorize' },
      { jwks_uri: undefined },
    ]) {
      const liar = await MockProvider.listen();
      liar.metadata = metadata;
      const service = await bootApp({ env: SECRET_ENV, config: { signIn: signInBy(liar) } });
      try {
        const answer = await new Traveller(service).go('/console/sign-in');
        expect([metadata, reasonIn(answer.headers.get('location'))]).toEqual([metadata, 'unavailable']);
      } finally {
        await service.close();
        await liar.close();
      }
    }
  });

  it('is not there without it: no path, no line of health', async () => {
    const service = await bootApp();
    try {
      const traveller = new Traveller(service);
      const answer = await traveller.go('/console/sign-in');
      expect([200, 404]).toContain(answer.status);
      expect(answer.headers.get('location')).toBeNull();
      const ready = (await (await fetch(`${service.url}/health/ready`)).json()) as { checks: object };
      expect(ready.checks).not.toHaveProperty('signIn');
    } finally {
      await service.close();
    }
  });
});

describe('A sign-in that is refused', () => {
  it('counts as a failed authentication: one address cannot go on for ever', async () => {
    const narrow = await bootApp({
      env: { ...SECRET_ENV, AUTH_FAILURES_PER_MINUTE: '2' },
      config: { signIn: signInBy(provider) },
    });
    try {
      const reasons: (string | null)[] = [];
      for (let n = 0; n < 3; n += 1)
        reasons.push(reasonIn((await new Traveller(narrow).go('/console/sign-in/callback')).headers.get('location')));
      expect(reasons).toEqual(['expired', 'expired', 'too_many']);
    } finally {
      await narrow.close();
    }
  });
});
