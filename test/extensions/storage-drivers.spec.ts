import { jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readdir, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { WorkspaceRemover } from '../../src/access/workspaces/workspace-remover.js';
import { DataDir } from '../../src/platform/config/data-dir.js';
import { FileCleaner } from '../../src/resources/files/file-cleaner.js';
import { FileStorage } from '../../src/resources/files/storage/file-storage.js';
import { snapshotsPlace } from '../../src/resources/files/storage/snapshots-place.js';
import { defineExtension, type StorageDriver, type StoredBytes } from 'millwright';
import { bootApp, bootWorker, type TestApp } from '../harness/app.js';
import { makeMember, type Member } from '../harness/client.js';
import { checkedFetch, postForm, storedFiles, upload } from '../harness/files.js';
import { emptyDatabase } from '../harness/new-database.js';
import { Operator } from '../harness/operator.js';
import { temporaryFolder } from '../harness/service.js';
import { S3Stand } from '../harness/s3-stand.js';
import { createTask, finished } from '../harness/tasks.js';
import { until } from '../harness/until.js';
import { TableStorage, TableStorageModule } from './table-storage.js';

const TABLES = defineExtension({ name: 'tables', module: TableStorageModule, operatorModule: TableStorageModule });
const [HOUR, LIMIT] = [3_600_000, 1024 * 1024];

/** What the tests look at behind the seam: the digests of what is kept, and a way to make all of it old. */
interface Backstage {
  name: string;
  /** What the service needs to know besides. */
  env?: () => Record<string, string>;
  kept: (service: TestApp) => Promise<string[]>;
  age: (service: TestApp) => Promise<unknown>;
}

const local: Backstage = {
  name: 'local',
  kept: async (service) => (await storedFiles(service)).sort(),
  age: async ({ app }) => {
    const found = await readdir(join(app.get(DataDir).path, 'files'), { recursive: true, withFileTypes: true });
    for (const entry of found.filter((one) => one.isFile())) {
      await utimes(join(entry.parentPath, entry.name), new Date(0), new Date(0));
    }
  },
};
const table: Backstage = {
  name: 'table',
  kept: async ({ db }) => {
    const rows = await db.query<{ sha256: string }>(`SELECT coalesce(sha256, 'arriving') AS sha256 FROM kept_files`);
    return rows.map(({ sha256 }) => sha256).sort();
  },
  age: ({ db }) => db.query(`UPDATE kept_files SET put_at = 'epoch'`),
};

let stand: S3Stand;
const s3: Backstage = {
  name: 's3',
  env: () => stand.env,
  kept: async () =>
    [...(await stand.objects()).map((key) => basename(key)), ...[...stand.uploads.keys()].map(() => 'arriving')].sort(),
  age: () => stand.age(),
};
beforeAll(async () => {
  stand = await S3Stand.start();
});
afterAll(() => stand.close());

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

describe.each([local, table, s3])('The storage driver $name (reference §7)', ({ name, kept, age, env: further }) => {
  let service: TestApp;
  let member: Member;

  beforeAll(async () => {
    const env = { STORAGE: name, MAX_UPLOAD_BYTES: String(LIMIT), ...further?.() };
    service = await bootWorker({ env, imports: [TableStorageModule] });
  });
  beforeEach(async () => {
    member = await makeMember(service);
  });
  // Each test begins with an empty storage.
  afterEach(async () => {
    for (const { id } of await service.db.query<{ id: string }>('SELECT id FROM workspaces'))
      for (const place of [id, snapshotsPlace(id)]) await driver().removeAll(place);
  });
  afterAll(() => service.close());

  const storage = () => service.app.get(FileStorage, { strict: false });
  const driver = (): StorageDriver => storage().driver;
  const cleaner = () => service.app.get(FileCleaner, { strict: false });
  const download = (id: string, headers: Record<string, string> = {}) =>
    checkedFetch(service, `/v1/files/${id}/content`, {
      method: 'GET',
      headers: { Authorization: `Bearer ${member.key.secret}`, ...headers },
    });
  const put = (bytes: string) => storage().put(member.workspace.id, Readable.from([Buffer.from(bytes)]));
  const read = async (digest: string, range?: { start: number; end: number }) => {
    const { size, stream } = await driver().open(member.workspace.id, digest, range);
    const bytes = await buffer(stream);
    expect(bytes.length).toBe(size);
    return bytes;
  };
  const all = (bytes: StoredBytes[]) => Promise.resolve(bytes);

  it('is the one that STORAGE names', async () => {
    expect(driver() instanceof TableStorage).toBe(name === 'table');
    await put('here');
    expect(await kept(service)).toEqual([sha256('here')]);
    expect((await storedFiles(service)).length).toBe(name === 'local' ? 1 : 0);
  });

  it('carries files from the upload through a task to the download, and to their end', async () => {
    const { client } = member;
    const { id: uploadId } = await upload(service, member, 'abc '.repeat(50_000), { name: 'in.txt' });
    const content = '```bash\ntr a-z A-Z < attachments/in.txt > out.txt\n```\n\n```publish path=out.txt\n```\n';
    const { id } = await createTask(client, { content, attachments: [{ uploadId }] });
    expect(await finished(client, id)).toMatchObject({ status: 'completed' });
    const { body } = await client.get<{ files: { id: string; origin: string; sha256: string }[] }>(
      `/v1/tasks/${id}/files`,
    );
    const out = 'ABC '.repeat(50_000);
    const published = body.files.find(({ origin }) => origin !== 'attachment');
    expect(published?.sha256).toBe(sha256(out));

    const file = String(published?.id);
    const whole = await download(file);
    expect([whole.status, await whole.text()]).toEqual([200, out]);
    const part = await download(file, { Range: 'bytes=99999-100003' });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      'bytes 99999-100003/200000',
      out.slice(99_999, 100_004),
    ]);
    expect(await (await download(file, { Range: 'bytes=-3' })).text()).toBe('BC ');
    expect((await download(file, { Range: 'bytes=200000-' })).status).toBe(416);
    expect((await download(file, { 'If-None-Match': `"${sha256(out)}"` })).status).toBe(304);

    const headers = { Authorization: `Bearer ${member.key.secret}` };
    const archive = await (await checkedFetch(service, `/v1/tasks/${id}/files/archive`, { headers })).text();
    expect([archive.includes(out), archive.includes('attachments/in.txt')]).toEqual([true, true]);

    // What a row points at stays, however old; without the row it goes.
    await service.db.query('UPDATE uploads SET expires_at = now()');
    await cleaner().purgeUploads();
    await age(service);
    expect(await cleaner().sweep()).toBe(0);
    expect((await client.delete(`/v1/tasks/${id}`)).status).toBe(200);
    expect(await cleaner().sweep()).toBe(2);
    const ofSnapshots = await service.db.query<{ sha256: string }>('SELECT sha256 FROM snapshot_objects');
    const objects = new Set(ofSnapshots.map(({ sha256 }) => sha256));
    expect((await kept(service)).filter((sha256) => !objects.has(sha256))).toEqual([]);
  });

  it('names bytes that are gone, and no failure of its own is taken for one of the database', async () => {
    await expect(storage().open(member.workspace.id, sha256('never'))).rejects.toMatchObject({
      name: 'BytesGoneError',
    });
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const put = jest.spyOn(driver(), 'put').mockRejectedValue(refused);
    const form = new FormData();
    form.append('file', new Blob(['x']), 'a.txt');
    const answer = await postForm(service, member, form);
    put.mockRestore();
    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain('internal_error');
  });

  it('keeps equal bytes of a workspace once, also when they arrive together', async () => {
    await Promise.all(Array.from({ length: 8 }, () => put('same')));
    expect(await kept(service)).toEqual([sha256('same')]);
    expect(String(await read(sha256('same')))).toBe('same');
  });

  it('keeps nothing of a file that is too long or cut off', async () => {
    const form = new FormData();
    form.append('file', new Blob(['x'.repeat(LIMIT + 1)]), 'a.txt');
    expect((await postForm(service, member, form)).status).toBe(413);
    const cut = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        await Promise.resolve();
        throw new Error('line cut');
      })(),
    );
    await expect(storage().put(member.workspace.id, cut)).rejects.toThrow('line cut');
    await until('nothing to be kept', async () => (await kept(service)).length === 0);
  });

  it('opens nothing that is not there, and an empty file', async () => {
    await expect(driver().open(member.workspace.id, sha256('absent'))).rejects.toThrow();
    await put('');
    expect((await read(sha256(''))).length).toBe(0);
  });

  it('leaves nothing open when a reader goes in the middle', async () => {
    await put('x'.repeat(LIMIT));
    const { stream } = await driver().open(member.workspace.id, sha256('x'.repeat(LIMIT)));
    await new Promise((resolve) => stream.once('readable', resolve));
    stream.destroy();
    await until('the stream to be closed', () => stream.closed);
  });

  it('keeps what was put again after it was found unused', async () => {
    await put('again');
    await put('gone');
    await age(service);
    const removed = await driver().removeUnused(HOUR, async (bytes) => {
      await put('again');
      return bytes;
    });
    expect(removed).toBe(1);
    expect(await kept(service)).toEqual([sha256('again')]);
    expect(String(await read(sha256('again')))).toBe('again');
  });

  it('asks about nothing that is young, removes nothing that is not named, and nothing once it is told to stop', async () => {
    await put('young');
    const asked: StoredBytes[] = [];
    const none = (bytes: StoredBytes[]) => {
      asked.push(...bytes);
      return Promise.resolve([]);
    };
    expect(await driver().removeUnused(HOUR, none)).toBe(0);
    expect(asked).toEqual([]);
    await age(service);
    expect(await driver().removeUnused(HOUR, none)).toBe(0);
    expect(new Set(asked.map((one) => one.sha256))).toEqual(new Set([sha256('young')]));
    expect(await driver().removeUnused(HOUR, all, AbortSignal.abort())).toBe(0);
    expect(await kept(service)).toEqual([sha256('young')]);
  });

  it('forgets a workspace an hour after its deletion, and no other', async () => {
    const other = await makeMember(service);
    for (const one of [member, other]) await upload(service, one, 'of both');
    await service.app.get(WorkspaceRemover).remove(member.workspace.id);
    expect(await cleaner().removeStorages()).toBe(0);
    expect(await kept(service)).toHaveLength(2);
    await service.db.query(`UPDATE folder_removals SET not_before = now() WHERE kind = 'storage'`);
    expect(await cleaner().removeStorages()).toBe(1);
    expect(await kept(service)).toHaveLength(1);
    const left = await driver().open(other.workspace.id, sha256('of both'));
    expect(String(await buffer(left.stream))).toBe('of both');
  });

  it('is read by a backup and filled by a restore (reference §16)', async () => {
    const [room, target] = [temporaryFolder(), await emptyDatabase()];
    const [backup, dataDir] = [join(room.path, 'backup'), join(room.path, 'data')];
    const operator = (url: string, DATA_DIR: string) =>
      new Operator({ db: { url } }, { STORAGE: name, DATA_DIR, ...further?.() }, [TABLES]);
    await upload(service, member, 'to be kept');
    await operator(service.db.url, service.app.get(DataDir).path).run('backup', backup);
    await operator(target.url, dataDir).run('restore', backup);
    const env = { STORAGE: name, DATA_DIR: dataDir, ...further?.() };
    const copy = await bootApp({ env, imports: [TableStorageModule], db: target });
    const restored = copy.app.get(FileStorage, { strict: false });
    const { stream } = await restored.open(member.workspace.id, sha256('to be kept'));
    expect(String(await buffer(stream))).toBe('to be kept');
    expect(await kept(copy)).toEqual([sha256('to be kept')]);
    await copy.close();
    await target.drop();
    room.remove();
  });

  it('is only named by a backup that asks for it, where it outlives the machine (reference §16)', async () => {
    const [room, target] = [temporaryFolder(), await emptyDatabase()];
    const [backup, dataDir] = [join(room.path, 'backup'), join(room.path, 'data')];
    const operator = (url: string, DATA_DIR: string, more = {}) =>
      new Operator({ db: { url } }, { STORAGE: name, DATA_DIR, ...further?.(), ...more }, [TABLES]);
    await upload(service, member, 'to be named');
    const making = operator(service.db.url, service.app.get(DataDir).path).run(
      'backup',
      backup,
      '--files',
      'reference',
    );
    if (name === 's3') {
      expect(await making).toContain('1 files, 11 B, named where they are: s3://files/tests/files/');
      expect(await readdir(backup)).not.toContain('files');
      const elsewhere = operator(target.url, dataDir, { S3_PREFIX: 'elsewhere' }).run('restore', backup);
      await expect(elsewhere).rejects.toThrow(`1 of 1 are not in this storage as they were: ${member.workspace.id}/${sha256('to be named')}.`); // prettier-ignore
      await operator(target.url, dataDir).run('restore', backup);
      const rows = await target.query('SELECT 1 FROM uploads WHERE sha256 = $1', [sha256('to be named')]);
      expect(rows).toHaveLength(1);
      expect(await kept(service)).toEqual([sha256('to be named')]);
    } else {
      await expect(making).rejects.toThrow('Make a backup that has them, with --files copy.');
      await expect(readdir(backup)).rejects.toThrow('ENOENT');
    }
    await target.drop();
    room.remove();
  });
});

it('A storage that nobody provides stops the boot with the names that there are', async () => {
  const boot = bootApp({ env: { ROLE: 'api', STORAGE: 'cloud' }, imports: [TableStorageModule] });
  await expect(boot).rejects.toMatchObject({
    name: 'ConfigurationError',
    message: 'STORAGE: one of local, s3, table is expected.',
  });
});
