// A durable PostgreSQL with room for the connections of a hundred workers, out of the binaries of the embedded one.
import { once } from 'node:events';
import { chmodSync, closeSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { removeReachable, removeTree } from '../../dist/platform/config/reachable.js';
import { spawnAs } from '../../dist/platform/database/embedded/embedded-account.js';
import { nativeFolder, platformPackage } from '../../dist/platform/database/embedded/embedded-binaries.js';
import { DATABASE, locateCluster, prepareCluster } from '../../dist/platform/database/embedded/embedded-cluster.js';
import { tryLock } from '../../dist/platform/database/embedded/embedded-lock.js';
import { freePort } from '../../scripts/free-port.mjs';

const BOOT_MS = 60_000;
/** A page is written whole at its first change after a checkpoint: with one at each five minutes, as by default, runs of a minute would differ by that. */
const SETTINGS = ['unix_socket_directories=', 'shared_buffers=256MB', 'checkpoint_timeout=1h', 'max_wal_size=8GB'];

/** Resolves with the URL of a superuser's database, and `stop`, which ends and removes the server. */
export async function startPostgres(connections) {
  const dataDir = mkdtempSync(join(tmpdir(), 'millwright-simulation-'));
  if (process.getuid() === 0) chmodSync(dataDir, 0o711);
  const remove = () => {
    removeTree(dataDir);
    removeReachable(dataDir);
  };
  const cluster = locateCluster(dataDir);
  const native = nativeFolder(platformPackage(), cluster.reachable, cluster.account);
  const lock = await tryLock(join(dataDir, 'postgres.lock'));
  const { password } = await prepareCluster(cluster, { dataDir, native, lock, durable: true });
  closeSync(lock);
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, `max_connections=${connections}`, ...SETTINGS];
  const words = ['-D', join(cluster.folder, 'data'), ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawnAs(cluster.account, [join(native, 'bin', 'postgres'), ...words], ['ignore', 'ignore', 'pipe']);
  let said = '';
  child.stderr.on('data', (text) => (said = (said + text).slice(-4000)));
  // SIGQUIT ends it at once, with all its processes; SIGKILL would leave those.
  const quit = () => child.kill('SIGQUIT');
  process.once('exit', quit);
  const stop = async () => {
    process.off('exit', quit);
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGINT');
      await once(child, 'exit');
    }
    remove();
  };
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/${DATABASE}`;
  const until = performance.now() + BOOT_MS;
  while (!(await answers(url))) {
    if (child.exitCode === null && performance.now() < until) await delay(50);
    else await stop().finally(() => Promise.reject(new Error(`PostgreSQL did not start:\n${said}`)));
  }
  return { url, stop };
}

async function answers(url) {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
