import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { Client } from '../harness/client.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { FakeStripe } from './fake-stripe.js';

const WATCH = fileURLToPath(new URL('../harness/watched-imports.mjs', import.meta.url));

describe('The package of Stripe', () => {
  const folder = temporaryFolder();
  let db: TestDatabase;
  let stripe: FakeStripe;
  beforeAll(async () => {
    db = await createDatabase();
    stripe = await FakeStripe.start();
  });
  afterAll(async () => {
    await stripe.stop();
    await db.drop();
    folder.remove();
  });

  const start = (more: Record<string, string> = {}) =>
    ServiceProcess.start({
      DATABASE_URL: db.url,
      DATA_DIR: folder.path,
      SECRET_KEY: 'a secret of the tests, at least 32 bytes long',
      NODE_OPTIONS: `--import=${WATCH}`,
      ...more,
    });

  it('is not loaded, and there is no address for its events, without billing in CONFIG_FILE', async () => {
    const service = await start();
    try {
      const answer = await fetch(`${service.url}/hooks/billing/stripe`, { method: 'POST', body: '{}' });
      expect(answer.status).toBe(404);
      expect(((await (await fetch(`${service.url}/openapi.json`)).json()) as { paths: object }).paths).not.toHaveProperty(['/hooks/billing/stripe']);
    } finally {
      await service.end();
    }
    expect(service.log).not.toContain('IMPORTED');
  }, 240_000); // prettier-ignore

  it('is loaded with it', async () => {
    const file = join(folder.path, 'config.json');
    writeFileSync(file, JSON.stringify(stripe.config()));
    const service = await start({ CONFIG_FILE: file, ...stripe.env });
    try {
      const unsigned = await new Client(service.url).request('POST', '/hooks/billing/stripe', { raw: '{}' });
      expect(unsigned.status).toBe(401);
    } finally {
      await service.end();
    }
    expect(service.log).toContain('IMPORTED stripe');
  }, 240_000);
});
