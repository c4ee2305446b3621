import { bootApp, useService } from '../harness/app.js';
import { ADA, MockProvider, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { makePerson, makeWorkspace, reasonIn, Traveller } from '../harness/sign-in.js';

let provider: MockProvider;
beforeAll(async () => {
  provider = await MockProvider.listen();
});
afterEach(() => provider.reset());
afterAll(() => provider.close());

describe('Sign-in by a provider (reference §31)', () => {
  const service = useService(() => bootApp({ env: SECRET_ENV, config: { signIn: signInBy(provider) } }));

  it('leads to the provider with PKCE, state and nonce, back to the callback, and into a session', async () => {
    await makeWorkspace(service, 'acme');
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
    const { body } = await traveller.who();
    expect(body).toMatchObject({
      user: { name: 'Ada Lovelace', email: 'ada@acme.example' },
      workspace: { slug: 'acme', role: 'member' },
      credential: { name: 'Console' },
    });
  });
});
void [ADA, makePerson, reasonIn];
