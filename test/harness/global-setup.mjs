// One PostgreSQL for the whole test run, with a migrated template that each booted service clones.
// TEST_DATABASE_URL names another server (a superuser's URL) to use instead of the embedded one.
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

const MEMORY = '/dev/shm';
/** Of a file system in memory: TMPFS_MAGIC of statfs(2). */
const TMPFS = 0x01021994;
/** Bytes. A run takes 0.5 GB there, and the log of the server 0.3 at most. */
const ROOM = 3 * 1024 ** 3;

export default async function () {
  const admin = process.env.TEST_DATABASE_URL ?? (await startEmbedded());
  process.env.MILLWRIGHT_TEST_ADMIN_URL = admin;
  const template = `mw_template_${process.pid}`;
  const client = new pg.Client({ connectionString: admin });
  await client.connect();
  await client.query(`CREATE DATABASE ${template}`);
  await client.end();
  const { DataSource } = await import('typeorm');
  const { MIGRATIONS } = await import('../../dist/operator/migrations/index.js');
  const url = new URL(admin);
  url.pathname = `/${template}`;
  const source = await new DataSource({ type: 'postgres', url: url.href, migrations: MIGRATIONS }).initialize();
  await source.runMigrations({ transaction: 'each' });
  await source.destroy();
  process.env.MILLWRIGHT_TEST_TEMPLATE = template;
}

async function startEmbedded() {
  const { EmbeddedPostgres } = await import('../../dist/platform/database/embedded/embedded-postgres.js');
  const dataDir = mkdtempSync(join(place(), 'millwright-tests-'));
  // The server runs as a user of its own when root starts it, and has to pass.
  chmodSync(dataDir, 0o711);
  const server = await EmbeddedPostgres.start({
    dataDir,
    logger: { log() {}, debug() {}, error: console.error },
    durable: false,
  });
  process.env.MILLWRIGHT_TEST_STRATEGY = 'file_copy';
  await bound(server.url);
  globalThis.millwrightTestServer = {
    stop: async () => {
      await server.stop();
      const { removeReachable } = await import('../../dist/platform/config/reachable.js');
      removeReachable(dataDir);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return server.url;
}

/**
 * In memory, where there is room. A database is 500 files, and a run makes hundreds of databases: to make and delete one costs
 * 40 ms of CPU there. A disk needs 280 when its file system looks for files that were deleted a moment ago (ext4 without a journal).
 */
function place() {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY);
    return type === TMPFS && Math.min(bavail * bsize, process.availableMemory()) > ROOM ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** The log of the server, 1 GB of it otherwise. */
async function bound(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`ALTER SYSTEM SET max_wal_size = '256MB'`);
  await client.query('SELECT pg_reload_conf()');
  await client.end();
}
