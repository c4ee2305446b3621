// Providers lie, others stand in the way, and browsers send what nobody gave them: each is refused, and leaves nothing.
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { bootApp, type TestApp } from '../harness/app.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { ADA, CLIENT, MockProvider, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { madeIn, makePerson, makeWorkspace, reasonIn, Traveller } from '../harness/sign-in.js';

type Claims = Record<string, unknown>;
/** What happens between the provider's page and the callback: resolves with the address that the browser goes to. */
type Way = (traveller: Traveller, back: URL) => URL | Promise<URL>;
interface Lie {
  reason: string;
  /** Set before the browser goes to the provider. */
  provider?: (provider: MockProvider) => void;
  way?: Way;
}

const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
const payloadOf = (token: unknown) =>
  JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString()) as Claims;
const headerOf = (token: unknown) =>
  JSON.parse(Buffer.from(String(token).split('.')[0] ?? '', 'base64url').toString()) as Claims;
const strange = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** A token with this header and the claims of a real one, signed by `signed`. */
function forged(token: unknown, header: object, signed: (text: string) => string, claims: Claims = {}): string {
  const text = `${part(header)}.${part({ ...payloadOf(token), ...claims })}`;
  return `${text}.${signed(text)}`;
}
const byStranger = (text: string) => sign('RSA-SHA256', Buffer.from(text), strange.privateKey).toString('base64url');
const byMac = (key: string) => (text: string) => createHmac('sha256', key).update(text).digest('base64url');

const lies = (lie: (payload: Claims) => unknown, reason = 'invalid'): Lie => ({
  reason,
  provider: (it) => (it.lie = lie),
});
const token = (make: (token: unknown, nonce: string) => unknown): Lie => ({
  reason: 'invalid',
  provider: (it) => (it.tamper = (body, nonce) => (body['id_token'] = make(body['id_token'], nonce))),
});
const says = (claims: Claims, reason: string): Lie => ({
  reason,
  provider: (it) => (it.claims = { ...ADA, ...claims }),
});
const on = (way: Way, reason = 'invalid'): Lie => ({ reason, way });
const set =
  (name: string, value: string | null): Way =>
  (_traveller, back) => {
    if (value === null) back.searchParams.delete(name);
    else back.searchParams.set(name, value);
    return back;
  };
const now = () => Math.floor(Date.now() / 1000);
const edited = (value: string, change: object) =>
  part({ ...(JSON.parse(Buffer.from(value, 'base64url').toString()) as object), ...change });
const editCookie =
  (change: object): Way =>
  (traveller, back) => {
    for (const [name, value] of traveller.cookies)
      if (name.endsWith('_sign_in')) traveller.cookies.set(name, edited(value, change));
    return back;
  };

let other: MockProvider;
let provider: MockProvider;
let db: TestDatabase;
let service: TestApp;
let elsewhere: TestApp;
beforeAll(async () => {
  [provider, other] = [await MockProvider.listen(), await MockProvider.listen()];
  db = await createDatabase();
  service = await bootApp({ db, env: SECRET_ENV, config: { signIn: signInBy(provider) } });
  elsewhere = await bootApp({ db, env: SECRET_ENV, config: { signIn: signInBy(other) } });
  const acme = await makeWorkspace(service, 'acme');
  await makeWorkspace(service, 'beta');
  await makePerson(service, 'kim@acme.example', acme, 'owner');
  // Somebody whom the provider has signed in before.
  provider.claims = { ...ADA, sub: 'bob-1', email: 'bob@acme.example' };
  expect((await new Traveller(service).signIn()).headers.get('location')).toBe('/console/');
  // The first of two tokens of one person.
  provider.reset();
}, 120_000);
afterEach(() => {
  provider.reset();
  other.reset();
});
afterAll(async () => {
  for (const one of [elsewhere, service]) await one?.close();
  await db?.drop();
  for (const one of [provider, other]) await one?.close();
});

const LIES: Record<string, Lie> = {
  'a token of another issuer': lies((it) => (it['iss'] = 'https://login.evil.example')),
  'a token whose issuer differs by a slash': lies((it) => (it['iss'] = `${String(it['iss'])}/`)),
  'a token without an issuer': lies((it) => delete it['iss']),
  'a token for another client': lies((it) => (it['aud'] = 'another-client')),
  'a token for nobody': lies((it) => delete it['aud']),
  'a token for several clients that another one has asked for': lies((it) =>
    Object.assign(it, { aud: [CLIENT.id, 'b'], azp: 'b' }),
  ),
  'a token for several clients that does not say who has asked': lies((it) => (it['aud'] = [CLIENT.id, 'b'])),
  'a token with the nonce of another sign-in': lies((it) => (it['nonce'] = 'another-one')),
  'a token without a nonce': lies((it) => delete it['nonce']),
  'a token that has expired': lies((it) =>
    Object.assign(it, { iat: now() - 7200, exp: now() - 3600, nbf: now() - 7200 }),
  ),
  'a token that never expires': lies((it) => delete it['exp']),
  'a token whose end is no time': lies((it) => (it['exp'] = 'never')),
  'a token that says not when it was made': lies((it) => delete it['iat']),
  'a token that is not valid yet': lies((it) => (it['nbf'] = now() + 3600)),
  'a token of nobody': lies((it) => delete it['sub']),
  'a token of somebody without a name': lies((it) => (it['sub'] = '')),
  'a token of somebody whose name is a page long': lies((it) => (it['sub'] = 'a'.repeat(256))),
  'a token of somebody whose name no database can hold': lies((it) => (it['sub'] = 'ada-1\u0000')),
  'a token of a number': lies((it) => (it['sub'] = 17)),
  'a token without a signature, alg none': token((it) => forged(it, { alg: 'none', typ: 'JWT' }, () => '')),
  'a token of alg none that keeps a signature': token((it) => forged(it, { alg: 'none' }, byStranger)),
  "a token signed with the client's own secret": token((it) => forged(it, { alg: 'HS256' }, byMac(CLIENT.secret))),
  'a token signed with the public key as a secret': token((it) =>
    forged(it, { ...headerOf(it), alg: 'HS256' }, byMac(JSON.stringify(provider.issuer.keys.toJSON()[0]))),
  ),
  'a token signed by a stranger under the name of a known key': token((it) => forged(it, headerOf(it), byStranger)),
  'a token signed by a key that the provider does not have': token((it) =>
    forged(it, { alg: 'RS256', kid: 'mine' }, byStranger),
  ),
  'a token that carries its own key': token((it) =>
    forged(it, { alg: 'RS256', jwk: strange.publicKey.export({ format: 'jwk' }) }, byStranger),
  ),
  'a token whose claims were changed after it was signed': token((it) => {
    const [head, , tail] = String(it).split('.');
    return `${head}.${part({ ...payloadOf(it), groups: ['eng', 'admins'] })}.${tail}`;
  }),
  'an answer without a token': token(() => undefined),
  'an answer with something that is no token': token(() => 'not a token'),
  'an answer that is another type of token': {
    reason: 'invalid',
    provider: (it) => (it.tamper = (body) => (body['token_type'] = 'mac')),
  },
  'a token of an earlier sign-in of the same person': {
    reason: 'invalid',
    provider: (it) => {
      let first: unknown;
      it.tamper = (body) => (first === undefined ? (first = body['id_token']) : (body['id_token'] = first));
    },
    way: async (traveller, back) => {
      // The first one goes to a service that is not ours, so that nothing is made by it.
      const body = new URLSearchParams({ grant_type: 'authorization_code', code: 'x', client_id: CLIENT.id });
      await fetch(`${provider.url}/token`, { method: 'POST', body });
      return back;
    },
  },
  'the state of another browser': on(async (_traveller, back) => {
    const stranger = await new Traveller(service).begin();
    back.searchParams.set('state', stranger.searchParams.get('state') ?? '');
    return back;
  }),
  'no state': on(set('state', null)),
  'an empty state': on(set('state', '')),
  'two states': on((_traveller, back) => {
    back.searchParams.append('state', 'another');
    return back;
  }),
  'the code of another browser': on(async (_traveller, back) => {
    const stranger = new Traveller(service);
    const its = await stranger.visit(await stranger.begin());
    back.searchParams.set('code', its.searchParams.get('code') ?? '');
    return back;
  }),
  'a code that the provider never gave': on(set('code', 'a-guess')),
  'no code': on(set('code', null)),
  'a code that was used': on(async (_traveller, back) => {
    const body = {
      grant_type: 'authorization_code',
      code: back.searchParams.get('code') ?? '',
      code_verifier: 'x'.repeat(43),
      client_id: CLIENT.id,
    };
    await fetch(`${provider.url}/token`, { method: 'POST', body: new URLSearchParams(body) });
    return back;
  }),
  'an answer that says that another provider has sent it': on(set('iss', 'https://login.evil.example')),
  'an answer of a second provider, to a sign-in that the first one began': on(async (_traveller, back) => {
    const stranger = new Traveller(elsewhere);
    const its = await stranger.visit(await stranger.begin());
    back.searchParams.set('code', its.searchParams.get('code') ?? '');
    back.searchParams.set('iss', other.url);
    return back;
  }),
  'a code of a second provider under the state of the first': on(async (_traveller, back) => {
    const stranger = new Traveller(elsewhere);
    const its = await stranger.visit(await stranger.begin());
    back.searchParams.set('code', its.searchParams.get('code') ?? '');
    return back;
  }),
  'a token in the address': on(set('id_token', 'x.y.z')),
  'the whole answer as a token in the address': on(set('response', 'x.y.z')),
  'no sign-in that this browser has begun': on((traveller, back) => {
    traveller.cookies.clear();
    return back;
  }, 'expired'),
  'a sign-in that was begun long ago': on(editCookie({ ends: now() - 1 }), 'expired'),
  'a sign-in whose time the browser has made longer': on(editCookie({ ends: now() + 86_400 })),
  'a sign-in whose page the browser has changed': on(editCookie({ page: 'https://evil.example/' })),
  'a sign-in whose workspace the browser has changed': on(editCookie({ workspace: 'beta' })),
  'a sign-in that is no JSON': on((traveller, back) => {
    for (const name of traveller.cookies.keys()) traveller.cookies.set(name, 'bm90IEpTT04');
    return back;
  }, 'expired'),
  'a person who says no': on(set('error', 'access_denied'), 'cancelled'),
  'an error with a code beside it': on(set('error', 'server_error'), 'cancelled'),
  'a provider that fails at the last step': { reason: 'unavailable', provider: (it) => (it.tokenStatus = 503) },
  'a provider that refuses the code': { reason: 'invalid', provider: (it) => (it.tokenStatus = 400) },
  'an address that is not verified': says({ email_verified: false }, 'unverified'),
  'an address of which nothing is said': says({ email_verified: undefined }, 'unverified'),
  'an address that is verified in words': says({ email_verified: 'true' }, 'unverified'),
  'an address that is no address': says({ email: 'ada' }, 'unverified'),
  'an address that is several': says({ email: ['ada@acme.example', 'kim@acme.example'] }, 'unverified'),
  "somebody else's account, by an address that is not verified": says(
    { email: 'kim@acme.example', email_verified: false },
    'unverified',
  ),
  "somebody else's account, by letters that look alike": says({ email: '\u212aim@acme.example' }, 'address_taken'),
  'a second person with the address of one who signs in': says({ email: 'bob@acme.example' }, 'address_taken'),
  'a second person with that address in capitals': says({ email: 'BOB@ACME.example' }, 'address_taken'),
  'somebody whom no rule lets in': says({ groups: ['sales'] }, 'no_workspace'),
  'somebody whose group only begins like one that is let in': says({ groups: ['eng2', 'en', 'ENG'] }, 'no_workspace'),
  'groups that the token leaves out, because there are too many': {
    reason: 'invalid',
    provider: (it) => (it.claims = { ...ADA, groups: undefined, _claim_names: { groups: 'src1' } }),
  },
  'groups in one text, of which one would be let in': says({ groups: 'sales,eng' }, 'no_workspace'),
  'no address in the token, and one of somebody else asked for': {
    reason: 'invalid',
    provider: (it) => {
      it.claims = { ...ADA, email: undefined };
      it.userinfo = { sub: 'bob-1', email: 'ada@acme.example', email_verified: true };
    },
  },
  'an address in the token whose verification comes from elsewhere': {
    reason: 'unverified',
    provider: (it) => {
      it.claims = { ...ADA, email_verified: undefined, groups: undefined };
      it.userinfo = { email_verified: true, groups: ['eng'] };
    },
  },
};

describe('An answer that is not in order (reference §31)', () => {
  it.each(Object.entries(LIES))('is refused, and nothing is made: %s', async (_name, lie) => {
    const traveller = new Traveller(service);
    const there = await traveller.begin();
    const before = await madeIn(service);
    lie.provider?.(provider);
    const back = await traveller.visit(there);
    const { pathname, search } = (await lie.way?.(traveller, back)) ?? back;
    const answer = await traveller.go(pathname + search);
    expect([answer.status, reasonIn(answer.headers.get('location'))]).toEqual([303, lie.reason]);
    expect(answer.headers.get('location')).toMatch(/^\/console\/#/);
    expect(traveller.session).toBeNull();
    expect((await traveller.who()).status).toBe(401);
    expect(await madeIn(service)).toEqual(before);
  });

  it('is told from one that is in order: the same person gets in when nothing is wrong', async () => {
    const traveller = new Traveller(service);
    expect((await traveller.signIn()).headers.get('location')).toBe('/console/');
    expect((await traveller.who()).body.user.email).toBe('ada@acme.example');
  });

  it('of a sign-in that was begun with another provider is refused', async () => {
    const traveller = new Traveller(service);
    const back = await traveller.visit(await traveller.begin());
    const before = await madeIn(service);
    // The same browser comes to a process whose CONFIG_FILE names the other provider.
    const moved = Object.assign(new Traveller(elsewhere), { cookies: traveller.cookies });
    const answer = await moved.go(back.pathname + back.search);
    expect(reasonIn(answer.headers.get('location'))).toBe('expired');
    expect(await madeIn(service)).toEqual(before);
  });

  it('is refused where the provider has promised to say who it is, and does not', async () => {
    const silent = await MockProvider.listen();
    silent.metadata = { authorization_response_iss_parameter_supported: true };
    const asks = await bootApp({ db, env: SECRET_ENV, config: { signIn: signInBy(silent) } });
    try {
      const answer = await new Traveller(asks).signIn();
      expect(reasonIn(answer.headers.get('location'))).toBe('invalid');
    } finally {
      await asks.close();
      await silent.close();
    }
  });
});
