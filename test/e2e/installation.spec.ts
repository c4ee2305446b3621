import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { installationCheck } from '../../src/operator/doctor/installation.check.js';
import { secretCheck } from '../../src/operator/doctor/secret.check.js';
import { serviceCheck } from '../../src/operator/doctor/service.check.js';
import { versionsCheck } from '../../src/operator/doctor/versions.check.js';
import { INSTALLATION_FILE } from '../../src/platform/installation/installation-file.js';
import { signOf } from '../../src/platform/installation/installation.js';
import { bootApp, type TestApp } from '../harness/app.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { findings, line } from '../harness/doctor.js';
import { Operator } from '../harness/operator.js';
import { freePort } from '../harness/ports.js';
import { temporaryFolder } from '../harness/service.js';

const SECRET_KEY = 'a secret of the tests, at least 32 bytes long';
const ANOTHER = 'another secret of the tests, at least 32 bytes';
const FAIL = { status: 'fail', advice: expect.stringMatching(/\S/) };

// What a second process says at its boot is in processes/installations.spec.
describe('DATA_DIR, secret and database know that they are of one installation (reference §16)', () => {
  const folder = temporaryFolder();
  const DATA_DIR = join(folder.path, 'data');
  /** Of another machine: nothing of the installation is there. */
  const elsewhere = join(folder.path, 'elsewhere');
  let db: TestDatabase;
  let service: TestApp;

  beforeAll(async () => {
    mkdirSync(elsewhere);
    db = await createDatabase();
    service = await bootApp({ db, env: { DATA_DIR } });
  });
  afterAll(async () => {
    await service.close();
    await db.drop();
    folder.remove();
  });

  const fileIn = (path: string) => readFileSync(join(path, INSTALLATION_FILE), 'utf8').trim();
  const row = async () => (await db.query<{ mark: string; secret_mark: string }>('SELECT * FROM installation'))[0];
  const adoptions = async () =>
    (
      await db.query<{ type: string }>(`SELECT target_type AS type FROM audit_log WHERE action = 'adopt' ORDER BY id`)
    ).map(({ type }) => type);
  const look = (env: Record<string, string> = {}) =>
    findings([serviceCheck, versionsCheck, installationCheck, secretCheck], {
      env: { DATABASE_URL: db.url, DATA_DIR, SECRET_KEY, PORT: new URL(service.url).port, ...env },
    });

  it('the first boot marks both, and the file is closed to others', async () => {
    expect(fileIn(DATA_DIR)).toBe((await row())?.mark);
    const { mode } = statSync(join(DATA_DIR, INSTALLATION_FILE));
    expect(mode & 0o777).toBe(0o600);
  });

  it('ready shows by what it is known, and neither mark nor secret', async () => {
    const marks = await row();
    const text = await (await fetch(`${service.url}/health/ready`)).text();
    expect(JSON.parse(text)).toMatchObject({ installation: signOf(marks?.mark ?? '') });
    expect(text).not.toContain(marks?.mark);
    expect(text).not.toContain(marks?.secret_mark.slice(0, 12));
  });

  it('doctor: all is of one installation', async () => {
    const found = await look();
    for (const name of ['service', 'installation', 'secret']) expect(line(found, name).status).toBe('ok');
    expect(line(found, 'secret').detail).toMatch(/^It is the one of this database/);
  });

  it('doctor: another DATA_DIR is ✖, with what to do, and another secret', async () => {
    const found = await look({ DATA_DIR: elsewhere, SECRET_KEY: ANOTHER });
    expect(line(found, 'installation')).toMatchObject({ ...FAIL, detail: `DATA_DIR ${elsewhere} has no mark of the installation of this database.` });
    expect(line(found, 'secret')).toMatchObject({ ...FAIL, detail: expect.stringContaining('not the one of this database') });
    // The service is this installation's all the same: the database says so.
    expect(line(found, 'service').status).toBe('ok');
    expect(existsSync(join(elsewhere, INSTALLATION_FILE))).toBe(false);
    writeFileSync(join(elsewhere, INSTALLATION_FILE), '8f14e45f-ceea-467f-9575-0ad3a7b1c2d3\n');
    expect(line(await look({ DATA_DIR: elsewhere }), 'installation').detail).toContain('is of another installation than');
  }); // prettier-ignore

  it('doctor: the service of another installation on the port is ✖, and tells nothing of this one', async () => {
    const other = await bootApp();
    const found = await look({ PORT: new URL(other.url).port });
    await other.close();
    expect(line(found, 'service')).toMatchObject({ ...FAIL, detail: expect.stringContaining(`Another service answers at ${other.url}`) });
    const [, own] = found.filter(({ name }) => name === 'versions');
    expect(own?.detail).toContain('No running service says its own');
  }); // prettier-ignore

  it('doctor: so is a Millwright that shows no mark', async () => {
    const checks = { process: 'ok', database: 'ok', signals: 'ok', storage: 'ok' };
    const PORT = await freePort();
    const ready = JSON.stringify({ status: 'ok', checks, inForce: [], missing: [] });
    const server = createServer((_request, response) => response.end(ready)).listen(PORT, '127.0.0.1');
    try {
      const found = await look({ PORT: String(PORT) });
      expect(line(found, 'service')).toMatchObject({ ...FAIL, detail: expect.stringContaining('Another service') });
    } finally {
      server.close();
    }
  });

  it('doctor: without the database the service is known by DATA_DIR', async () => {
    const DATABASE_URL = `postgres://127.0.0.1:${await freePort()}/none`;
    expect(line(await look({ DATABASE_URL }), 'service').status).toBe('ok');
    expect(line(await look({ DATABASE_URL, DATA_DIR: elsewhere }), 'service').status).toBe('fail');
  });

  it('doctor: where it has no mark of its own it does not call the service a stranger', async () => {
    const DATABASE_URL = `postgres://127.0.0.1:${await freePort()}/none`;
    for (const none of [join(folder.path, 'unmarked'), join(folder.path, 'nowhere')]) {
      if (none.endsWith('unmarked')) mkdirSync(none);
      const found = line(await look({ DATABASE_URL, DATA_DIR: none }), 'service');
      expect(found).toMatchObject({ status: 'warn', detail: expect.stringContaining('is not known'), advice: expect.not.stringMatching(/stop/i) });
    }
  }); // prettier-ignore

  it('a verb with another secret is refused; one that needs no file works from another DATA_DIR, a backup does not', async () => {
    const here = new Operator(service, { DATA_DIR: elsewhere });
    await here.run('workspace', 'list');
    await expect(new Operator(service, { SECRET_KEY: ANOTHER }).run('workspace', 'list')).rejects.toThrow(/^SECRET_KEY: /);
    const backup = join(folder.path, 'backup');
    await expect(here.run('backup', backup)).rejects.toThrow(/^DATA_DIR: /);
    expect(existsSync(backup)).toBe(false);
    await new Operator(service, { DATA_DIR }).run('backup', backup);
    expect(existsSync(join(backup, 'manifest.json'))).toBe(true);
  }); // prettier-ignore

  it('a service or a verb of another installation is refused before it migrates its database', async () => {
    const old = await createDatabase();
    const { mark } = (await row()) ?? {};
    // As an older version left it.
    await old.query(
      `ALTER TABLE usage_days DROP COLUMN lane, ADD CONSTRAINT usage_days_pkey PRIMARY KEY (workspace_id, day)`,
    );
    await old.query(`DELETE FROM migrations WHERE name LIKE 'UsageLanes%'`);
    await old.query(`INSERT INTO installation (mark, secret_mark) VALUES ($1, 'of others')`, [mark]);
    try {
      await expect(bootApp({ db: old, env: { DATA_DIR } })).rejects.toThrow(/^SECRET_KEY: /);
      await expect(new Operator({ db: old }, { DATA_DIR }).run('workspace', 'list')).rejects.toThrow(/^SECRET_KEY: /);
      const { secret_mark: own } = (await row()) ?? {};
      await old.query('UPDATE installation SET secret_mark = $1', [own]);
      await expect(bootApp({ db: old, env: { DATA_DIR: elsewhere } })).rejects.toThrow(/^DATA_DIR: /);
      expect(await old.query(`SELECT 1 FROM migrations WHERE name LIKE 'UsageLanes%'`)).toEqual([]);
      await (await bootApp({ db: old, env: { DATA_DIR } })).close();
      expect(await old.query(`SELECT 1 FROM migrations WHERE name LIKE 'UsageLanes%'`)).toHaveLength(1);
    } finally {
      await old.drop();
    }
  });

  it('adopt makes DATA_DIR the one of the installation, says what is lost, and is in the log of the installation', async () => {
    const { mark = '' } = (await row()) ?? {};
    // It has been marked above.
    const others = fileIn(elsewhere);
    await expect(new Operator(service, { DATA_DIR: elsewhere }).run('adopt')).rejects.toThrow(`${elsewhere} is the folder of another installation`);
    expect([fileIn(elsewhere), await adoptions()]).toEqual([others, []]);
    const said = await new Operator(service, { DATA_DIR: elsewhere }).run('adopt', '--force');
    expect(said).toMatch(new RegExp(`^${elsewhere} is the folder of the installation from now on\\. Lost unless .*workdirs`));
    const { mark: now } = (await row()) ?? {};
    expect([fileIn(elsewhere), fileIn(DATA_DIR)]).toEqual([now, mark]);
    expect(now).not.toBe(mark);
    expect(line(await look({ DATA_DIR: elsewhere }), 'installation').status).toBe('ok');
    // The former folder is no longer the one.
    expect(line(await look(), 'installation').status).toBe('fail');
    expect(await adoptions()).toEqual(['folder']);
    const again = await new Operator(service, { DATA_DIR: elsewhere }).json('adopt');
    expect(again).toMatchObject({ adopted: null, installation: signOf(now ?? ''), note: expect.stringContaining('Nothing to do') });
    expect(await adoptions()).toEqual(['folder']);
  }); // prettier-ignore

  it('adopt takes an empty folder, and names it by its whole path', async () => {
    const empty = join(folder.path, 'a', '..', 'new');
    const said = await new Operator(service, { DATA_DIR: empty }).run('adopt');
    expect(said).toMatch(new RegExp(`^${join(folder.path, 'new')} is the folder`));
    expect(fileIn(empty)).toBe((await row())?.mark);
  });

  it('adopt writes no file that the log does not have', async () => {
    const fresh = join(folder.path, 'fresh');
    await db.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no commit'; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON audit_log DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`);
    try {
      await expect(new Operator(service, { DATA_DIR: fresh }).run('adopt')).rejects.toThrow('no commit');
    } finally {
      await db.query('DROP FUNCTION refuse() CASCADE');
    }
    expect(existsSync(join(fresh, INSTALLATION_FILE))).toBe(false);
  });

  it('adopt --secret makes the secret the one of the installation, and touches no folder', async () => {
    const empty = join(folder.path, 'empty');
    const operator = new Operator(service, { SECRET_KEY: ANOTHER, DATA_DIR: empty });
    const said = await operator.json<{ adopted: string; note: string }>('adopt', '--secret');
    expect(said).toMatchObject({ adopted: 'secret', note: expect.stringContaining('Lost with the former one: every key') });
    expect(existsSync(join(empty, INSTALLATION_FILE))).toBe(false);
    expect(line(await look({ SECRET_KEY: ANOTHER }), 'secret').status).toBe('ok');
    expect(line(await look(), 'secret').status).toBe('fail');
    await new Operator(service).run('adopt', '--secret');
    expect(line(await look(), 'secret').status).toBe('ok');
    expect(await adoptions()).toEqual(['folder', 'folder', 'secret', 'secret']);
  }); // prettier-ignore

  it('a database without marks has nothing to adopt', async () => {
    const fresh = await createDatabase();
    const said = await new Operator({ db: fresh }, { DATA_DIR: elsewhere }).json('adopt');
    await fresh.drop();
    expect(said).toMatchObject({ adopted: null, installation: null });
  });
});
