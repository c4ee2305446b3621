// Where the credentials of repository connections may not be: lines of the log, a backup, what doctor says.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Client } from '../harness/client.js';
import { CERTIFICATE } from '../harness/code-hosts/code-host.js';
import { FakeGitHub } from '../harness/code-hosts/github.js';
import { FAR_LIMITS } from '../harness/limits.js';
import { ModelServer } from '../harness/model-server.js';
import { Operator } from '../harness/operator.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { call, createTask, finishedLater, script, type TaskBody } from '../harness/tasks.js';

const TOKEN = `canary-${randomBytes(12).toString('hex')}`;
const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const INSTALLATION = { account: 'apps', repositories: ['apps/api'], contents: 'write' as const, suspended: false };

describe('The credentials of repository connections (reference §15)', () => {
  const folder = temporaryFolder();
  let model: ModelServer;
  let host: FakeGitHub;
  let service: ServiceProcess;
  let operator: Operator;

  beforeAll(async () => {
    model = await ModelServer.start();
    host = await FakeGitHub.start(TOKEN);
    host.apps.push({ id: 9, slug: 'helper', publicKey: keys.publicKey, installations: [{ id: 55, ...INSTALLATION }] });
    for (const path of ['acme/api', 'apps/api']) host.make(path, { 'a.txt': 'one\n' });
    const repositories = { [host.name]: { kind: host.kind, api: host.apiUrl, caFile: CERTIFICATE } };
    const config = { ...FAR_LIMITS, repositories, repositoryNetworks: ['127.0.0.1/32'] };
    writeFileSync(join(folder.path, 'config.json'), JSON.stringify(config));
    const env = { DATA_DIR: join(folder.path, 'data'), CONFIG_FILE: join(folder.path, 'config.json'), SECRET_KEY };
    operator = new Operator({ db: { url: '' } }, env);
    const more = { OPENAI_COMPATIBLE_URL: model.url, DEFAULT_PLAN: 'paid', LOG_LEVEL: 'trace', REDIS_URL: '' };
    service = await ServiceProcess.start({ ...env, ...more, LEASE_SECONDS: '600' });
  });
  afterAll(async () => {
    await service.end();
    await model.stop();
    await host.stop();
    folder.remove();
  });

  it('are in no line of the log, in no backup and not in what doctor says, also when the host refuses them', async () => {
    const who = ['--workspace', 'default', '--user', 'owner@localhost'];
    const { key } = await operator.json<{ key: { secret: string } }>('key', 'create', ...who);
    const client = new Client(service.url, key.secret);
    const connect = async (given: object) => {
      const body = { host: host.name, ...given };
      const made = await client.post<{ connection: { id: string } }>('/v1/repository-connections', body);
      expect(made.status).toBe(201);
      return `/v1/repository-connections/${made.body.connection.id}`;
    };
    const connections = [
      await connect({ paths: ['acme/*'], token: TOKEN }),
      await connect({ paths: ['apps/*'], appId: '9', privateKey: PEM, installationId: '55' }),
    ];
    const change = call('bash', { command: 'cd repo && echo two >> a.txt' });
    const run = async (path: string, branch: string) => {
      const repository = { url: host.url(path), push: { branch: `millwright/${branch}`, pullRequest: {} } };
      const { id } = await createTask(client, { content: script(change, { text: 'Done.' }), repository });
      const task = await finishedLater(client, id);
      return task as TaskBody & { pullRequest: { url: string } | null };
    };
    const each = async (branch: string) => [await run('acme/api', branch), await run('apps/api', branch)];
    for (const { status, pullRequest } of await each('one')) {
      expect([status, pullRequest?.url]).toEqual(['completed', expect.any(String)]);
    }
    const secrets = [...host.credentials.keys(), ...PEM.split('\n').filter((line) => line.length === 64)];
    expect(secrets.length).toBeGreaterThan(20);
    // What fails is said in most words.
    for (const token of host.credentials.keys()) host.credentials.delete(token);
    INSTALLATION.suspended = true;
    Object.assign(host.apps[0]?.installations[0] ?? {}, INSTALLATION);
    for (const { status } of await each('two')) expect(status).toBe('failed');
    for (const path of connections) {
      const { body } = await client.post<{ connection: { status: string } }>(`${path}/test`);
      expect(body.connection.status).toBe('failed');
    }
    const { out } = await operator.attempt('doctor', '--json', '--no-models');
    expect(out).toContain('in the database can be read');
    await operator.run('backup', join(folder.path, 'backup'));
    const files = readdirSync(join(folder.path, 'backup'), { recursive: true, withFileTypes: true });
    const kept = files
      .filter((one) => one.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name)))
      .map((bytes) => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString('latin1'));
    expect(kept.join('')).toContain(connections[0]?.split('/').at(-1));
    expect(service.log).toContain('refused the credential');
    for (const secret of secrets) {
      const forms = [secret, Buffer.from(`x-access-token:${secret}`).toString('base64'), hex(secret)];
      for (const text of [service.log, out, ...kept]) for (const form of forms) expect(text.includes(form)).toBe(false);
    }
  });
});

/** As a column of bytes would show it. */
const hex = (text: string) => Buffer.from(text).toString('hex');
