// Run as a process of its own, to be killed: starts the embedded server of argv[2] and writes rows for ever, saying the
// number of each one only when it is acknowledged.
import { existsSync } from 'node:fs';
import pg from 'pg';

const module = new URL('../../dist/platform/database/embedded/embedded-postgres.js', import.meta.url);
if (!existsSync(module)) throw new Error('dist/ is missing: run "npm run build" first ("npm test" does it).');
const { EmbeddedPostgres } = await import(module);

const logger = { log: () => {}, debug: () => {}, error: (line) => console.error(line) };
const server = await EmbeddedPostgres.start({ dataDir: process.argv[2], logger });
const client = new pg.Client({ connectionString: server.url });
await client.connect();
await client.query('CREATE TABLE IF NOT EXISTS written (n bigserial PRIMARY KEY)');
for (;;) {
  const { rows } = await client.query('INSERT INTO written DEFAULT VALUES RETURNING n');
  process.stdout.write(`${rows[0].n}\n`);
}
