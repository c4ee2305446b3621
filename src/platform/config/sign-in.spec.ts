import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnv } from './env.js';

const GIVEN = {
  issuer: 'https://login.acme.example/realms/acme',
  clientId: 'millwright',
  clientSecretEnv: 'OIDC_SECRET',
  workspaces: [{ slug: 'acme', when: { groups: ['eng'] }, role: 'member' }],
};

describe('signIn of CONFIG_FILE (reference §31)', () => {
  let folder: string;
  beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'millwright-config-'))));
  afterAll(() => rmSync(folder, { recursive: true }));

  function read(signIn: object, more: Record<string, string> = { OIDC_SECRET: 's' }) {
    const path = join(folder, 'config.json');
    writeFileSync(path, JSON.stringify({ signIn }));
    return readEnv({ CONFIG_FILE: path, ...more });
  }

  it('needs issuer, client and rules, and has defaults for the rest', () => {
    const { file, signInSecret } = read(GIVEN);
    const defaults = {
      scopes: ['openid', 'email', 'profile'],
      groupsClaim: 'groups',
      keys: 'allowed',
      sessionHours: 12,
    };
    expect(file.signIn).toEqual({ ...GIVEN, ...defaults });
    expect(signInSecret).toBe('s');
  });

  it.each<[string, object]>([
    ['signIn.issuer: a URL that begins with https://', { issuer: 'http://login.acme.example' }],
    ['signIn.issuer: a URL that begins with https://', { issuer: 'http://127.0.0.1.evil.example' }],
    ['signIn.issuer: a URL that begins with https://', { issuer: 'login.acme.example' }],
    ['signIn.issuer: a URL without a user and a password', { issuer: 'https://a:b@login.acme.example' }],
    ['signIn.issuer: a URL without ? and #', { issuer: 'https://login.acme.example/?a' }],
    ["signIn.scopes: 'openid' is expected among them", { scopes: ['email'] }],
    ['signIn.keys: one of allowed, operators', { keys: 'nobody' }],
    ['signIn.sessionHours: ', { sessionHours: 0 }],
    ['signIn.clientSecretEnv: this variable is not handed', { clientSecretEnv: 'SECRET_KEY' }],
    ['signIn.workspaces: ', { workspaces: [] }],
    [
      'signIn.workspaces.0.role: one of admin, member, viewer',
      { workspaces: [{ ...GIVEN.workspaces[0], role: 'owner' }] },
    ],
    [
      'signIn.workspaces.0.when: exactly one of groups and emailDomains',
      { workspaces: [{ ...GIVEN.workspaces[0], when: {} }] },
    ],
    [
      'signIn.workspaces.0.when: exactly one of groups and emailDomains',
      { workspaces: [{ ...GIVEN.workspaces[0], when: { groups: ['a'], emailDomains: ['a.example'] } }] },
    ],
    [
      'signIn.workspaces.0.when.emailDomains.0: a domain',
      { workspaces: [{ ...GIVEN.workspaces[0], when: { emailDomains: ['a@b'] } }] },
    ],
    ['signIn: ', { issuers: [] }],
  ])('says what is expected: %s', (message, change) => {
    expect(() => read({ ...GIVEN, ...change })).toThrow(message);
  });

  it('takes http of this machine alone', () => {
    for (const issuer of ['http://127.0.0.1:9000', 'http://localhost:9000', 'http://[::1]:9000'])
      expect(read({ ...GIVEN, issuer }).file.signIn?.issuer).toBe(issuer);
  });

  it('needs the secret where people sign in, and nowhere else', () => {
    expect(() => read(GIVEN, {})).toThrow('OIDC_SECRET: the secret of the client is expected');
    expect(read(GIVEN, { ROLE: 'worker' }).signInSecret).toBeNull();
    expect(read(GIVEN, { CONSOLE: 'off' }).signInSecret).toBeNull();
  });
});
