import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootApp, useService } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { CERTIFICATE } from '../harness/code-hosts/code-host.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { until } from '../harness/until.js';

interface List {
  repositories: { name: string; pushable: boolean; private: boolean | null }[];
  partial: boolean;
}

const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = keys.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
/** More than one page of the host has. */
const PARTS = Array.from({ length: 120 }, (_, n) => `acme/part-${n}`);
const TOKENS = 'POST /app/installations/55/access_tokens';
const ROWS = 'GET /installation/repositories';

describe('Repositories of a connection with a GitHub App (reference §15)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'repositories-of-an-app-'));
  const installation = {
    ...{ id: 55, account: 'acme', repositories: [...PARTS, 'acme/secret'] },
    ...{ contents: 'write' as const, suspended: false },
  };
  let github: FakeGitHub;
  let owner: Member;

  const service = useService(async () => {
    github = await FakeGitHub.start('a-token-that-no-connection-has');
    const repositories = { [github.name]: { kind: 'github', api: github.apiUrl, caFile: CERTIFICATE } };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ repositories, repositoryNetworks: ['127.0.0.1/32'] }));
    return bootApp({ env: { CONFIG_FILE: join(folder, 'config.json') } });
  });
  beforeAll(async () => {
    for (const path of [...installation.repositories, 'acme/not-installed']) github.add(path, {});
    github.apps.push({ id: 9, slug: 'helper', publicKey: keys.publicKey, installations: [installation] });
    owner = await makeMember(service, { role: 'owner' });
    const app = { appId: '9', privateKey: PEM, installationId: '55', paths: ['acme/part-*'], push: ['millwright/*'] };
    const made = await owner.client.post('/v1/repository-connections', { host: github.name, ...app });
    expect(made.status).toBe(201);
  });
  afterAll(async () => {
    await github.stop();
    rmSync(folder, { recursive: true });
  });

  const list = async (query = 'limit=100') => (await owner.client.get<List>(`/v1/repositories?${query}`)).body;
  const names = ({ repositories }: List) => repositories.map(({ name }) => name);
  /** Later than what a refresh takes as asked just now. */
  const later = async () => {
    const asked = Date.now();
    await until('a refresh to ask again', () => Date.now() - asked > 2100, { within: 10_000 });
  };

  it('are those that it is installed for and that the paths allow, of all pages of the host, with one token', async () => {
    const found = await list('limit=100');
    expect(found.partial).toBe(false);
    expect(names(found)).toHaveLength(100);
    expect(names(await list('limit=100&q=part-11')).sort()).toEqual(
      PARTS.filter((one) => one.includes('part-11')).sort(),
    );
    expect(names(await list('q=secret'))).toEqual([]);
    expect(names(await list('q=not-installed'))).toEqual([]);
    expect([github.count(ROWS), github.count(TOKENS)]).toEqual([2, 1]);
    // With it nothing can be read but lists.
    expect([...github.credentials.values()].at(-1)?.permission).toBe('read');
  });

  it('may be pushed to by branches that the connection allows, although GitHub says nothing of it for Apps', async () => {
    const [first] = (await list('limit=1')).repositories;
    expect(first).toMatchObject({ private: true, pushable: true });
  });

  it('are asked for with a new token when the host takes the old one no more', async () => {
    await later();
    github.credentials.clear();
    expect(await list('refresh=true&limit=1')).toMatchObject({ partial: false });
    expect(github.count(TOKENS)).toBe(2);
  });

  it('are as they were, and `partial`, for as long as the host wants a pause', async () => {
    await later();
    github.remaining = 0;
    github.retryAfterSeconds = 600;
    const before = github.count(ROWS);
    expect(await list('refresh=true&limit=1')).toMatchObject({ partial: true, repositories: [{ pushable: true }] });
    github.remaining = null;
    await later();
    expect(await list('refresh=true&limit=1')).toMatchObject({ partial: true });
    expect(github.count(ROWS)).toBe(before + 1);
  });
});
