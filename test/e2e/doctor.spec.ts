import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import pg from 'pg';
import type { Finding } from '../../src/operator/doctor/check.js';
import { CHECKS } from '../../src/operator/doctor/doctor.js';
import { clocksCheck } from '../../src/operator/doctor/clocks.check.js';
import { databaseCheck } from '../../src/operator/doctor/database.check.js';
import { descriptorsCheck } from '../../src/operator/doctor/descriptors.check.js';
import { diskCheck } from '../../src/operator/doctor/disk.check.js';
import { embeddedCheck } from '../../src/operator/doctor/embedded.check.js';
import { migrationsCheck } from '../../src/operator/doctor/migrations.check.js';
import { modelsCheck } from '../../src/operator/doctor/models.check.js';
import { queuesCheck } from '../../src/operator/doctor/queues.check.js';
import { redisCheck } from '../../src/operator/doctor/redis.check.js';
import { sandboxesCheck } from '../../src/operator/doctor/sandboxes.check.js';
import { secretCheck } from '../../src/operator/doctor/secret.check.js';
import { serviceCheck } from '../../src/operator/doctor/service.check.js';
import { storageCheck } from '../../src/operator/doctor/storage.check.js';
import { stuckCheck } from '../../src/operator/doctor/stuck.check.js';
import { ofNode } from '../../src/operator/doctor/versions.check.js';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { FileCleaner } from '../../src/resources/files/file-cleaner.js';
import { FileStorage } from '../../src/resources/files/storage/file-storage.js';
import { TRIAL_WORKSPACES } from '../../src/resources/files/storage/storage-driver.js';
import { TableStorageModule } from '../extensions/table-storage.js';
import { bootApp, bootWorker, type TestApp, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { createDatabase } from '../harness/database.js';
import { CANARIES, digestOf, expectNoSecret, findings, line, namesIn } from '../harness/doctor.js';
import { Lines, temporaryDataDir } from '../harness/embedded.js';
import { automationOn, connect } from '../harness/hooks.js';
import { ModelServer } from '../harness/model-server.js';
import { Operator } from '../harness/operator.js';
import { freePort } from '../harness/ports.js';
import { PostgresServer } from '../harness/postgres.js';
import { describeWithRedis, RedisServer } from '../harness/redis.js';
import { SmallDisk } from '../harness/small-disk.js';
import { createTask } from '../harness/tasks.js';

const FAIL = { status: 'fail', advice: expect.stringMatching(/\S/) };
const WARN = { status: 'warn', advice: expect.stringMatching(/\S/) };

/** A port of this machine that answers every request with this. */
async function answering(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return String((server.address() as AddressInfo).port);
}

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
  }, 60_000);
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
    expect(line(found, 'secret').detail).toContain('1 of 1 secret');
    expect(line(found, 'database').detail).toMatch(/^PostgreSQL 18\.\d+; 20 looks: /);
    expect(found.filter(({ name }) => name === 'versions').map(({ detail }) => detail)).toEqual([
      expect.stringContaining(`Node ${process.versions.node}`),
      expect.stringMatching(/^Millwright [\d.]+, as the running service\.$/),
    ]);
    expect(found.some(({ name }) => name === 'in force')).toBe(true);
    expect(found.filter(({ name, status }) => name.startsWith('sandbox ') && status === 'ok')).not.toEqual([]);
  }, 60_000); // prettier-ignore

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
  }, 60_000);

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

describe('doctor says ✖ for a real fault', () => {
  const service = useService();
  const env = () => ({ DATABASE_URL: service.db.url });

  describe('of PostgreSQL', () => {
    it('that is not there, in one line: what asks it says that it did not look', async () => {
      const port = await freePort();
      const url = `postgres://postgres:canary-password@127.0.0.1:${port}/millwright`;
      const asking = [databaseCheck, migrationsCheck, secretCheck, queuesCheck, stuckCheck];
      const found = await findings(asking, { env: { DATABASE_URL: url } });
      expect(line(found, 'database')).toMatchObject({ ...FAIL, detail: expect.stringContaining('ECONNREFUSED') });
      for (const { name } of asking.slice(1)) expect(line(found, name)).toMatchObject(WARN);
    });

    it('by the command itself: it ends with 1, and prints no secret', async () => {
      const url = `postgres://postgres:canary-password@127.0.0.1:${await freePort()}/millwright`;
      const given = { ...CANARIES, DATABASE_URL: url, PORT: '1', ROLE: 'api' };
      const { code, out, err } = await new Operator(service, given).spawn('doctor', '--json', '--no-models');
      const { checks } = JSON.parse(out) as { checks: Finding[] };
      expect([code, err, line(checks, 'database').status]).toEqual([1, '', 'fail']);
      expectNoSecret(out, given);
    });

    it('that was started with fsync off and few connections', async () => {
      const postgres = await PostgresServer.start(['fsync=off', 'full_page_writes=off', 'max_connections=30']);
      try {
        const found = await findings([databaseCheck], { env: { DATABASE_URL: postgres.url } });
        const detail = expect.stringContaining('Off: fsync, full_page_writes.');
        expect(line(found, 'database settings')).toMatchObject({ ...FAIL, detail });
        expect(line(found, 'database connections')).toMatchObject({ ...FAIL, advice: expect.stringContaining('at least 41') });
      } finally {
        await postgres.stop();
      }
    }, 60_000); // prettier-ignore

    it('that lets nothing be written', async () => {
      const db = await createDatabase();
      await db.query(`ALTER DATABASE ${new URL(db.url).pathname.slice(1)} SET default_transaction_read_only = on`);
      const found = await findings([databaseCheck], { env: { DATABASE_URL: db.url } });
      await db.drop();
      expect(line(found, 'database settings')).toMatchObject({ ...FAIL, detail: expect.stringContaining('read_only') });
    });
  });

  it('of migrations: pending ones while a service runs, and those of a newer version', async () => {
    const app = await bootApp();
    const found = async () => line(await findings([migrationsCheck], { env: { DATABASE_URL: app.db.url } }), 'migrations');
    await app.db.query(`DELETE FROM migrations WHERE name = 'Jobs1795824000017'`);
    expect(await found()).toMatchObject({ ...FAIL, detail: expect.stringContaining('1 pending, 0 unknown') });
    await app.db.query(`INSERT INTO migrations (timestamp, name) VALUES (2795824000017, 'Later2795824000017')`);
    expect(await found()).toMatchObject({ ...FAIL, detail: expect.stringContaining('Unknown: Later2795824000017.') });
    await app.close();
  }); // prettier-ignore

  it('migrations that are pending while no service runs are what the next start is for', async () => {
    const db = await createDatabase();
    await db.query(`DELETE FROM migrations WHERE name = 'Jobs1795824000017'; DROP TABLE jobs`);
    const found = await findings([migrationsCheck, queuesCheck], { env: { DATABASE_URL: db.url } });
    expect(line(found, 'migrations')).toMatchObject({ ...WARN, detail: expect.stringContaining('1 pending') });
    expect(line(found, 'queues')).toMatchObject({ ...WARN, detail: 'The tables are not those of this version.' });
    await db.drop();
  });

  it('of the check itself, whose words may come from anywhere: no secret is in them', async () => {
    const { SECRET_KEY, ANTHROPIC_API_KEY } = CANARIES;
    const url = 'postgres://postgres:canary-password@127.0.0.1:1/millwright';
    const look = () => Promise.reject(new Error(`${url} does not take ${SECRET_KEY}, nor ${ANTHROPIC_API_KEY}`));
    const found = await findings([{ name: 'talkative', look }], { env: { DATABASE_URL: url, ANTHROPIC_API_KEY } });
    const detail = expect.stringContaining('postgres://postgres:***@127.0.0.1:1/millwright does not take ***, nor ***');
    expect(line(found, 'talkative')).toMatchObject({ ...FAIL, detail });
  });

  it('of the secret: another one than that of the database', async () => {
    await connect(service, await makeMember(service));
    const found = await findings([secretCheck], { env: env() });
    expect(line(found, 'secret')).toMatchObject({ ...FAIL, detail: expect.stringContaining('0 of 1 secret') });
  });

  describe('of the storage and the disk', () => {
    it('a folder that cannot be written to', async () => {
      if (!SmallDisk.possible) return;
      const disk = await SmallDisk.make(8 * 2 ** 20);
      try {
        mkdirSync(join(disk.path, 'files', 'incoming'), { recursive: true });
        spawnSync('mount', ['-o', 'remount,ro', disk.path]);
        const found = await findings([diskCheck, storageCheck], { env: { ...env(), DATA_DIR: disk.path } });
        expect(line(found, 'disk')).toMatchObject({ ...FAIL, detail: expect.stringContaining('EROFS') });
        expect(line(found, 'storage')).toMatchObject({ ...FAIL, detail: expect.stringContaining('EROFS') });
      } finally {
        await disk.remove();
      }
    });

    it('less space than the reserve', async () => {
      const DATA_DIR = service.app.get(DataDir).path;
      const found = await findings([diskCheck], { env: { ...env(), DATA_DIR, DISK_RESERVE_BYTES: String(2 ** 52) } });
      expect(line(found, 'disk')).toMatchObject(FAIL);
    });

    it('a driver of an extension is tried when its operatorModule brings it, and else not', async () => {
      const extension = { name: 'tables', module: TableStorageModule };
      const STORAGE = 'table';
      const all = await Promise.all(
        [extension, { ...extension, operatorModule: TableStorageModule }].map((one) =>
          findings([storageCheck], { env: { ...env(), STORAGE }, extensions: [one] }),
        ),
      );
      expect(all.map((found) => line(found, 'storage').status)).toEqual(['warn', 'ok']);
      expect(await service.db.query('SELECT FROM kept_files')).toEqual([]);
    });
  });

  describe('of a model provider', () => {
    let server: ModelServer;
    beforeAll(async () => {
      server = await ModelServer.start();
    });
    afterAll(() => server.stop());
    const OPENAI_COMPATIBLE_KEY = CANARIES.OPENAI_COMPATIBLE_KEY;
    const asked = () => ({ ...env(), OPENAI_COMPATIBLE_URL: server.url, OPENAI_COMPATIBLE_KEY });

    it('one that answers 401', async () => {
      server.script = () => ({ status: 401, body: JSON.stringify({ error: { message: `bad key ${OPENAI_COMPATIBLE_KEY}` } }) });
      expect(line(await findings([modelsCheck], { env: asked() }), 'model default')).toMatchObject(FAIL);
    }); // prettier-ignore

    it('one that says nothing: a check that hangs has its name in a ✖', async () => {
      server.script = () => ({ hang: true });
      const found = await findings([{ ...modelsCheck, limitMs: 500 }], { env: asked() });
      expect(found).toEqual([expect.objectContaining({ name: 'models', ...FAIL })]);
    });

    it('without a key it is left out, with a word', async () => {
      const [found] = await findings([modelsCheck], { env: env() });
      expect(found).toMatchObject({ ...WARN, detail: expect.stringMatching(/^Left out, .*anthropic, openai, google/) });
    });
  });

  it('of sandboxes: none in which a command runs', async () => {
    const found = await findings([sandboxesCheck], { env: env(), config: { sandbox: { memoryBytes: 1 } } });
    const names = ['sandbox bubblewrap', 'sandbox namespaces'];
    for (const name of names) expect(line(found, name)).toMatchObject({ ...FAIL, detail: expect.stringContaining('does not work here') });
  }, 60_000); // prettier-ignore

  it('of the clock: a service that lives in another hour', async () => {
    const ready = { status: 'ok', checks: { process: 'ok', database: 'ok', signals: 'ok', storage: 'ok' }, inForce: [], missing: [] };
    const server = createServer((_request, response) => {
      response.setHeader('Date', new Date(Date.now() + 3_600_000).toUTCString()).end(JSON.stringify(ready));
    });
    const PORT = await answering(server);
    const found = await findings([clocksCheck, serviceCheck], { env: { ...env(), PORT } });
    server.close();
    expect(line(found, 'clocks')).toMatchObject({ ...FAIL, detail: expect.stringMatching(/database within 1 s, service 60 min ahead/) });
    expect(line(found, 'service').status).toBe('ok');
  }); // prettier-ignore

  it.each([
    ['is no Millwright', () => createServer((_request, response) => response.end('{}'))],
    ['is cut off from its database', () => createServer((_request, response) => {
      const checks = { process: 'ok', database: 'unavailable', signals: 'ok', storage: 'ok' };
      response.writeHead(503).end(JSON.stringify({ status: 'unavailable', checks, inForce: [], missing: [] }));
    })],
  ])('of what answers at HOST and PORT: it %s', async (_what, make) => {
    const server = make();
    const PORT = await answering(server);
    const found = await findings([serviceCheck], { env: { ...env(), PORT } });
    server.close();
    expect(line(found, 'service')).toMatchObject(FAIL);
  }); // prettier-ignore

  it('of versions and descriptors: an old Node, and more connections than the system allows', async () => {
    expect([ofNode('18.20.0'), ofNode('20.18.9'), ofNode('20.19.0'), ofNode('22.0.0')].map(({ status }) => status)).toEqual(['fail', 'fail', 'ok', 'ok']);
    const found = await findings([descriptorsCheck], { env: { ...env(), MAX_CONNECTIONS: '9999999' } });
    expect(line(found, 'descriptors')).toMatchObject(FAIL);
  }); // prettier-ignore
});

describe('doctor on work that waits', () => {
  const service = useService();
  let worker: pg.Client | null = null;

  beforeAll(async () => {
    const { client } = await makeMember(service);
    await createTask(client, { content: 'waits' });
    await createTask(client, { content: 'is stuck' });
  });
  afterEach(async () => {
    await worker?.end();
    worker = null;
    await service.db.query(`UPDATE runs SET status = 'queued', lease_until = NULL, created_at = now()`);
    await service.db.query('UPDATE tasks SET updated_at = now()');
    await service.db.query('DELETE FROM jobs');
  });

  /** A connection like the one on which every worker looks for work; it takes none. */
  async function connectWorker(): Promise<void> {
    worker = new pg.Client({ connectionString: service.db.url, application_name: 'millwright polling' });
    await worker.connect();
  }
  const look = () => findings([queuesCheck, stuckCheck], { env: { DATABASE_URL: service.db.url } });
  const old = `now() - interval '1 hour'`;
  const age = {
    'queue of runs': [`UPDATE runs SET created_at = ${old}`, `UPDATE tasks SET updated_at = ${old}`],
    'queue of jobs': [`INSERT INTO jobs (id, queue, data, due_at) VALUES (gen_random_uuid(), 'old', '{}', ${old})`],
    'stuck work': [`UPDATE runs SET status = 'running', lease_until = ${old}`],
  };

  it('what is young is ✔, whether or not a worker is there', async () => {
    expect((await look()).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
  });

  it.each(Object.entries(age))('%s: old without a worker is !, old in spite of one is ✖', async (name, statements) => {
    for (const statement of statements) await service.db.query(statement);
    expect(line(await look(), name)).toMatchObject({ ...WARN, detail: expect.stringContaining('60 min') });
    await connectWorker();
    expect(line(await look(), name)).toMatchObject(FAIL);
  });

  it('events and automations to which nobody comes', async () => {
    const member = await makeMember(service);
    const connection = await connect(service, member);
    const id = await automationOn(service, member, connection.id);
    await service.db.query(`UPDATE automations SET next_run_at = ${old} WHERE id = $1`, [id]);
    await service.db.query(`INSERT INTO event_handlers (name, xid, id) VALUES ('Old.handler', 0, 0)`);
    await service.db.query(`UPDATE workspace_events SET created_at = ${old}`);
    await connectWorker();
    const found = await look();
    await service.db.query('DELETE FROM event_handlers; DELETE FROM automations');
    for (const name of ['queue of events', 'queue of automations'])
      expect(line(found, name)).toMatchObject({ ...FAIL, detail: expect.stringContaining('the first for 60 min') });
  });

  it('runs that wait while all places are taken are no ✖, nor is a task that waits for a person', async () => {
    for (const statement of age['queue of runs']) await service.db.query(statement);
    await service.db.query(
      `UPDATE runs SET status = 'running', lease_until = now() + interval '1 minute' WHERE id = (SELECT id FROM runs LIMIT 1)`,
    );
    await connectWorker();
    const found = await look();
    expect(line(found, 'queue of runs')).toMatchObject(WARN);
    expect(line(found, 'stuck work').status).toBe('ok');
  });

  it('jobs that failed are told of', async () => {
    await service.db.query(
      `INSERT INTO jobs (id, queue, data, status, failed_at) VALUES (gen_random_uuid(), 'q', '{}', 'failed', now())`,
    );
    expect(line(await look(), 'failed jobs')).toMatchObject(WARN);
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

  it('a Redis as it should be is ✔, one that evicts is !', async () => {
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
  }, 60_000);
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

  it('starts it for the time of the look, and neither migrates it nor makes a secret', async () => {
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
      await client.end();
      const joined = await findings(all, { env: { DATA_DIR: folder.path } });
      await server.stop();
      expect(line(joined, 'embedded database').detail).toContain(`process ${process.pid}`);
    } finally {
      folder.remove();
    }
  }, 60_000); // prettier-ignore

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
