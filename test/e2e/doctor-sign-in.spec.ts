import { signInCheck } from '../../src/operator/doctor/sign-in.check.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { findings } from '../harness/doctor.js';
import { CLIENT, MockProvider, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { makeWorkspace } from '../harness/sign-in.js';

describe('doctor on sign-in (reference §16, §31)', () => {
  let db: TestDatabase;
  let provider: MockProvider;
  beforeAll(async () => {
    [db, provider] = await Promise.all([createDatabase(), MockProvider.listen()]);
    await makeWorkspace({ db }, 'acme');
  });
  afterEach(() => provider.reset());
  afterAll(async () => {
    await provider.close();
    await db.drop();
  });

  const look = async (more: object = {}, env: Record<string, string> = {}) => {
    const all = { DATABASE_URL: db.url, PUBLIC_URL: 'https://mill.example', ...SECRET_ENV, ...env };
    const found = await findings([signInCheck], { env: all, config: { signIn: signInBy(provider, more) } });
    expect(found.every(({ name }) => name === 'sign-in')).toBe(true);
    expect(JSON.stringify(found)).not.toContain(CLIENT.secret);
    return found.map(({ status, detail, advice }) => ({ status, detail, advice }));
  };
  const fine = { status: 'ok', detail: expect.stringContaining('answers'), advice: null };

  it('has one line where the provider answers and all workspaces exist, and none without signIn', async () => {
    expect(await look()).toEqual([fine]);
    expect(await findings([signInCheck], { env: { DATABASE_URL: db.url } })).toEqual([]);
  });

  it('says ✖ of a provider that calls itself another one, has no keys, or does not answer', async () => {
    const bad = (why: RegExp) => [
      { status: 'fail', detail: expect.stringMatching(why), advice: expect.stringContaining('signIn.issuer') },
    ];
    provider.metadata = { issuer: 'https://login.other.example' };
    expect(await look()).toEqual(bad(/does not answer as an OpenID Connect provider/));
    provider.metadata = { jwks_uri: undefined };
    expect(await look()).toEqual(bad(/jwks_uri/));
    expect(await look({ issuer: 'http://127.0.0.1:9' })).toEqual(bad(/^http:\/\/127\.0\.0\.1:9 does not answer/));
  });

  it('warns of rules for workspaces that do not exist, and where PUBLIC_URL is not set', async () => {
    const workspaces = ['acme', 'acmee'].map((slug) => ({ slug, when: { groups: ['eng'] }, role: 'member' as const }));
    expect(await look({ workspaces })).toEqual([
      fine,
      { status: 'warn', detail: expect.stringMatching(/: acmee\.$/), advice: expect.stringContaining('--slug') },
    ]);
    expect(await look({}, { PUBLIC_URL: '' })).toMatchObject([
      fine,
      { status: 'warn', detail: expect.stringContaining('PUBLIC_URL') },
    ]);
  });

  it('asks nobody where the process has no console', async () => {
    await expect(look({ issuer: 'http://127.0.0.1:9' }, { CONSOLE: 'off' })).resolves.toMatchObject([
      { status: 'ok', detail: expect.stringContaining('no console') },
    ]);
  });
});
