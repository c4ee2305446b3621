import { masked } from './mask.mjs';
import { Refusal } from './refusal.mjs';
import { Vault, type HeaderPlace, type VaultBinding, type VaultSecret } from './vault.mjs';

const TOKEN = `mwsec_${'T'.repeat(24)}`;
const KEY = `mwsec_${'K'.repeat(24)}`;
const GONE = `mwsec_${'G'.repeat(24)}`;
const header = (name: string, form: HeaderPlace['form'], user: string | null = null): HeaderPlace => ({ header: name, form, user }); // prettier-ignore
const bound = (host: string, place: VaultBinding['place'], more: Partial<VaultBinding> = {}): VaultBinding => ({
  ...{ host, port: 443, methods: null, paths: null, place },
  ...more,
});
const secrets: VaultSecret[] = [
  {
    ...{ name: 'TOKEN', placeholder: TOKEN, value: 'value-of-token', approved: true },
    bindings: [
      bound('api.test', header('Authorization', 'bearer')),
      bound('git.test', header('Authorization', 'basic')),
      bound('hub.test', header('Authorization', 'basic', 'x-access-token')),
      bound('*.wild.test', header('Authorization', 'token')),
      bound('odd.test', header('X-Api-Key', 'raw'), { port: 8443 }),
      bound('some.test', header('X-Api-Key', 'raw'), {
        methods: ['GET'],
        paths: ['/repos/*/a', '/all/**', '/x*/**/z'],
      }),
    ],
  },
  { name: 'KEY', placeholder: KEY, value: 'k&=/ y', approved: true, bindings: [bound('query.test', { query: 'key' })] },
  {
    ...{ name: 'GONE', placeholder: GONE, value: null, approved: true },
    bindings: [bound('api.test', header('Authorization', 'bearer'))],
  },
];
const vault = new Vault(secrets);
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const ask = (host: string, headers: string[], { target = '/', method = 'GET', port = 443 } = {}) =>
  vault.put({ host, port, method, target, headers });
const refusal = (act: () => unknown) => {
  try {
    act();
  } catch (error) {
    if (error instanceof Refusal) return [error.status, error.code, error.message];
    throw error;
  }
  return null;
};

describe('A value is put into a request', () => {
  it('in the header that a binding names, in its form', () => {
    expect(ask('api.test', ['accept', '*/*', 'authorization', `bearer ${TOKEN}`])).toEqual({
      ...{ target: '/', used: ['TOKEN'] },
      headers: ['accept', '*/*', 'authorization', 'Bearer value-of-token'],
    });
    const put = (host: string, text: string) => ask(host, ['Authorization', text]).headers[1];
    expect(put('git.test', basic(`me:${TOKEN}`))).toBe(basic('me:value-of-token'));
    expect(put('git.test', basic(`${TOKEN}:`))).toBe(basic('value-of-token:'));
    expect(put('git.test', basic(`${TOKEN}:x-oauth-basic`))).toBe(basic('value-of-token:x-oauth-basic'));
    expect(put('hub.test', basic(`anyone:${TOKEN}`))).toBe(basic('x-access-token:value-of-token'));
    expect(put('hub.test', basic(`${TOKEN}:`))).toBe(basic('x-access-token:value-of-token'));
    expect(put('a.wild.test', `token ${TOKEN}`)).toBe('token value-of-token');
    expect(ask('odd.test', ['X-API-KEY', TOKEN], { port: 8443 }).headers[1]).toBe('value-of-token');
  });

  it('in a field of the query that a binding names', () => {
    expect(ask('query.test', [], { target: `/p?a=b&key=${KEY}&c` })).toEqual({
      ...{ headers: [], used: ['KEY'] },
      target: `/p?a=b&key=${encodeURIComponent('k&=/ y')}&c`,
    });
    expect(ask('query.test', [], { target: '/p?a=b+c&d=%zz' }).target).toBe('/p?a=b+c&d=%zz');
  });

  it.each([
    ['a form of another kind', 'api.test', ['Authorization', basic(`u:${TOKEN}`)], {}, "as 'Bearer …'"],
    ['a header that is not named', 'api.test', ['X-Other', TOKEN], {}, 'the header X-Other'],
    ['a name of a header', 'api.test', [TOKEN, 'x'], {}, 'the header mwsec_'],
    ['more than the placeholder', 'api.test', ['Authorization', `Bearer ${TOKEN} more`], {}, "as 'Bearer …'"],
    [
      'a header that is there twice',
      'api.test',
      ['authorization', `Bearer ${TOKEN}`, 'Authorization', 'x'],
      {},
      '2 times',
    ],
    ['the path', 'api.test', [], { target: `/${TOKEN}` }, 'an address'],
    ['a path that is encoded', 'api.test', [], { target: `/%6d${TOKEN.slice(1)}` }, 'an address'],
    ['a path that is encoded twice', 'api.test', [], { target: `/%256d${TOKEN.slice(1)}` }, 'an address'],
    ['another field of a query', 'query.test', [], { target: `/?other=${KEY}` }, 'an address'],
    ['a part of a field', 'query.test', [], { target: `/?key=x${KEY}` }, 'an address'],
    ['a name of a field', 'query.test', [], { target: `/?${KEY}=key` }, 'an address'],
    ['another secret’s field', 'query.test', [], { target: `/?key=${TOKEN}` }, 'an address'],
    ['another port', 'odd.test', ['X-Api-Key', TOKEN], {}, 'the header X-Api-Key'],
    ['two labels for a star', 'a.b.wild.test', ['Authorization', `token ${TOKEN}`], {}, 'the header Authorization'],
    ['no label for a star', 'wild.test', ['Authorization', `token ${TOKEN}`], {}, 'the header Authorization'],
    ['another secret’s host', 'api.test', ['Authorization', `Bearer ${KEY}`], {}, 'KEY may not stand'],
    ['another method', 'some.test', ['X-Api-Key', TOKEN], { method: 'POST', target: '/all/x' }, 'not for POST'],
    ['another path', 'some.test', ['X-Api-Key', TOKEN], { target: '/repos/x/b' }, 'not for GET of this path'],
    ['a path of two readings', 'some.test', ['X-Api-Key', TOKEN], { target: '/all/%2e%2e/x' }, 'not for GET'],
    ['a path of dots', 'some.test', ['X-Api-Key', TOKEN], { target: '/all/../x' }, 'not for GET'],
    ['a part of a path', 'some.test', ['X-Api-Key', TOKEN], { target: '/y/all/x' }, 'not for GET'],
    ['a deeper path', 'some.test', ['X-Api-Key', TOKEN], { target: '/repos/x/y/a' }, 'not for GET'],
    ['a deleted secret', 'api.test', ['Authorization', `Bearer ${GONE}`], {}, 'is gone'],
  ])('but not with %s', (_what, host, headers, how, words) => {
    const [status, code, message] = refusal(() => ask(host, headers, how)) ?? [];
    expect(status).toBe(403);
    expect(code).toMatch(/^secret_(misplaced|not_bound|gone)$/);
    expect(message).toContain(words);
  });

  it('of one that allows the method and the path', () => {
    for (const target of ['/repos/x/a', '/all', '/all/x/y?z=1', '/xy/a/b/z', '/x/%7e/z'])
      expect(ask('some.test', ['X-Api-Key', TOKEN], { target }).used).toEqual(['TOKEN']);
  });

  it('in no time that a glob and a path can make long', () => {
    const place: VaultBinding['place'] = header('X-Api-Key', 'raw');
    const glob = `/${'*a'.repeat(99)}`;
    const one = new Vault([{ name: 'A', placeholder: TOKEN, value: 'value-of-a', approved: true, bindings: [bound('a.test', place, { paths: [glob] })] }]); // prettier-ignore
    const target = `/${'a'.repeat(8_000)}b`;
    expect(() => one.put({ host: 'a.test', port: 443, method: 'GET', target, headers: ['X-Api-Key', TOKEN] })).toThrow('not for GET'); // prettier-ignore
  });

  it('and what is nobody’s placeholder here goes on as it is', () => {
    const other = `mwsec_${'x'.repeat(24)}`;
    const headers = ['Authorization', `Bearer ${other}`, 'X-Split', TOKEN.slice(0, 20)];
    expect(ask('api.test', headers, { target: `/?a=${other}` })).toEqual({ target: `/?a=${other}`, headers, used: [] });
  });

  it('never in a body', () => {
    expect(refusal(() => vault.checkBody(Buffer.from(`{"a":"${TOKEN}"}`)))?.[1]).toBe('secret_misplaced');
    expect(refusal(() => vault.checkBody(Buffer.from(`{"a":"${TOKEN.slice(0, -1)}"}`)))).toBe(null);
  });

  it('is what opens connections, and nothing else does', () => {
    const opened = [['api.test', 443], ['a.wild.test', 443], ['odd.test', 8443], ['odd.test', 443], ['other.test', 443], ['b.a.wild.test', 443]] as const; // prettier-ignore
    expect(opened.map(([host, port]) => vault.binds(host, port))).toEqual([true, true, true, false, false, false]);
  });

  it('leads to the hosts that it is bound to, as long as it is there', () => {
    const gone = new Vault(
      secrets.map((secret) => ({ ...secret, value: secret.name === 'TOKEN' ? null : secret.value })),
    );
    const asked = [['a.wild.test', 443], ['b.a.wild.test', 443], ['odd.test', 8443], ['odd.test', 443], ['query.test', 443], ['api.test', 443]] as const; // prettier-ignore
    expect(asked.map(([host, port]) => vault.leads(host, port))).toEqual([true, false, true, false, true, true]);
    expect(asked.map(([host, port]) => gone.leads(host, port))).toEqual([false, false, false, false, true, false]);
    expect(gone.binds('api.test', 443)).toBe(true);
  });
});

describe('A secret that waits for a person', () => {
  const waiting = new Vault(secrets.map((secret) => ({ ...secret, approved: secret.name === 'KEY' })));
  const asked = (host: string, headers: string[], target = '/', method = 'GET') =>
    refusal(() => waiting.put({ host, port: 443, method, target, headers }));

  it('is refused where its value would be put, in a header and in a query, and says what to do', () => {
    const sentence = (name: string) =>
      `The secret ${name} waits for a person's approval: call use_secret with its name.`;
    const refused = [403, 'secret_not_approved', sentence('TOKEN')];
    expect(asked('api.test', ['Authorization', `Bearer ${TOKEN}`])).toEqual(refused);
    expect(asked('git.test', ['Authorization', basic(`me:${TOKEN}`)])).toEqual(refused);
    const none = new Vault(secrets.map((secret) => ({ ...secret, approved: false })));
    const query = () => none.put({ host: 'query.test', port: 443, method: 'GET', target: `/?key=${KEY}`, headers: [] });
    expect(refusal(query)).toEqual([403, 'secret_not_approved', sentence('KEY')]);
  });

  it('is refused elsewhere as ever, and another one is used', () => {
    expect(asked('api.test', ['X-Other', TOKEN])?.[1]).toBe('secret_misplaced');
    expect(asked('api.test', [], `/${TOKEN}`)?.[1]).toBe('secret_misplaced');
    expect(asked('some.test', ['X-Api-Key', TOKEN], '/all/x', 'POST')?.[1]).toBe('secret_not_bound');
    expect(asked('api.test', ['Authorization', `Bearer ${GONE}`])?.[1]).toBe('secret_gone');
    expect(asked('query.test', [], `/?key=${KEY}`)).toBe(null);
  });

  it('is masked, and opens the connections of its hosts', () => {
    expect(masked(waiting.finder, Buffer.from('it is value-of-token')).toString()).toBe('it is [secret TOKEN]');
    expect(waiting.binds('api.test', 443)).toBe(true);
  });

  it('is used once the next vault has it approved', () => {
    const next = new Vault(secrets, waiting.finder);
    const put = next.put({ host: 'api.test', port: 443, method: 'GET', target: '/', headers: ['Authorization', `Bearer ${TOKEN}`] }); // prettier-ignore
    expect(put.used).toEqual(['TOKEN']);
  });
});
