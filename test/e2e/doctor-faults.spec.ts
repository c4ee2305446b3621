import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import type { Finding } from '../../src/operator/doctor/check.js';
import { clocksCheck } from '../../src/operator/doctor/clocks.check.js';
import { databaseCheck } from '../../src/operator/doctor/database.check.js';
import { descriptorsCheck } from '../../src/operator/doctor/descriptors.check.js';
import { diskCheck } from '../../src/operator/doctor/disk.check.js';
import { migrationsCheck } from '../../src/operator/doctor/migrations.check.js';
import { modelsCheck } from '../../src/operator/doctor/models.check.js';
import { queuesCheck } from '../../src/operator/doctor/queues.check.js';
import { sandboxesCheck } from '../../src/operator/doctor/sandboxes.check.js';
import { secretCheck } from '../../src/operator/doctor/secret.check.js';
import { serviceCheck } from '../../src/operator/doctor/service.check.js';
import { storageCheck } from '../../src/operator/doctor/storage.check.js';
import { stuckCheck } from '../../src/operator/doctor/stuck.check.js';
import { ofNode } from '../../src/operator/doctor/versions.check.js';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { Installation } from '../../src/platform/installation/installation.js';
import { TableStorageModule } from '../extensions/table-storage.js';
import { bootApp, useService } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { createDatabase } from '../harness/database.js';
import { CANARIES, expectNoSecret, findings, line } from '../harness/doctor.js';
import { automationOn, connect } from '../harness/hooks.js';
import { ModelServer } from '../harness/model-server.js';
import { Operator } from '../harness/operator.js';
import { freePort } from '../harness/ports.js';
import { PostgresServer } from '../harness/postgres.js';
import { SmallDisk } from '../harness/small-disk.js';
import { createTask } from '../harness/tasks.js';
import { slowIt } from '../harness/slow.js';

const FAIL = { status: 'fail', advice: expect.stringMatching(/\S/) };
const WARN = { status: 'warn', advice: expect.stringMatching(/\S/) };

/** A port of this machine that answers every request with this. */
async function answering(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return String((server.address() as AddressInfo).port);
}

describe('doctor says ✖ for a real fault', () => {
  const service = useService();
  const env = () => ({ DATABASE_URL: service.db.url });
  const own = () => ({ DATA_DIR: service.app.get(DataDir).path, installation: service.app.get(Installation).sign });

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
      const OPENAI_COMPATIBLE_URL = 'http://127.0.0.1:1/v1';
      const given = { ...CANARIES, OPENAI_COMPATIBLE_URL, DATABASE_URL: url, PORT: '1', ROLE: 'api' };
      const { code, out, err } = await new Operator(service, given).spawn('doctor', '--json', '--no-models');
      const { checks } = JSON.parse(out) as { checks: Finding[] };
      expect([code, err, line(checks, 'database').status]).toEqual([1, '', 'fail']);
      expectNoSecret(out, given);
    });

    slowIt('that was started with fsync off and few connections', async () => {
      const postgres = await PostgresServer.start(['fsync=off', 'full_page_writes=off', 'max_connections=30']);
      try {
        const found = await findings([databaseCheck], { env: { DATABASE_URL: postgres.url } });
        const detail = expect.stringContaining('Off: fsync, full_page_writes.');
        expect(line(found, 'database settings')).toMatchObject({ ...FAIL, detail });
        expect(line(found, 'database connections')).toMatchObject({ ...FAIL, advice: expect.stringContaining('at least 51') });
      } finally {
        await postgres.stop();
      }
    }, 120_000); // prettier-ignore

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
    const found = await findings([{ name: 'talkative', run: look }], { env: { DATABASE_URL: url, ANTHROPIC_API_KEY } });
    const detail = expect.stringContaining('postgres://postgres:***@127.0.0.1:1/millwright does not take ***, nor ***');
    expect(line(found, 'talkative')).toMatchObject({ ...FAIL, detail });
  });
  it('of the secret: another one than that of the database', async () => {
    const { client } = await makeMember(service, { role: 'owner' });
    await client.post('/v1/repository-connections', { host: 'github.com', token: 'a-token-of-a-test' });
    const found = await findings([secretCheck], { env: env() });
    expect(line(found, 'secret')).toMatchObject({ ...FAIL, detail: expect.stringContaining('0 of 2 secrets') });
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
  }, 120_000); // prettier-ignore

  it('of the clock: a service that lives in another hour', async () => {
    const { DATA_DIR, installation } = own();
    const ready = { installation, status: 'ok', checks: { process: 'ok', database: 'ok', signals: 'ok', storage: 'ok' }, inForce: [], missing: [] };
    const server = createServer((_request, response) => {
      response.setHeader('Date', new Date(Date.now() + 3_600_000).toUTCString()).end(JSON.stringify(ready));
    });
    const PORT = await answering(server);
    const found = await findings([clocksCheck, serviceCheck], { env: { ...env(), DATA_DIR, PORT } });
    server.close();
    expect(line(found, 'clocks')).toMatchObject({ ...FAIL, detail: expect.stringMatching(/database within 1 s, service 60 min ahead/) });
    expect(line(found, 'service').status).toBe('ok');
  }); // prettier-ignore

  it.each([
    ['is no Millwright', 'is no Millwright', () => createServer((_request, response) => response.end('{}'))],
    ['is cut off from its database', 'database unavailable', (installation: string) => createServer((_request, response) => {
      const checks = { process: 'ok', database: 'unavailable', signals: 'ok', storage: 'ok' };
      response.writeHead(503).end(JSON.stringify({ status: 'unavailable', checks, installation, inForce: [], missing: [] }));
    })],
  ])('of what answers at HOST and PORT: it %s', async (_what, words, make) => {
    const { DATA_DIR, installation } = own();
    const server = make(installation);
    const PORT = await answering(server);
    const found = await findings([serviceCheck], { env: { ...env(), DATA_DIR, PORT } });
    server.close();
    expect(line(found, 'service')).toMatchObject({ ...FAIL, detail: expect.stringContaining(words) });
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
