// What nobody has configured costs nothing: the package is not even read.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { MockProvider, SECRET_ENV, signInBy } from '../harness/mock-provider.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';

describe('openid-client (reference §31)', () => {
  const folder = temporaryFolder();
  let db: TestDatabase;
  let provider: MockProvider;
  beforeAll(async () => {
    [db, provider] = [await createDatabase(), await MockProvider.listen()];
  });
  afterAll(async () => {
    await provider.close();
    await db.drop();
    folder.remove();
  });

  /** The addresses of all modules that a process of the service had loaded when it stopped, as V8 counts them. */
  async function loadedBy(name: string, config: object): Promise<string[]> {
    const [file, NODE_V8_COVERAGE] = [join(folder.path, `${name}.json`), join(folder.path, name)];
    writeFileSync(file, JSON.stringify(config));
    const own = { DATABASE_URL: db.url, SECRET_KEY: 'a secret of the tests, at least 32 bytes long', ROLE: 'api' };
    const service = await ServiceProcess.start({ ...own, ...SECRET_ENV, CONFIG_FILE: file, NODE_V8_COVERAGE });
    try {
      await fetch(`${service.url}/console/sign-in`, { redirect: 'manual' });
    } finally {
      await service.end();
    }
    return readdirSync(NODE_V8_COVERAGE).flatMap((one) => {
      const { result } = JSON.parse(readFileSync(join(NODE_V8_COVERAGE, one), 'utf8')) as { result: { url: string }[] };
      return result.map(({ url }) => url);
    });
  }
  const ofSignIn = (urls: string[]) => urls.filter((url) => /node_modules\/(openid-client|oauth4webapi)\//.test(url));

  it('is loaded where signIn is configured, and nowhere else', async () => {
    const without = await loadedBy('without', {});
    expect(without.length).toBeGreaterThan(100);
    expect(ofSignIn(without)).toEqual([]);
    expect(ofSignIn(await loadedBy('with', { signIn: signInBy(provider) }))).not.toEqual([]);
  });
});
