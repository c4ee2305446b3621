import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import pg from 'pg';
import { CHECKS } from '../../src/operator/doctor/doctor.js';
import { databaseCheck } from '../../src/operator/doctor/database.check.js';
import { diskCheck } from '../../src/operator/doctor/disk.check.js';
import { embeddedCheck } from '../../src/operator/doctor/embedded.check.js';
import { migrationsCheck } from '../../src/operator/doctor/migrations.check.js';
import { modelsCheck } from '../../src/operator/doctor/models.check.js';
import { redisCheck } from '../../src/operator/doctor/redis.check.js';
import { sandboxesCheck } from '../../src/operator/doctor/sandboxes.check.js';
import { secretCheck } from '../../src/operator/doctor/secret.check.js';
import { serviceCheck } from '../../src/operator/doctor/service.check.js';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { Database } from '../../src/platform/database/database.js';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { sql } from '../../src/platform/database/sql.js';
import { FileCleaner } from '../../src/resources/files/file-cleaner.js';
import { FileStorage } from '../../src/resources/files/storage/file-storage.js';
import { TRIAL_WORKSPACES } from '../../src/resources/files/storage/storage-driver.js';
import { bootApp, bootWorker, type TestApp } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { CANARIES, digestOf, expectNoSecret, findings, line, namesIn } from '../harness/doctor.js';
import { Lines, temporaryDataDir } from '../harness/embedded.js';
import { connect } from '../harness/hooks.js';
import { ModelServer } from '../harness/model-server.js';
import { Operator } from '../harness/operator.js';
import { freePort } from '../harness/ports.js';
import { PostgresServer } from '../harness/postgres.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { slowIt } from '../harness/slow.js';

const FAIL = { status: 'fail', advice: expect.stringMatching(/\S/) };
const WARN = { status: 'warn', advice: expect.stringMatching(/\S/) };

describe('doctor on a service that is as it should be (reference §16)', () => {
  let postgres: PostgresServer;
  let models: ModelServer;
  let service: TestApp;
  let env: Record<string, string>;

  beforeAll(async () => {
    [postgres, models] = await Promise.all([PostgresServer.start(), ModelServer.start()]);
    const shared = {
      DATABASE_URL: postgres.url,
      SECRET_KEY: CANARIES.SECRET_KEY,
      OPENAI_COMPATIBLE_URL: models.url,
      OPENAI_COMPATIBLE_KEY: CANARIES.OPENAI_COMPATIBLE_KEY,
    };
    const db = { url: postgres.url, query: postgres.query.bind(postgres) as never, drop: () => Promise.resolve() };
    service = await bootWorker({ db, env: shared });
    env = { ...shared, PORT: new URL(service.url).port, DATA_DIR: service.app.get(DataDir).path };
  });
  afterAll(async () => {
    await service.close();
    await Promise.all([postgres.stop(), models.stop()]);
  });

  it('has no ✖, names every part, and changes neither the database nor a file', async () => {
    const member = await makeMember(service);
    await connect(service, member);
    await service.app.get(FileStorage).put(member.workspace.id, Readable.from([Buffer.from('stored')]));
    const before = [await digestOf(postgres.url), await namesIn(env['DATA_DIR'] ?? '')];
    const found = await findings(CHECKS, { env });
    expect([await digestOf(postgres.url), await namesIn(env['DATA_DIR'] ?? '')]).toEqual(before);
    expect(found.filter(({ status }) => status === 'fail')).toEqual([]);
    const fine = (name: string) => expect(line(found, name)).toMatchObject({ status: 'ok', advice: null });
    const parts = ['service', 'database settings', 'database connections', 'migrations', 'secret', 'storage', 'model default'];
    for (const name of [...parts, 'queue of runs', 'queue of automations', 'queue of jobs', 'queue of events', 'stuck work']) fine(name);
    for (const name of ['database', 'redis', 'clocks', 'disk', 'descriptors']) line(found, name);
    expect(line(found, 'secret').detail).toContain('2 of 2 secrets');
    expect(line(found, 'database').detail).toMatch(/^PostgreSQL 18\.\d+; 20 looks: /);
    expect(found.filter(({ name }) => name === 'versions').map(({ detail }) => detail)).toEqual([
      expect.stringContaining(`Node ${process.versions.node}`),
      expect.stringMatching(/^Millwright [\d.]+, as the running service\.$/),
    ]);
    expect(found.some(({ name }) => name === 'in force')).toBe(true);
    expect(found.filter(({ name, status }) => name.startsWith('sandbox ') && status === 'ok')).not.toEqual([]);
  }, 120_000); // prettier-ignore

  it('asks each model once, in a few words, and none with --no-models', async () => {
    const asked = models.requests.length;
    await findings([modelsCheck], { env });
    expect(models.requests.length).toBe(asked + 1);
    expect(JSON.stringify(models.requests.at(-1)?.body).length).toBeLessThan(500);
    const [left] = await findings([modelsCheck], { env, models: false });
    expect(left).toMatchObject({ status: 'ok', detail: expect.stringContaining('--no-models') });
    expect(models.requests.length).toBe(asked + 1);
  });

  it('prints a line for each finding, or one JSON object, and ends with 0', async () => {
    const operator = new Operator(service, env);
    const { checks } = await operator.json<{ checks: Record<string, string | null>[] }>('doctor', '--no-models');
    for (const check of checks) expect(Object.keys(check)).toEqual(['name', 'status', 'detail', 'advice']);
    const text = await operator.run('doctor', '--no-models');
    expect(text).toMatch(/^✔ service: It answers at http[^]*\n✔ database: /);
    for (const one of text.split('\n')) expect(one).toMatch(/^[✔!✖] /);
    expect(process.exitCode ?? 0).toBe(0);
    expectNoSecret(text, env);
  });

  it('removes what a killed trial of the sandbox has left', async () => {
    const left = join(env['DATA_DIR'] ?? '', `doctor.${hostname().replaceAll('.', '-')}.999999999.0`);
    mkdirSync(left);
    const found = await findings([sandboxesCheck], { env: { ...env, SANDBOX: 'none' } });
    expect(line(found, 'sandbox none')).toMatchObject({ status: 'ok', detail: expect.stringMatching(/ran 'true' in \d/) });
    expect(existsSync(left)).toBe(false);
  }); // prettier-ignore

  it('the cleaner removes what a killed trial of the storage has left', async () => {
    const workspaceId = `${TRIAL_WORKSPACES}0123456789ab`;
    const storage = service.app.get(FileStorage);
    const { sha256 } = await storage.put(workspaceId, Readable.from([Buffer.from('left')]));
    const path = join(env['DATA_DIR'] ?? '', 'files', workspaceId, sha256.slice(0, 2), sha256);
    await utimes(path, new Date(0), new Date(0));
    await service.app.get(FileCleaner).sweep();
    await expect(storage.open(workspaceId, sha256)).rejects.toThrow('no bytes');
  });

  it('is no ✖ while it does not run: doctor works without it', async () => {
    const PORT = String(await freePort());
    const [found] = await findings([serviceCheck], { env: { ...env, PORT } });
    expect(found).toMatchObject({ name: 'service', ...WARN, detail: `Nobody listens at http://127.0.0.1:${PORT}.` });
  });
});

describeWithRedis('doctor and Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterAll(() => redis.stop());
  const look = async () => {
    const REDIS_URL = redis.url.replace('redis://', 'redis://:canary-redis@');
    const DATABASE_URL = `postgres://127.0.0.1:${await freePort()}/none`;
    return line(await findings([redisCheck], { env: { DATABASE_URL, REDIS_URL } }), 'redis');
  };

  slowIt('a Redis as it should be is ✔, one that evicts is !', async () => {
    await redis.command('CONFIG', 'SET', 'requirepass', 'canary-redis');
    expect(await look()).toMatchObject({ status: 'ok', detail: expect.stringMatching(/^Redis \d.*noeviction/) });
  });

  it('one that evicts is !, a password that is wrong, one that hangs and one that is stopped are ✖', async () => {
    await redis.kill();
    await redis.run();
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await look()).toMatchObject(WARN);
    redis.freeze();
    expect(await look()).toMatchObject(FAIL);
    redis.thaw();
    await redis.command('CONFIG', 'SET', 'requirepass', 'another');
    expect(await look()).toMatchObject(FAIL);
    await redis.kill();
    expect(await look()).toMatchObject({ ...FAIL, detail: expect.stringContaining('ECONNREFUSED') });
  });
});

describe('doctor and the embedded database', () => {
  const all = [databaseCheck, embeddedCheck, migrationsCheck, secretCheck, diskCheck];

  it('without an installation it makes none', async () => {
    const folder = temporaryDataDir();
    try {
      const found = await findings(all, { env: { DATA_DIR: folder.path } });
      expect(line(found, 'database')).toMatchObject({ ...FAIL, detail: expect.stringContaining('There is no database in DATA_DIR yet') });
      expect(await namesIn(folder.path)).toEqual([]);
      const absent = join(folder.path, 'absent');
      expect(line(await findings(all, { env: { DATA_DIR: absent } }), 'disk')).toMatchObject(WARN);
      expect(existsSync(absent)).toBe(false);
    } finally {
      folder.remove();
    }
  }); // prettier-ignore

  it('starts it for the time of the look, and neither migrates it nor makes a secret; jit is off unless DATABASE_URL asks for it', async () => {
    const folder = temporaryDataDir();
    const options = { dataDir: folder.path, logger: new Lines() };
    try {
      await (await EmbeddedPostgres.start(options)).stop();
      const names = await namesIn(folder.path);
      const found = await findings(all, { env: { DATA_DIR: folder.path } });
      expect(line(found, 'embedded database')).toMatchObject({ status: 'ok', detail: expect.stringContaining('for the time of this command') });
      expect(line(found, 'migrations')).toMatchObject({ ...WARN, detail: expect.stringMatching(/^0 applied/) });
      expect(line(found, 'database settings').status).toBe('ok');
      expect((await namesIn(folder.path)).filter((name) => !name.startsWith('postgres/'))).toEqual(
        names.filter((name) => !name.startsWith('postgres/')),
      );
      const server = await EmbeddedPostgres.start(options);
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      expect((await client.query(`SELECT FROM pg_tables WHERE schemaname = 'public'`)).rowCount).toBe(0);
      await client.query('ALTER ROLE CURRENT_USER SET jit = on');
      await client.end();
      const database = new Database(server.url);
      const { read, work, claims, polling, reports, events, leases } = database;
      for (const pool of [read, work, claims, polling, reports, events, leases]) {
        expect(await pool.run(sql`SHOW jit`.rows()())).toEqual([{ jit: 'off' }]);
      }
      await database.close();
      const joined = await findings(all, { env: { DATA_DIR: folder.path } });
      const url = `${server.url}?options=${encodeURIComponent('-c jit=on')}`;
      const asked = await findings([databaseCheck], { env: { DATABASE_URL: url } });
      await server.stop();
      expect(line(joined, 'embedded database').detail).toContain(`process ${process.pid}`);
      expect(line(joined, 'database settings').status).toBe('ok');
      expect(line(asked, 'database settings')).toMatchObject({ ...WARN, detail: expect.stringMatching(/^jit is on/) });
    } finally {
      folder.remove();
    }
  }, 120_000); // prettier-ignore

  it('a secret.key that is gone while there are keys is ✖, one that others may read too', async () => {
    const folder = temporaryDataDir();
    const app = await bootApp();
    try {
      await makeMember(app);
      const { examine } = await import('../../src/operator/doctor/doctor.js');
      const { Env, readEnv } = await import('../../src/platform/config/env.js');
      const { ExtensionSet } = await import('../../src/platform/plugins/extension-set.js');
      const read = readEnv({ NODE_ENV: 'test', PORT: '1', DATA_DIR: folder.path, DATABASE_URL: app.db.url, SECRET_KEY: CANARIES.SECRET_KEY });
      const env = new Env({ ...read.variables, SECRET_KEY: undefined }, read.file, read.modelKeys);
      const look = () => examine(env, new ExtensionSet([]), { checks: [secretCheck] });
      expect(await look()).toMatchObject([{ ...FAIL, detail: expect.stringContaining('were made with one') }]);
      expect(await namesIn(folder.path)).toEqual([]);
      writeFileSync(join(folder.path, 'secret.key'), CANARIES.SECRET_KEY, { mode: 0o644 });
      expect(await look()).toMatchObject([{ ...FAIL, detail: expect.stringContaining('other users') }]);
    } finally {
      await app.close();
      folder.remove();
    }
  }); // prettier-ignore
});
