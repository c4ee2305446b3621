import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { INSTALLATION_FILE } from '../../src/platform/installation/installation-file.js';
import { bootApp } from '../harness/app.js';
import { makeMember } from '../harness/client.js';
import { createDatabase, type TestDatabase } from '../harness/database.js';
import { upload } from '../harness/files.js';
import { emptyDatabase } from '../harness/new-database.js';
import { Operator } from '../harness/operator.js';
import { S3Stand } from '../harness/s3-stand.js';
import { temporaryFolder } from '../harness/service.js';

const OTHERS = /^S3_BUCKET: the bucket of the installation that this database belongs to is expected, .* of another/;

describe('The mark of an installation in its bucket (reference §16)', () => {
  const room = temporaryFolder();
  const [DATA_DIR, COPY_DIR] = [join(room.path, 'data'), join(room.path, 'copy')];
  let stand: S3Stand;
  let db: TestDatabase;
  let copy: TestDatabase;

  beforeAll(async () => {
    stand = await S3Stand.start();
    [db, copy] = [await createDatabase(), await emptyDatabase()];
  });
  afterAll(async () => {
    await Promise.all([db.drop(), copy.drop()]);
    await stand.close();
    room.remove();
  });
  const boot = async (of: TestDatabase, dataDir: string) =>
    bootApp({ env: { ...stand.env, DATA_DIR: dataDir }, db: of });
  const operator = (of: TestDatabase, dataDir: string) => new Operator({ db: of }, { ...stand.env, DATA_DIR: dataDir });

  it('a restored copy does not start with the bucket of the service that still runs, until it takes it over', async () => {
    const service = await boot(db, DATA_DIR);
    await upload(service, await makeMember(service), 'of the original');
    const backup = join(room.path, 'backup');
    await operator(db, DATA_DIR).run('backup', backup);
    await operator(copy, COPY_DIR).run('restore', backup);

    await expect(boot(copy, COPY_DIR)).rejects.toThrow(OTHERS);
    await expect(operator(copy, COPY_DIR).run('adopt')).rejects.toThrow(
      'is of another installation than the database is of',
    );
    const lines = await operator(copy, COPY_DIR).run('doctor').catch(String);
    expect(lines).toContain('s3: the bucket is the one of another installation.');
    await service.close();
    // The original is as it was.
    await (await boot(db, DATA_DIR)).close();

    const adopted = await operator(copy, COPY_DIR).json('adopt', '--force');
    expect(adopted).toMatchObject({ adopted: 'bucket' });
    expect(await operator(copy, COPY_DIR).json('adopt')).toMatchObject({ adopted: null });
    await (await boot(copy, COPY_DIR)).close();
    await expect(boot(db, DATA_DIR)).rejects.toThrow(OTHERS);
  });

  it('the folders of several machines are adopted one after the other, and all of them work then', async () => {
    const elsewhere = { ...stand.env, S3_PREFIX: 'elsewhere' };
    const fresh = await createDatabase();
    const machines = ['first', 'second', 'third'].map((name) => join(room.path, name));
    const start = async (dir: string) => (await bootApp({ env: { ...elsewhere, DATA_DIR: dir }, db: fresh })).close();
    const [first = '', ...others] = machines;
    await start(first);
    for (const dir of others) {
      mkdirSync(dir);
      writeFileSync(join(dir, INSTALLATION_FILE), `${randomUUID()}\n`);
      await expect(start(dir)).rejects.toThrow(/^DATA_DIR: .* is of another installation/);
      const adopting = new Operator({ db: fresh }, { ...elsewhere, DATA_DIR: dir });
      expect(await adopting.json('adopt', '--force')).toMatchObject({
        adopted: 'folder',
        note: expect.stringContaining('as those of its other machines are') as string,
      });
    }
    for (const dir of machines) await start(dir);
    await fresh.drop();
  });
});
