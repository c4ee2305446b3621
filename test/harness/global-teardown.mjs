import pg from 'pg';

export default async function () {
  const client = new pg.Client({ connectionString: process.env.MILLWRIGHT_TEST_ADMIN_URL });
  await client.connect();
  await client.query(`DROP DATABASE IF EXISTS ${process.env.MILLWRIGHT_TEST_TEMPLATE} WITH (FORCE)`);
  await client.end();
  await globalThis.millwrightTestServer?.stop();
}
