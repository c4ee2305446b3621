import { bootApp, useService } from '../harness/app.js';
import { type Client, type ErrorBody, makeMember } from '../harness/client.js';
import { createEnvironment, type EnvironmentBody, ENVIRONMENTS, postEnvironment } from '../harness/environments.js';

const SANDBOX = {
  network: 'allow' as const,
  allowHosts: ['registry.npmjs.org', '*.example.com', '10.1.2.3', 'internal.test:8443', '[fd00::1]'],
  allowNetworks: ['10.0.0.0/8'],
  memoryBytes: 1024 ** 3,
  diskBytes: 1024 ** 3,
  wallClockSeconds: 300,
};

/** With lockfiles and what they are of. */
const WHOLE = {
  repository: { url: 'https://github.com/acme/api', ref: 'main' },
  refresh: { onLockfile: ['package-lock.json'] },
};

describe('Environments (reference §25)', () => {
  const service = useService(() => bootApp({ config: { sandbox: SANDBOX } }));
  const makeOwner = () => makeMember(service, { role: 'owner' });
  const refusedBy = ({ status, body }: { status: number; body: ErrorBody }) => [
    status,
    body.error.code,
    body.error.param,
  ];
  const change = (client: Client, slug: string, json: object) =>
    client.patch<ErrorBody>(`${ENVIRONMENTS}/${slug}`, json);
  const get = (client: Client, slug: string) => client.get<{ environment: EnvironmentBody }>(`${ENVIRONMENTS}/${slug}`);

  const commands = (count: number) => Array.from({ length: count }, (_, n) => `echo ${n}`);
  const pairs = (count: number) => Object.fromEntries(commands(count).map((text, n) => [`V${n}`, text]));
  it.each([
    ['a slug with a capital letter', { slug: 'Node' }, 'slug'],
    ['a slug with a dash before it', { slug: '-node' }, 'slug'],
    ['a slug of 65 characters', { slug: 'a'.repeat(65) }, 'slug'],
    ['an empty slug', { slug: '' }, 'slug'],
    ['a name that is blank', { name: ' ' }, 'name'],
    ['setup that is no list', { setup: 'npm ci' }, 'setup'],
    ['31 commands', { setup: commands(31) }, 'setup'],
    ['a command of 4,097 bytes', { setup: [`${'é'.repeat(2048)}x`] }, 'setup'],
    ['a blank command', { setup: [' \n'] }, 'setup'],
    ['a command that is none', { setup: [1] }, 'setup'],
    ['51 variables', { variables: pairs(51) }, 'variables'],
    ['variables that are a list', { variables: ['A=1'] }, 'variables'],
    ['a variable with a dash', { variables: { 'A-B': '' } }, 'variables'],
    ['a variable of 4,097 bytes', { variables: { A: 'x'.repeat(4097) } }, 'variables'],
    ['a variable that is no text', { variables: { A: 1 } }, 'variables'],
    ['PATH', { variables: { PATH: '/' } }, 'variables.PATH'],
    ['a variable of the loader', { variables: { LD_PRELOAD: 'x' } }, 'variables.LD_PRELOAD'],
    ['a variable of a proxy', { variables: { https_proxy: 'x' } }, 'variables.https_proxy'],
    ['a variable of the sandbox', { variables: { NODE_EXTRA_CA_CERTS: 'x' } }, 'variables.NODE_EXTRA_CA_CERTS'],
    ['51 hosts', { allowHosts: Array.from({ length: 51 }, (_, n) => `${n}.example.com`) }, 'allowHosts'],
    ['a host twice', { allowHosts: ['a.example.com', 'a.example.com'] }, 'allowHosts'],
    ['a host in capitals', { allowHosts: ['a.example.com', 'A.example.com'] }, 'allowHosts[1]'],
    ['a host written as an address of the web', { allowHosts: ['https://a.example.com'] }, 'allowHosts[0]'],
    ['a star alone', { allowHosts: ['*'] }, 'allowHosts[0]'],
    ['21 secrets', { secrets: Array.from({ length: 21 }, (_, n) => `S${n}`) }, 'secrets'],
    ['a secret twice', { secrets: ['A', 'A'] }, 'secrets'],
    ['a secret in small letters', { secrets: ['token'] }, 'secrets'],
    ['a tool that the operator does not offer', { tools: { node: '22' } }, 'tools.node'],
    ['a version that is no text', { tools: { node: 22 } }, 'tools'],
    ['a version that is a path', { tools: { node: '../22' } }, 'tools'],
    ['more memory than the operator allows', { resources: { memoryBytes: 1024 ** 3 + 1 } }, 'resources.memoryBytes'],
    ['less memory than a shell takes', { resources: { memoryBytes: 1024 } }, 'resources.memoryBytes'],
    ['more of the disk than the operator allows', { resources: { diskBytes: 1024 ** 4 } }, 'resources.diskBytes'],
    ['more time than the operator allows', { resources: { wallClockSeconds: 301 } }, 'resources.wallClockSeconds'],
    ['resources that are none', { resources: [] }, 'resources'],
    ['an unknown refresh', { refresh: 'hourly' }, 'refresh'],
    ['lockfiles without a repository', { refresh: { onLockfile: ['package-lock.json'] } }, 'refresh'],
    ['no lockfile', { ...WHOLE, refresh: { onLockfile: [] } }, 'refresh'],
    ['a lockfile outside of the repository', { ...WHOLE, refresh: { onLockfile: ['a/../../b'] } }, 'refresh'],
    ['a lockfile with a slash before it', { ...WHOLE, refresh: { onLockfile: ['/etc/passwd'] } }, 'refresh'],
    ['17 lockfiles', { ...WHOLE, refresh: { onLockfile: commands(17) } }, 'refresh'],
    ['a refresh with more', { ...WHOLE, refresh: { onLockfile: ['a'], daily: true } }, 'refresh'],
    ['an unknown onFailure', { onFailure: 'retry' }, 'onFailure'],
    ['a repository that is no URL', { repository: { url: 'acme/api' } }, 'repository.url'],
    ['a ref that is none', { repository: { url: 'https://github.com/acme/api', ref: 'a..b' } }, 'repository.ref'],
  ])('with %s are refused', async (_what, more, param) => {
    const { client } = await makeOwner();
    expect(refusedBy(await postEnvironment<ErrorBody>(client, more))).toEqual([400, 'invalid_field', param]);
    if (param === 'slug') return;
    await createEnvironment(client);
    expect(refusedBy(await change(client, 'node', more))).toEqual([400, 'invalid_field', param]);
    expect((await get(client, 'node')).body.environment.version).toBe(1);
  });

  it('have no variable of the name of one of their secrets', async () => {
    const { client } = await makeOwner();
    const refused = [400, 'invalid_field', 'variables.TOKEN'];
    const [variables, secrets] = [{ A: '1', TOKEN: '2' }, ['B', 'TOKEN']];
    expect(refusedBy(await postEnvironment<ErrorBody>(client, { variables, secrets }))).toEqual(refused);
    await createEnvironment(client, { variables });
    expect(refusedBy(await change(client, 'node', { secrets }))).toEqual(refused);
    expect((await change(client, 'node', { secrets, variables: { A: '1' } })).status).toBe(200);
    expect(refusedBy(await change(client, 'node', { variables }))).toEqual(refused);
    expect((await get(client, 'node')).body.environment.version).toBe(2);
  });

  it.each(['secrets', 'allowHosts'])('with %s that name one twice are told so', async (field) => {
    const { client } = await makeOwner();
    const name = field === 'secrets' ? 'TOKEN' : 'a.example.com';
    const { body } = await postEnvironment<ErrorBody>(client, { [field]: [name, name] });
    expect(body.error.message).toBe(`${field} must not name anything twice.`);
  });

  it('keep lockfiles and a repository together', async () => {
    const { client } = await makeOwner();
    await createEnvironment(client, WHOLE);
    expect(refusedBy(await change(client, 'node', { repository: null }))).toEqual([400, 'invalid_field', 'refresh']); // prettier-ignore
  });

  it.each([
    [{ skills: [] }, 'skills'],
    [{ cpus: 2 }, 'cpus'],
    [{ repository: { url: 'https://github.com/acme/api', push: { branch: 'x' } } }, 'repository.push'],
    [{ resources: { processes: 1 } }, 'resources.processes'],
  ])('with a field that is not known, %j, are refused', async (more, param) => {
    const { client } = await makeOwner();
    expect(refusedBy(await postEnvironment<ErrorBody>(client, more))).toEqual([400, 'unknown_field', param]);
  });

  it('keep their slug', async () => {
    const { client } = await makeOwner();
    await createEnvironment(client);
    expect(refusedBy(await change(client, 'node', { slug: 'x' }))).toEqual([400, 'unknown_field', 'slug']);
  });

  it.each(['registry.npmjs.org', 'registry.npmjs.org:443', 'a.b.example.com', '*.example.com', '*.a.example.com:80', '10.1.2.3', 'internal.test:8443', '[fd00::1]'])(
    'may reach the host %s, which the operator allows',
    async (host) => {
      const { client } = await makeOwner();
      expect((await createEnvironment(client, { allowHosts: [host] })).allowHosts).toEqual([host]);
    },
  ); // prettier-ignore

  it.each(['npmjs.org', '*.npmjs.org', '*.registry.npmjs.org', 'example.com', 'badexample.com', '*.com', 'registry.npmjs.org:8443', 'internal.test', 'internal.test:443', '10.1.2.4', '[fd00::2]'])(
    'do not reach the host %s, which the operator does not allow',
    async (host) => {
      const { client } = await makeOwner();
      const answer = await postEnvironment<ErrorBody>(client, { allowHosts: ['registry.npmjs.org', host] });
      expect(refusedBy(answer)).toEqual([400, 'host_not_allowed', 'allowHosts[1]']);
    },
  ); // prettier-ignore

  it('have a repository that tasks may name', async () => {
    const { client } = await makeOwner();
    const answer = await postEnvironment<ErrorBody>(client, { repository: { url: 'http://github.com/acme/api' } });
    expect(refusedBy(answer)).toEqual([400, 'repository_not_allowed', 'repository.url']);
  });
});
