import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readlink, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { DataDir } from '../../../../platform/config/data-dir.js';
import { readEnv } from '../../../../platform/config/env.js';
import { DiskSpace } from '../../../../platform/disk/disk-space.js';
import { PluginRegistry } from '../../../../platform/plugins/plugin.js';
import { FileStorage } from '../file-storage.js';
import type { StoredBytes } from '../storage-driver.js';
import { LocalStorage } from './local-storage.js';
import { deleteBytes, deleteLeftOvers, idleBytes } from './unused-bytes.js';

const WORKSPACE = '0197a000-0000-7000-8000-000000000001';
const HOUR = 3_600_000;

let folder: string;
let storage: LocalStorage;
/** What every file goes through on its way there. */
let fileStorage: FileStorage;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millwright-storage-'));
  storage = new LocalStorage({ path: folder } as DataDir);
  fileStorage = new FileStorage(
    new PluginRegistry({ getProviders: () => [{ instance: storage }] } as never),
    readEnv({}),
    new DiskSpace(readEnv({}), { path: folder } as DataDir),
    { mark: null },
  );
  await fileStorage.onModuleInit();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const of = (...chunks: (string | Buffer)[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const breaking = () =>
  Readable.from(
    (async function* () {
      yield Buffer.from('half');
      await Promise.resolve();
      throw new Error('line cut');
    })(),
  );

async function files(): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

async function descriptors(): Promise<number> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((link) => link.startsWith(folder)).length;
}

describe('storing', () => {
  test('bytes lie under their own digest, and are read again whole and in part', async () => {
    const bytes = randomBytes(300_000);
    const stored = await fileStorage.put(WORKSPACE, of(bytes.subarray(0, 7), bytes.subarray(7)));
    expect(stored).toEqual({ sha256: sha256(bytes), size: 300_000, mediaType: 'application/octet-stream' });
    expect(await readFile(storage.pathOf(WORKSPACE, stored.sha256))).toEqual(bytes);
    const whole = await storage.open(WORKSPACE, stored.sha256);
    expect(whole.size).toBe(300_000);
    expect(await buffer(whole.stream)).toEqual(bytes);
    const part = await storage.open(WORKSPACE, stored.sha256, { start: 10, end: 19 });
    expect(part.size).toBe(10);
    expect(await buffer(part.stream)).toEqual(bytes.subarray(10, 20));
    expect(await descriptors()).toBe(0);
  });

  test('equal bytes of one workspace are stored once, also when they arrive together', async () => {
    await Promise.all(Array.from({ length: 20 }, () => fileStorage.put(WORKSPACE, of('same'))));
    expect(await files()).toEqual([sha256('same')]);
  });

  test('the media type comes from the bytes, then from the declaration', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
    expect((await fileStorage.put(WORKSPACE, of(png), { declaredType: 'text/plain' })).mediaType).toBe('image/png');
    expect((await fileStorage.put(WORKSPACE, of('# hi'), { declaredType: 'text/markdown' })).mediaType).toBe(
      'text/markdown',
    );
    expect((await fileStorage.put(WORKSPACE, of('# hi'), { declaredType: 'x' })).mediaType).toBe(
      'application/octet-stream',
    );
  });

  test('an empty stream is an empty file', async () => {
    const stored = await fileStorage.put(WORKSPACE, of());
    expect(stored).toMatchObject({ sha256: sha256(''), size: 0 });
    const { size, stream } = await storage.open(WORKSPACE, stored.sha256);
    expect([size, (await buffer(stream)).length]).toEqual([0, 0]);
  });

  test('the limit itself is accepted, one byte more leaves nothing', async () => {
    expect((await fileStorage.put(WORKSPACE, of('12345', '67890'), { maxBytes: 10 })).size).toBe(10);
    const tooLong = of('12345', '678901');
    await expect(fileStorage.put(WORKSPACE, tooLong, { maxBytes: 10 })).rejects.toMatchObject({ code: 'too_large' });
    expect(tooLong.destroyed).toBe(true);
    expect(await files()).toEqual([sha256('1234567890')]);
  });

  test('a stream that breaks leaves nothing, whenever it breaks', async () => {
    await expect(fileStorage.put(WORKSPACE, breaking())).rejects.toThrow('line cut');
    const early = new Readable({ read: () => undefined });
    const stored = fileStorage.put(WORKSPACE, early);
    early.destroy(new Error('cut before the first byte'));
    await expect(stored).rejects.toThrow('cut before the first byte');
    expect(await files()).toEqual([]);
    expect(await descriptors()).toBe(0);
  });
});

describe('cleaning', () => {
  const nothingIsUsed = (bytes: StoredBytes[]) => Promise.resolve(bytes);
  const age = (path: string) => utimes(path, new Date(0), new Date(0));

  async function put(content: string): Promise<StoredBytes & { path: string }> {
    const { sha256 } = await fileStorage.put(WORKSPACE, of(content));
    return { workspaceId: WORKSPACE, sha256, path: storage.pathOf(WORKSPACE, sha256) };
  }
  async function idle(): Promise<string[]> {
    const found: string[] = [];
    for await (const bytes of idleBytes(storage, HOUR)) found.push(bytes.sha256);
    return found.sort();
  }

  test('only what is old is looked at, and storing it again makes it young', async () => {
    const [old, again] = [await put('old'), await put('again'), await put('young')];
    await age(old.path);
    await age(again.path);
    await put('again');
    expect(await idle()).toEqual([old.sha256]);
  });

  test('unused bytes go', async () => {
    const bytes = await put('unused');
    await age(bytes.path);
    expect(await deleteBytes(storage, [bytes], HOUR, nothingIsUsed)).toBe(1);
    expect(await files()).toEqual([]);
  });

  test('bytes that came into use after the first look stay', async () => {
    const bytes = await put('used after all');
    await age(bytes.path);
    expect(await deleteBytes(storage, [bytes], HOUR, () => Promise.resolve([]))).toBe(0);
    expect(await readFile(bytes.path, 'utf8')).toBe('used after all');
  });

  test('bytes that were stored anew between the look and the move stay', async () => {
    const bytes = await put('again');
    await age(bytes.path);
    const listed = await idle();
    await put('again');
    expect(listed).toEqual([bytes.sha256]);
    expect(await deleteBytes(storage, [bytes], HOUR, nothingIsUsed)).toBe(0);
    expect(await readFile(bytes.path, 'utf8')).toBe('again');
  });

  test('bytes that are stored anew while the old ones are aside stay', async () => {
    const bytes = await put('meanwhile');
    await age(bytes.path);
    await deleteBytes(storage, [bytes], HOUR, async (all) => {
      await put('meanwhile');
      return all;
    });
    expect(await readFile(bytes.path, 'utf8')).toBe('meanwhile');
    expect(await idle()).toEqual([]);
    expect(await files()).toEqual([bytes.sha256]);
  });

  test('what a killed cleaner had moved aside comes back', async () => {
    const bytes = await put('aside');
    await age(bytes.path);
    const killed = deleteBytes(storage, [bytes], HOUR, () => Promise.reject(new Error('killed')));
    await expect(killed).rejects.toThrow('killed');
    expect(await files()).toEqual([`${bytes.sha256}.leaving`]);
    expect(await idle()).toEqual([]);
    expect(await readFile(bytes.path, 'utf8')).toBe('aside');
    expect(Date.now() - (await stat(bytes.path)).mtimeMs).toBeLessThan(HOUR);
  });

  test('half-written files of killed processes go when they are old', async () => {
    await put('kept');
    const [old, young] = [join(storage.incoming, 'old'), join(storage.incoming, 'young')];
    await writeFile(old, 'half');
    await writeFile(young, 'half');
    await age(old);
    expect(await deleteLeftOvers(storage, HOUR)).toBe(1);
    expect(await readdir(storage.incoming)).toEqual(['young']);
  });

  test('an empty service has nothing to clean', async () => {
    expect(await idle()).toEqual([]);
    expect(await deleteLeftOvers(storage, HOUR)).toBe(0);
  });
});
