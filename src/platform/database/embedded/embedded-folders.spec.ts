import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { IS_ROOT, Lines, query, temporaryDataDir } from '../../../../test/harness/embedded.js';
import { makeReachable, reachableFolder, removeReachable } from '../../config/reachable.js';
import { nativeFolder, platformPackage } from './embedded-binaries.js';
import { prepareCluster } from './embedded-cluster.js';
import { EmbeddedPostgres } from './embedded-postgres.js';

/** The body makes folders, so it is not even entered where it is skipped. */
function asRoot(name: string, body: () => void): void {
  if (IS_ROOT) describe(name, body);
  else describe.skip(name, () => it.todo('needs root'));
}

// An ordinary user runs the server as himself, and reaches what he owns.
asRoot('the embedded PostgreSQL of root, below a closed folder', () => {
  const dir = temporaryDataDir();
  const dataDir = join(dir.path, 'data');
  const packageFolder = join(dir.path, 'package');
  const logger = new Lines();
  const options = { dataDir, logger, durable: false, packageFolder };
  const location = join(dataDir, 'postgres.location');

  beforeAll(() => {
    chmodSync(dir.path, 0o700);
    mkdirSync(dataDir);
    cpSync(platformPackage(), packageFolder, { recursive: true, verbatimSymlinks: true });
  });
  afterAll(() => {
    removeReachable(dataDir);
    dir.remove();
  });

  it('keeps its data in /var/lib, says so, and finds it again', async () => {
    const first = await EmbeddedPostgres.start(options);
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS seven');
    await first.stop();
    const folder = readFileSync(location, 'utf8').trim();
    expect(folder).toMatch(/^\/var\/lib\/millwright\/[0-9a-f]{16}\/postgres$/);
    expect(logger.logged.at(-1)).toContain(folder);
    expect(statSync(folder).uid).not.toBe(0);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);

    // The record counts, even when the way to DATA_DIR is open by now.
    chmodSync(dir.path, 0o711);
    const second = await EmbeddedPostgres.start(options);
    expect(await query(second.url, 'SELECT seven FROM kept')).toEqual([{ seven: 7 }]);
    await second.stop();
    chmodSync(dir.path, 0o700);
  });

  it('does not begin an empty database when the recorded one is gone', async () => {
    removeReachable(dataDir);
    await expect(EmbeddedPostgres.start(options)).rejects.toThrow('where there is none');
    rmSync(location);
    const fresh = await EmbeddedPostgres.start(options);
    await expect(query(fresh.url, 'SELECT * FROM kept')).rejects.toMatchObject({ code: '42P01' });
    await fresh.stop();
  });

  it('sets aside what a deleted DATA_DIR of the same name has left, and begins anew', async () => {
    const before = await EmbeddedPostgres.start(options);
    await query(before.url, 'CREATE TABLE of_the_deleted ()');
    await before.stop();
    const folder = readFileSync(location, 'utf8').trim();
    // As if DATA_DIR had been deleted and made again.
    rmSync(dataDir, { recursive: true });
    mkdirSync(dataDir);
    const fresh = await EmbeddedPostgres.start(options);
    await expect(query(fresh.url, 'SELECT * FROM of_the_deleted')).rejects.toMatchObject({ code: '42P01' });
    await fresh.stop();
    const said = logger.logged.find((line) => line.startsWith('DATA_DIR is new'));
    const aside = said?.split(': ').at(-1) ?? '';
    expect(aside.startsWith(`${folder}.left-`)).toBe(true);
    expect(existsSync(join(aside, 'data', 'PG_VERSION'))).toBe(true);
    // With its record it is known again, and nothing is set aside.
    const again = await EmbeddedPostgres.start(options);
    await again.stop();
    expect(logger.logged.filter((line) => line.startsWith('DATA_DIR is new'))).toHaveLength(1);
    rmSync(aside, { recursive: true });
  });

  it('does not begin an empty database beside one in DATA_DIR that it cannot reach', async () => {
    mkdirSync(join(dataDir, 'postgres', 'data'), { recursive: true });
    cpSync(
      join(readFileSync(location, 'utf8').trim(), 'data', 'PG_VERSION'),
      join(dataDir, 'postgres', 'data', 'PG_VERSION'),
    );
    rmSync(location);
    await expect(EmbeddedPostgres.start(options)).rejects.toThrow(/cannot pass through the folders above it/);
    rmSync(join(dataDir, 'postgres'), { recursive: true });
  });
});

asRoot('the embedded PostgreSQL of root, over the folder of an ordinary user', () => {
  const dir = temporaryDataDir();
  afterAll(() => dir.remove());

  it('leaves files that their owner can go on with', async () => {
    const owner = 65_534;
    chmodSync(dir.path, 0o700);
    chownSync(dir.path, owner, owner);
    const command = await EmbeddedPostgres.joinOrStart({ dataDir: dir.path, logger: new Lines(), durable: false });
    await command.stop();
    const owners = ['postgres', 'postgres/data', 'postgres.lock', 'postgres.password'].map(
      (name) => statSync(join(dir.path, name)).uid,
    );
    expect(owners).toEqual([owner, owner, owner, owner]);
  });
});

asRoot('the embedded PostgreSQL of a user ID without a name', () => {
  const dir = temporaryDataDir();
  afterAll(() => dir.remove());

  it('says in one sentence what to do', async () => {
    const account = { name: 'a number of a container', uid: 54_321, gid: 54_321 };
    const reachable = reachableFolder(dir.path, account.uid);
    if (reachable !== dir.path) makeReachable(reachable);
    const cluster = { folder: join(reachable, 'postgres'), reachable, account };
    const native = nativeFolder(platformPackage(), reachable, account);
    const lock = openSync(join(dir.path, 'postgres.lock'), 'w');
    await expect(prepareCluster(cluster, { dataDir: dir.path, native, lock, durable: false })).rejects.toThrow(
      /^The embedded PostgreSQL cannot make [^\n]* user ID 54321, [^\n]*\/etc\/passwd, [^\n]* or set DATABASE_URL\.$/,
    );
    closeSync(lock);
  });
});
