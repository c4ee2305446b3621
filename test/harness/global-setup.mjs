// One PostgreSQL for the whole test run, with a migrated template that each test file clones (45–145 ms).
// TEST_DATABASE_URL names another server (a superuser's URL) to use instead of the embedded one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

export default async function () {
  const admin = process.env.TEST_DATABASE_URL ?? (await startEmbedded());
  process.env.MILLWRIGHT_TEST_ADMIN_URL = admin;
  const template = `mw_template_${process.pid}`;
  const client = new pg.Client({ connectionString: admin });
  await client.connect();
  await client.query(`CREATE DATABASE ${template}`);
  await client.end();
  const { DataSource } = await import('typeorm');
  const { MIGRATIONS } = await import('../../dist/platform/database/migrations/index.js');
  const url = new URL(admin);
  url.pathname = `/${template}`;
  const source = await new DataSource({ type: 'postgres', url: url.href, migrations: MIGRATIONS }).initialize();
  await source.runMigrations({ transaction: 'each' });
  await source.destroy();
  process.env.MILLWRIGHT_TEST_TEMPLATE = template;
}

async function startEmbedded() {
  const { EmbeddedPostgres } = await import('../../dist/platform/database/embedded/embedded-postgres.js');
  const dataDir = mkdtempSync(join(tmpdir(), 'millwright-tests-'));
  const server = await EmbeddedPostgres.start({
    dataDir,
    logger: { log() {}, debug() {}, error: console.error },
    durable: false,
  });
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
