// Where members come from, as `GET /v1/members` says it (reference §3, §31).
import { ScimTokens } from '../../src/access/provisioning/scim-tokens.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { listMembers, type MemberBody } from '../harness/members.js';
import { ADA, MockProvider, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { Directory } from '../harness/scim.js';
import { makeWorkspace, reasonIn, Traveller } from '../harness/sign-in.js';

let provider: MockProvider;
beforeAll(async () => {
  provider = await MockProvider.listen();
});
afterAll(() => provider.close());

describe('Where a member comes from (reference §3)', () => {
  const service = useService(() => bootApp({ env: SECRET_ENV, config: { signIn: signInBy(provider) } }));
  let owner: Member;
  let directory: Directory;
  beforeAll(async () => {
    const workspace = { id: await makeWorkspace(service, 'acme'), slug: 'acme' };
    owner = await makeMember(service, { workspace, role: 'owner' });
    const { secret } = await service.app.get(ScimTokens, { strict: false }).create(workspace.id);
    directory = new Directory(service, secret);
  });

  const of = async (email: string): Promise<Pick<MemberBody, 'origin' | 'provider'>> => {
    const { origin = '', provider = '' } = (await listMembers(owner.client)).find((one) => one.email === email) ?? {};
    return { origin, provider };
  };
  const signIn = async (email: string): Promise<void> => {
    provider.claims = { ...ADA, sub: email, email };
    expect(reasonIn((await new Traveller(service).signIn()).headers.get('location'))).toBeNull();
  };

  it('is the operator, an owner or an admin: `added`', async () => {
    const answer = await owner.client.post('/v1/members', { email: 'hand@acme.example', role: 'member' });
    expect(answer).toMatchObject({ status: 201, body: { member: { origin: 'added', provider: null } } });
    expect(await of(owner.user.email)).toEqual({ origin: 'added', provider: null });
    expect(await of('hand@acme.example')).toEqual({ origin: 'added', provider: null });
  });

  it('is a rule of sign-in, until somebody gives the person a role', async () => {
    await signIn('rule@acme.example');
    expect(await of('rule@acme.example')).toEqual({ origin: 'sign_in', provider: provider.url });
    const { id } = (await listMembers(owner.client)).find((one) => one.email === 'rule@acme.example') ?? { id: '' };
    await owner.client.patch(`/v1/members/${id}`, { role: 'admin' });
    expect(await of('rule@acme.example')).toEqual({ origin: 'added', provider: provider.url });
  });

  it('is the directory, also of a person who signs in; a new membership after its end is whose it is then', async () => {
    const id = await directory.add('told@acme.example');
    expect(await of('told@acme.example')).toEqual({ origin: 'directory', provider: null });
    await signIn('told@acme.example');
    expect(await of('told@acme.example')).toEqual({ origin: 'directory', provider: provider.url });
    await directory.patch(`Users/${id}`, { op: 'replace', value: { active: false } });
    await owner.client.post('/v1/members', { email: 'told@acme.example', role: 'viewer' });
    expect(await of('told@acme.example')).toEqual({ origin: 'added', provider: provider.url });
  });

  it('stays `added` of a member whom the directory tells of afterwards, or who signs in', async () => {
    await owner.client.post('/v1/members', { email: 'both@acme.example', role: 'viewer' });
    await directory.add('both@acme.example');
    await signIn('both@acme.example');
    expect(await of('both@acme.example')).toEqual({ origin: 'added', provider: provider.url });
  });

  it('is told to the personal keys of owners and admins alone', async () => {
    const member = await makeMember(service, { workspace: owner.workspace });
    const seen = await listMembers(member.client);
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.map(({ origin, provider }) => origin ?? provider)).toEqual(seen.map(() => null));
  });
});
