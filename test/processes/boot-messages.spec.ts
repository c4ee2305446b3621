import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { freePort } from '../harness/ports.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';

describe('A boot that cannot succeed says why in words (reference §16)', () => {
  const folder = temporaryFolder();
  let db: TestDatabase;
  let env: Record<string, string>;

  beforeAll(async () => {
    db = await createDatabase();
    const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';
    env = { DATA_DIR: join(folder.path, 'data'), DATABASE_URL: db.url, SECRET_KEY, ROLE: 'api', LOG_LEVEL: 'fatal' };
  });
  afterAll(async () => {
    await db.drop();
    folder.remove();
  });

  /** What it says; fails unless it ends by itself, with 1, without a stack. */
  async function refusal(change: Record<string, string>): Promise<string> {
    const service = await ServiceProcess.spawn({ ...env, ...change });
    await until('it to end', () => service.ended, { within: 50_000 });
    expect([service.child.exitCode, service.log]).toEqual([1, expect.not.stringMatching(/^\s+at /m)]);
    return service.log;
  }

  it('the listen address is in use', async () => {
    const port = await freePort();
    const taken: Server = createServer().listen(port, '127.0.0.1');
    try {
      const said = await refusal({ PORT: String(port) });
      expect(said).toContain(`HOST, PORT: an address that is free is expected, and 127.0.0.1:${port} is not`);
    } finally {
      taken.close();
    }
  }, 60_000);

  it('DATA_DIR cannot be made', async () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    expect(await refusal({ DATA_DIR: join(file, 'data') })).toMatch(
      /^DATA_DIR: a folder that can be made is expected \(ENOTDIR/m,
    );
  }, 60_000);

  it('a paid bucket is smaller than the free one', async () => {
    const file = join(folder.path, 'limits.json');
    const paid = { policies: { file_upload: { capacity: 19 } } };
    writeFileSync(file, JSON.stringify({ rateLimits: { paid } }));
    expect(await refusal({ CONFIG_FILE: file })).toMatch(/^CONFIG_FILE, rateLimits.*file_upload/m);
  }, 60_000);

  it('DATABASE_URL leads nowhere; the message holds no password', async () => {
    const port = await freePort();
    const said = await refusal({ DATABASE_URL: `postgres://postgres:top-secret@127.0.0.1:${port}/postgres` });
    expect(said).toMatch(/^DATABASE_URL: a PostgreSQL that answers there is expected \(.*ECONNREFUSED/m);
    expect(said).not.toContain('top-secret');
  }, 60_000);
});
