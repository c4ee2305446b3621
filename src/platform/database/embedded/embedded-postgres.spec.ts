import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { isAlive, Lines, query, serverPid, temporaryDataDir } from '../../../../test/harness/embedded.js';
import { until } from '../../../../test/harness/until.js';
import { nativeFolder, platformPackage } from './embedded-binaries.js';
import { locateCluster } from './embedded-cluster.js';
import { EmbeddedPostgres } from './embedded-postgres.js';
import { EmbeddedServer, freePort } from './embedded-server.js';
import { DataDirInUse, tryLock } from './embedded-lock.js';
import { slowIt } from '../../../../test/harness/slow.js';

describe('the embedded PostgreSQL', () => {
  const dir = temporaryDataDir();
  const folder = join(dir.path, 'postgres');
  const logger = new Lines();
  const options = { dataDir: dir.path, logger, durable: false };
  const running: EmbeddedPostgres[] = [];
  const started = async (server: Promise<EmbeddedPostgres>) => {
    running.push(await server);
    return server;
  };

  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.stop()));
  });
  afterAll(() => dir.remove());

  slowIt('throws away what a killed first boot left and begins again', async () => {
    mkdirSync(join(folder, 'draft', 'data'), { recursive: true });
    writeFileSync(join(folder, 'draft', 'data', 'PG_VERSION'), '18\n');
    const server = await started(EmbeddedPostgres.start(options));
    expect(await query(server.url, 'SELECT current_database() AS name')).toEqual([{ name: 'millwright' }]);
    expect(existsSync(join(folder, 'draft'))).toBe(false);
  });

  it('keeps its data over a restart, and its files closed', async () => {
    const first = await started(EmbeddedPostgres.start(options));
    await query(first.url, "CREATE TABLE kept AS SELECT 'grün' AS word");
    const pid = serverPid(folder);
    await Promise.all([first.stop(), first.stop()]);
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(join(dir.path, 'postgres.json'))).toBe(false);

    const second = await started(EmbeddedPostgres.start(options));
    expect(await query(second.url, 'SELECT upper(word) AS word FROM kept')).toEqual([{ word: 'GRÜN' }]);
    const modes = ['postgres', 'postgres/data', 'postgres.password', 'postgres.json', 'postgres.lock', 'service.lock'];
    expect(modes.map((name) => (statSync(join(dir.path, name)).mode & 0o777).toString(8))).toEqual([
      ...['700', '700'],
      ...['600', '600', '600', '600'],
    ]);
    expect(logger.logged.at(-1)).toContain(folder);
  });

  it('lets nobody in without the password, and listens on loopback alone', async () => {
    const { url } = await started(EmbeddedPostgres.start(options));
    const wrong = Object.assign(new URL(url), { password: 'wrong' }).href;
    await expect(query(wrong, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    const settings = `SELECT name, setting FROM pg_settings
      WHERE name IN ('listen_addresses', 'unix_socket_directories', 'password_encryption') ORDER BY name`;
    expect(await query(url, settings)).toEqual([
      { name: 'listen_addresses', setting: '127.0.0.1' },
      { name: 'password_encryption', setting: 'scram-sha-256' },
      { name: 'unix_socket_directories', setting: '' },
    ]);
    expect(await query(url, "SELECT 1 FROM pg_hba_file_rules WHERE auth_method <> 'scram-sha-256'")).toEqual([]);
    const inherited = readFileSync(`/proc/${serverPid(folder)}/environ`, 'utf8');
    expect(inherited).not.toContain('NODE_ENV');
  });

  it('writes durably unless told otherwise', async () => {
    const sql = 'SHOW fsync';
    const test = await started(EmbeddedPostgres.start(options));
    expect(await query(test.url, sql)).toEqual([{ fsync: 'off' }]);
    await test.stop();
    const service = await started(EmbeddedPostgres.start({ dataDir: dir.path, logger }));
    expect(await query(service.url, sql)).toEqual([{ fsync: 'on' }]);
  });

  it('refuses a second service, naming the folder and the first, whichever of them comes first', async () => {
    const all = await Promise.allSettled(Array.from({ length: 4 }, () => EmbeddedPostgres.start(options)));
    const won = all.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const lost = all.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : []));
    running.push(...won);
    expect(won).toHaveLength(1);
    expect(lost).toHaveLength(3);
    expect(lost.every((error) => error instanceof DataDirInUse)).toBe(true);
    await expect(EmbeddedPostgres.start(options)).rejects.toThrow(`process ${process.pid}`);
    await expect(EmbeddedPostgres.start(options)).rejects.toThrow(dir.path);
  });

  it('lets an operator command join the running service, and leave it running', async () => {
    const service = await started(EmbeddedPostgres.start(options));
    const command = await started(EmbeddedPostgres.joinOrStart(options));
    expect(command.url).toBe(service.url);
    await command.stop();
    expect(await query(service.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('lets operator commands take turns, and a service wait for them', async () => {
    const first = await started(EmbeddedPostgres.joinOrStart(options));
    const impatient = EmbeddedPostgres.joinOrStart({ ...options, patienceMs: 0 });
    await expect(impatient).rejects.toThrow(`process ${process.pid} (command)`);
    await expect(EmbeddedPostgres.start({ ...options, patienceMs: 0 })).rejects.toThrow('still in use');

    const second = started(EmbeddedPostgres.joinOrStart(options));
    const service = started(EmbeddedPostgres.start(options));
    expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await first.stop();
    const done = second.then(async (command) => {
      expect(await query(command.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await command.stop();
    });
    expect(await query((await service).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await done;
  });

  it('is not misled by a pid file that names some other process of the same user', async () => {
    const { uid } = statSync(join(folder, 'data'));
    const other = spawn('sleep', ['60'], { uid, stdio: 'ignore' });
    await once(other, 'spawn');
    const ended = once(other, 'exit');
    try {
      writeFileSync(join(folder, 'data', 'postmaster.pid'), `${other.pid}\n${folder}/data\n0\n5432\n\n127.0.0.1\n`);
      const server = await started(EmbeddedPostgres.start(options));
      expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      other.kill();
      await ended;
    }
  });

  it('says the last lines of a server that does not start, and frees the folder', async () => {
    const version = join(folder, 'data', 'PG_VERSION');
    writeFileSync(version, '12\n');
    await expect(EmbeddedPostgres.start(options)).rejects.toThrow('initialized by PostgreSQL version 12');
    writeFileSync(version, '18\n');
    await (await started(EmbeddedPostgres.start(options))).stop();
  });

  it('takes another port when the one it chose is taken meanwhile, but not for ever', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const taken = (squatter.address() as AddressInfo).port;
    const lock = await tryLock(join(dir.path, 'postgres.lock'));
    const cluster = locateCluster(dir.path);
    const native = nativeFolder(platformPackage(), cluster.reachable, cluster.account);
    try {
      const start = { native, lock: lock ?? -1, durable: false, logger };
      const ports = [taken, taken];
      const server = await EmbeddedServer.start(cluster, start, async () => ports.shift() ?? (await freePort()));
      expect(ports).toEqual([]);
      expect(server.port).not.toBe(taken);
      await server.stop();
      const always = EmbeddedServer.start(cluster, start, () => Promise.resolve(taken));
      await expect(always).rejects.toThrow('Address already in use');
    } finally {
      squatter.close();
      if (lock !== null) closeSync(lock);
    }
  });

  it('ends with its process even when the shell between them was killed', async () => {
    const server = await started(EmbeddedPostgres.start(options));
    const pid = serverPid(folder);
    const guard = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    process.kill(guard, 'SIGKILL');
    await until('the end of the shell', () => !isAlive(guard));
    await server.stop();
    // Its descriptors, which stop() waits for, are closed a moment before it is gone.
    await until('the end of the server', () => !isAlive(pid));
  });

  it.each(['SIGQUIT', 'SIGKILL'] as const)(
    'reports a server that ends by itself (%s), and starts it again where it was',
    async (signal) => {
      const server = await started(EmbeddedPostgres.start({ ...options, durable: true }));
      await query(server.url, `CREATE TABLE ${signal} AS SELECT 1 AS n`);
      const pid = serverPid(folder);
      logger.errors.length = 0;
      process.kill(pid, signal);
      await until('the report', () => logger.errors.some((line) => line.includes('ended by itself')));
      const rows = () => query(server.url, `SELECT n FROM ${signal}`).catch(() => null);
      expect(await until('its answer', rows, { within: 150_000 })).toEqual([{ n: 1 }]);
      const command = await EmbeddedPostgres.joinOrStart(options);
      expect(command.url).toBe(server.url);
      const next = serverPid(folder);
      await server.stop();
      expect(isAlive(next)).toBe(false);
    },
  );

  it('tries that until it succeeds, or is stopped', async () => {
    const [data, away] = [join(folder, 'data'), join(folder, 'away')];
    const server = await started(EmbeddedPostgres.start(options));
    const fails = async () => {
      const pid = serverPid(folder);
      renameSync(data, away);
      logger.errors.length = 0;
      process.kill(pid, 'SIGKILL');
      await until('an attempt', () => logger.errors.some((line) => line.includes('did not start')), {
        within: 150_000,
      });
    };
    await fails();
    renameSync(away, data);
    await until('its answer', () => query(server.url, 'SELECT 1').catch(() => null), { within: 150_000 });
    await fails();
    await server.stop();
    renameSync(away, data);
    await (await started(EmbeddedPostgres.start(options))).stop();
  });

  it('does not begin an empty database when the password of the present one is missing', async () => {
    const path = join(dir.path, 'postgres.password');
    const password = readFileSync(path, 'utf8');
    rmSync(path);
    await expect(EmbeddedPostgres.start(options)).rejects.toThrow('postgres.password');
    writeFileSync(path, password, { mode: 0o600 });
    const lock = await tryLock(join(dir.path, 'postgres.lock'));
    expect(lock).not.toBeNull();
    if (lock !== null) closeSync(lock);
  });
});
