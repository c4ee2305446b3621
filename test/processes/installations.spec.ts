import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { INSTALLATION_FILE } from '../../src/platform/installation/installation-file.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { Operator } from '../harness/operator.js';
import { ServiceProcess, temporaryFolder } from '../harness/service.js';
import { until } from '../harness/until.js';

const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';
const ANOTHER = 'another secret of the tests, at least 32 bytes';

interface Row {
  mark: string;
  secret_mark: string;
}

describe('Processes of one database are of one installation, or do not boot (reference §16)', () => {
  const folder = temporaryFolder();
  const first = join(folder.path, 'first');
  const second = join(folder.path, 'second');
  let db: TestDatabase;

  beforeEach(async () => {
    db = await createDatabase();
  });
  afterEach(async () => {
    await db.drop();
    for (const path of [first, second]) rmSync(path, { recursive: true, force: true });
  });
  afterAll(() => folder.remove());

  const settings = (more: Record<string, string> = {}) => ({
    DATABASE_URL: db.url,
    DATA_DIR: first,
    SECRET_KEY,
    SANDBOX: 'none',
    ...more,
  });
  const rows = () => db.query<Row>('SELECT mark, secret_mark FROM installation');
  const fileIn = (path: string) => readFileSync(join(path, INSTALLATION_FILE), 'utf8').trim();
  /** It starts, and is told to stop. */
  async function boots(more: Record<string, string> = {}): Promise<void> {
    const service = await ServiceProcess.start(settings(more));
    expect(await service.end()).toBe(0);
  }
  /** The one sentence with which it ends, with 1 and without a stack. */
  async function refusal(more: Record<string, string>): Promise<string> {
    const service = await ServiceProcess.spawn(settings(more));
    // One that boots all the same would outlive the test.
    await until('it to end', () => service.ended, { within: 150_000 }).finally(() => service.end('SIGKILL'));
    expect([service.child.exitCode, service.log]).toEqual([1, expect.not.stringMatching(/^\s+at |"stack"/m)]);
    // A database that does not answer is asked again for ten seconds; this is no such thing.
    expect(service.log).not.toContain('Retrying');
    const said = service.log.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(said).toHaveLength(1);
    return said[0] ?? '';
  }

  it.each(['api', 'worker', 'all'])(
    'with another DATA_DIR %s says why, and has done nothing',
    async (ROLE) => {
      await boots();
      const before = await rows();
      expect(await refusal({ ROLE, DATA_DIR: second })).toMatch(
        /^DATA_DIR: the folder of the installation .* and .*\/second has no mark of it: .*'millwright adopt'/,
      );
      expect(existsSync(join(second, INSTALLATION_FILE))).toBe(false);
      expect(await rows()).toEqual(before);
    },
    90_000,
  );

  it('with the DATA_DIR of another installation it says that', async () => {
    await boots();
    const other = await createDatabase();
    await boots({ DATABASE_URL: other.url, DATA_DIR: second });
    await other.drop();
    expect(await refusal({ ROLE: 'worker', DATA_DIR: second })).toMatch(/^DATA_DIR: .*\/second is of another installation/);
  }, 90_000); // prettier-ignore

  it.each(['api', 'worker', 'all'])(
    'with another SECRET_KEY %s says why, and no secret',
    async (ROLE) => {
      await boots();
      const said = await refusal({ ROLE, SECRET_KEY: ANOTHER });
      expect(said).toMatch(/^SECRET_KEY: the secret of the installation .*'millwright adopt --secret'/);
      for (const one of [SECRET_KEY, ANOTHER]) expect(said).not.toContain(one);
    },
    90_000,
  );

  it('with the same ones each role boots, side by side', async () => {
    const api = await ServiceProcess.start(settings({ ROLE: 'api' }));
    const [row] = await rows();
    await boots({ ROLE: 'worker' });
    await boots({ ROLE: 'all' });
    expect(await api.end()).toBe(0);
    expect(await rows()).toEqual([row]);
    expect(fileIn(first)).toBe(row?.mark);
  });

  it('two at once on a new database agree', async () => {
    const both = await Promise.all(['api', 'worker'].map((ROLE) => ServiceProcess.start(settings({ ROLE }))));
    const signs = await Promise.all(
      both.map(async ({ url }) => ((await (await fetch(`${url}/health/ready`)).json()) as { installation: string }).installation),
    );
    for (const one of both) expect(await one.end()).toBe(0);
    expect(new Set(signs).size).toBe(1);
    expect((await rows()).map(({ mark }) => mark)).toEqual([fileIn(first)]);
  }, 90_000); // prettier-ignore

  it('two at once with a DATA_DIR each: one of them boots', async () => {
    const both = await Promise.all([first, second].map((DATA_DIR) => ServiceProcess.spawn(settings({ DATA_DIR }))));
    try {
      await until('one of them to end', () => both.some(({ ended }) => ended), { within: 150_000 });
      const [refused, other] = both[0]?.ended === true ? both : both.toReversed();
      expect(refused?.log).toMatch(/^DATA_DIR: .* (is of another installation|has no mark of it)/m);
      await other?.ready();
      expect(await other?.end()).toBe(0);
    } finally {
      await Promise.all(both.map((one) => one.end('SIGKILL')));
    }
    expect(await rows()).toHaveLength(1);
  });

  it('after adopt the other DATA_DIR boots, and the former one does not', async () => {
    await boots();
    await new Operator({ db }, { DATA_DIR: second }).spawn('adopt').then(({ code }) => expect(code).toBe(0));
    await boots({ DATA_DIR: second });
    expect(await refusal({})).toMatch(/^DATA_DIR: .*\/first is of another installation/);
  });

  it('after adopt --secret the other secret boots, and the former one does not', async () => {
    await boots();
    await new Operator({ db }, { SECRET_KEY: ANOTHER, DATA_DIR: first }).spawn('adopt', '--secret').then(({ code }) => expect(code).toBe(0));
    await boots({ SECRET_KEY: ANOTHER });
    expect(await refusal({})).toMatch(/^SECRET_KEY: /);
  }, 90_000); // prettier-ignore

  it('an installation of an older version is marked by its next boot; so is a new database for its DATA_DIR', async () => {
    await boots();
    const [row] = await rows();
    await db.query(`DROP TABLE installation; DELETE FROM migrations WHERE name LIKE 'Installation%'`);
    rmSync(join(first, INSTALLATION_FILE));
    await boots();
    const [anew] = await rows();
    expect([anew?.secret_mark, anew?.mark === row?.mark, fileIn(first)]).toEqual([row?.secret_mark, false, anew?.mark]);
    await db.query('DELETE FROM installation');
    await boots();
    expect(await rows()).toEqual([anew]);
  });

  it('a restored copy is another installation, and boots with the DATA_DIR that was restored alone', async () => {
    await boots();
    const [row] = await rows();
    const [backup, copy] = [join(folder.path, 'backup'), join(folder.path, 'copy')];
    const target = await createDatabase();
    await target.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const code = async (one: TestDatabase, DATA_DIR: string, ...words: string[]) => (await new Operator({ db: one }, { DATA_DIR }).spawn(...words)).code;
    expect(await code(db, first, 'backup', backup)).toBe(0);
    expect(await code(target, copy, 'restore', backup)).toBe(0);
    expect(await target.query('SELECT mark, secret_mark FROM installation')).toEqual([{ ...row, mark: fileIn(copy) }]);
    expect(fileIn(copy)).not.toBe(row?.mark);
    expect(await refusal({ DATABASE_URL: target.url, DATA_DIR: second })).toMatch(/^DATA_DIR: /);
    await boots({ DATABASE_URL: target.url, DATA_DIR: copy });
    await target.drop();
  }, 120_000); // prettier-ignore

  it('a file that holds no mark is told by its path', async () => {
    await boots();
    writeFileSync(join(first, INSTALLATION_FILE), 'something else\n');
    expect(await refusal({})).toContain(`DATA_DIR: the mark of an installation is expected in ${join(first, INSTALLATION_FILE)}`);
    await new Operator({ db }, { DATA_DIR: first }).spawn('adopt');
    await boots();
  }, 90_000); // prettier-ignore
});
