// The operator takes a provider's account from a person (reference §31).
import { bootApp, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { ADA, MockProvider, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { Operator } from '../harness/operator.js';
import { makeWorkspace, reasonIn, Traveller } from '../harness/sign-in.js';

let provider: MockProvider;
beforeAll(async () => {
  provider = await MockProvider.listen();
});
afterAll(() => provider.close());

describe('`user unlink` (reference §31)', () => {
  const service = useService(() => bootApp({ env: SECRET_ENV, config: { signIn: signInBy(provider) } }));
  let acme: string;
  let operator: Operator;
  beforeAll(async () => {
    acme = await makeWorkspace(service, 'acme');
    operator = new Operator(service);
  });
  const as = (sub: string, email: string): Traveller => {
    provider.claims = { ...ADA, sub, email };
    return new Traveller(service);
  };
  const reason = async (traveller: Traveller) => reasonIn((await traveller.signIn()).headers.get('location'));
  const unlink = (email: string, ...more: string[]) =>
    operator.json<{ unlinked: object[] }>('user', 'unlink', '--user', email, ...more);
  const failure = (email: string, ...more: string[]) => operator.attempt('user', 'unlink', '--user', email, ...more);

  it('lets the account that takes the place of the old one in, as the same person', async () => {
    const email = 'ada@acme.example';
    const old = as('ada-old', email);
    expect(await reason(old)).toBeNull();
    const { user } = (await old.who()).body;
    expect(await reason(as('ada-new', email))).toBe('address_taken');
    expect(await unlink(email)).toEqual({ unlinked: [{ issuer: provider.url, subject: 'ada-old' }] });
    const anew = as('ada-new', email);
    expect(await reason(anew)).toBeNull();
    expect((await anew.who()).body).toMatchObject({ user: { id: user.id }, workspace: { role: 'member' } });
    // The old one is a stranger's by now, and the address is the person's.
    expect(await reason(as('ada-old', email))).toBe('address_taken');
  });

  it('ends the sessions that the person had by sign-in, and neither memberships nor keys', async () => {
    const own = await makeMember(service, { workspace: { id: acme, slug: 'acme' } });
    const { email } = own.user;
    const session = as('bo', email);
    expect(await reason(session)).toBeNull();
    expect((await session.who()).body.user.id).toBe(own.user.id);
    await unlink(email);
    expect((await session.who()).status).toBe(401);
    expect((await own.client.get('/v1/tasks')).status).toBe(200);
  });

  it('takes those of one provider alone, where it is named', async () => {
    const email = 'cy@acme.example';
    expect(await reason(as('cy', email))).toBeNull();
    expect(await failure(email, '--issuer', 'https://login.other.example')).toMatchObject({
      code: 1,
      err: expect.stringContaining(`has no account at 'https://login.other.example', but at '${provider.url}'`),
    });
    expect(await unlink(email, '--issuer', provider.url)).toEqual({
      unlinked: [{ issuer: provider.url, subject: 'cy' }],
    });
    expect(await failure(email)).toMatchObject({ code: 1, err: expect.stringContaining('has no account') });
  });

  it('stands in the log of the installation, once', async () => {
    const email = 'di@acme.example';
    const session = as('di', email);
    expect(await reason(session)).toBeNull();
    const { id } = (await session.who()).body.user;
    await unlink(email);
    await failure(email);
    const { entries } = await operator.json<{ entries: { action: string; actor: null; target: { id: string } }[] }>('audit', 'list');
    const own = entries.filter(({ action, target }) => action === 'user.unlink' && target.id === id);
    expect(own).toMatchObject([{ actor: null, target: { type: 'user' } }]);
  }); // prettier-ignore
});
