import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { decode, entriesOf, type Entry } from './manifest.mjs';
import { MemoryObjects } from '../../../test/harness/snapshot-objects.js';
import { capture, type Captured, type PreviousSnapshot, restore } from './snapshots.js';

/** What find(1) says of a folder: names, kinds, modes, sizes, times, links; of folders no size. */
function described(folder: string): string {
  const format = ['-printf', '%P|%y|%m|%T@|%l\n'];
  const files = ['-type', 'f', '-printf', '%P|%s|%n\n'];
  const find = (...how: string[]) =>
    execFileSync('find', ['.', ...how], { cwd: folder })
      .toString('latin1')
      .split('\n')
      .sort();
  return [...find(...format), ...find(...files)].join('\n');
}

function contentsOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
}

describe('A snapshot of folders', () => {
  const { signal } = new AbortController();
  let base: string;
  let source: string;
  let store: MemoryObjects;

  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'snapshots-'));
    source = join(base, 'source');
    mkdirSync(source);
    store = new MemoryObjects();
  });
  afterEach(() => {
    execFileSync('chmod', ['-R', 'u+rwX', base]);
    rmSync(base, { recursive: true, force: true });
  });

  async function take(previous: PreviousSnapshot | null = null): Promise<Captured> {
    const captured = await capture({ workdir: source, tmp: join(base, 'none') }, previous, store, signal);
    if (captured === null) throw new Error('There was a folder.');
    return captured;
  }
  async function entries({ manifest }: Captured): Promise<Map<string, Entry>> {
    const entries = entriesOf(await decode(await store.open(manifest)), 'workdir');
    return new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map((entry) => [entry[0], entry]));
  }
  async function again({ manifest }: Captured): Promise<string> {
    const target = mkdtempSync(join(base, 'target-'));
    await restore({ workdir: target }, manifest, store, process.geteuid?.() === 0 ? 0 : null, signal);
    return target;
  }
  /** Times that a later change cannot have. */
  const settle = () => execFileSync('sleep', ['0.05']);

  it('is made again with the same bytes, modes, times and links', async () => {
    mkdirSync(join(source, 'a/b'), { recursive: true });
    writeFileSync(join(source, 'a/b/run.sh'), '#!/bin/sh\n', { mode: 0o750 });
    writeFileSync(join(source, 'empty'), '');
    const large = randomBytes(20 * 1024 * 1024);
    writeFileSync(join(source, 'large'), large);
    symlinkSync('../nowhere', join(source, 'a/link'));
    symlinkSync('x'.repeat(300), join(source, 'long-link'));
    linkSync(join(source, 'large'), join(source, 'a/second name'));
    const deep = join(source, ...Array.from({ length: 4 }, (_, at) => `${at}`.repeat(80)));
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, 'file'), 'deep');
    linkSync(join(deep, 'file'), join(deep, 'further'));
    utimesSync(join(source, 'a/b/run.sh'), 1, 1_234_567_890.5);
    execFileSync('touch', ['-d', '2001-02-03 04:05:06.123456789', join(source, 'a/b')]);
    execFileSync('touch', ['-d', '1969-12-31 12:00:00.25', join(source, 'empty')]);
    chmodSync(join(source, 'a'), 0o1775);

    const target = await again(await take());

    expect(described(target)).toBe(described(source));
    expect(readFileSync(join(target, 'large')).equals(large)).toBe(true);
    expect(lstatSync(join(target, 'large')).ino).toBe(lstatSync(join(target, 'a/second name')).ino);
    expect(lstatSync(join(target, 'a/b'), { bigint: true }).mtimeNs % 1_000_000_000n).toBe(123_456_789n);
  });

  it('has names of any bytes', async () => {
    const name = Buffer.from([0xff, 0xfe, 0x0a, 0x20, 0x80, 0x7c]);
    writeFileSync(Buffer.concat([Buffer.from(`${source}/`), name]), 'odd');
    writeFileSync(Buffer.concat([Buffer.from(`${source}/`), Buffer.alloc(200, 0xe9)]), 'long');
    symlinkSync(Buffer.from([0xc3, 0x28]), join(source, 'link'));
    writeFileSync(join(source, '-rf *; naïve \\n.txt'), 'named');
    const target = await again(await take());
    expect(described(target)).toBe(described(source));
    expect(readFileSync(Buffer.concat([Buffer.from(`${target}/`), name]), 'utf8')).toBe('odd');
  });

  it('keeps a sparse file of 1 GiB sparse, and neither reads nor stores its holes', async () => {
    const path = join(source, 'sparse');
    writeFileSync(path, 'head');
    truncateSync(path, 1024 ** 3);
    writeFileSync(path, 'tail', { flag: 'r+' });
    execFileSync('dd', ['if=/dev/urandom', `of=${path}`, 'bs=4096', 'seek=131072', 'count=2', 'conv=notrunc'], {
      stdio: 'ignore',
    });
    const captured = await take();
    expect(captured.made).toMatchObject({ files: 1, bytes: 1024 ** 3 });
    expect(store.bytes).toBeLessThan(100_000);
    const restored = join(await again(captured), 'sparse');
    expect(lstatSync(restored).size).toBe(1024 ** 3);
    expect(lstatSync(restored).blocks * 512).toBeLessThan(1024 ** 2);
    execFileSync('cmp', [path, restored]);
    // One that ends long after all disks do.
    truncateSync(path, 8 * 1024 ** 4);
    expect((await take(captured)).made).toMatchObject({ bytes: 8 * 1024 ** 4 });
  });

  it('leaves out pipes, sockets and devices, and waits for none', async () => {
    execFileSync('mkfifo', [join(source, 'pipe')]);
    execFileSync('perl', ['-MIO::Socket::UNIX', '-e', `IO::Socket::UNIX->new(Local => "socket", Listen => 1)`], {
      cwd: source,
    });
    symlinkSync('/dev/zero', join(source, 'device'));
    writeFileSync(join(source, 'file'), 'x');
    expect([...(await entries(await take())).keys()]).toEqual(['workdir', 'workdir/device', 'workdir/file']);
  });

  it('reads no file again that has not changed, and stores only what is new', async () => {
    for (let at = 0; at < 50; at++)
      writeFileSync(join(source, `file-${at}`), `${at} ${randomBytes(3_000).toString('hex')}`);
    settle();
    const first = await take();
    const stored = store.objects.size;
    expect(await take(first)).toEqual({ manifest: first.manifest, walk: first.walk, made: null });
    // Its bytes are others, and its times and size say that they are not: it is not opened.
    writeFileSync(join(source, 'file-1'), 'changed');
    settle();
    const second = await take(first);
    expect(store.objects.size).toBe(stored + 2);
    expect(second.made?.files).toBe(50);
    expect(second.made?.objects).toHaveLength(2);
    expect(readFileSync(join(await again(second), 'file-1'), 'utf8')).toBe('changed');
    expect(described(await again(first))).not.toBe(described(await again(second)));
  });

  it('stores equal bytes once, in whatever folder of the workspace', async () => {
    const bytes = randomBytes(100_000);
    writeFileSync(join(source, 'one'), bytes);
    writeFileSync(join(source, 'two'), bytes);
    await take();
    expect(store.bytes).toBeLessThan(110_000);
    source = join(base, 'another');
    mkdirSync(source);
    writeFileSync(join(source, 'three'), bytes);
    const target = await again(await take());
    expect(store.bytes).toBeLessThan(115_000);
    expect(readFileSync(join(target, 'three')).equals(bytes)).toBe(true);
  });

  it('sees a change that has the size and the time of what was there, made in the moment of the snapshot', async () => {
    // The moment is 20 ms long: it is written all the time, and on a busy machine once more.
    const write = () => writeFileSync(join(source, 'file'), 'old');
    const written = setInterval(write, 2);
    write();
    let first = await take();
    for (let tries = 0; first.walk !== null && tries < 100; tries++) first = await take();
    clearInterval(written);
    expect(first.walk).toBeNull();
    const { mtime } = lstatSync(join(source, 'file'));
    writeFileSync(join(source, 'file'), 'new');
    utimesSync(join(source, 'file'), mtime, mtime);
    expect(readFileSync(join(await again(await take(first)), 'file'), 'utf8')).toBe('new');
  });

  it('has no bytes from outside, whatever takes the place of a folder or a file after it was found', async () => {
    const secret = join(base, 'secret');
    for (const folder of [secret, source]) {
      mkdirSync(join(folder, 'folder'), { recursive: true });
      for (const name of ['folder/file', 'file', 'pipe']) writeFileSync(join(folder, name), `${name} of ${folder}`);
    }
    const first = await take();
    // The last manifest is read when the folders have been walked, and before their files are.
    store.open = (sha256) => {
      for (const name of ['folder', 'file', 'pipe']) rmSync(join(source, name), { recursive: true, force: true });
      for (const name of ['folder', 'file']) symlinkSync(join(secret, name), join(source, name));
      execFileSync('mkfifo', [join(source, 'pipe')]);
      return MemoryObjects.prototype.open.call(store, sha256);
    };
    for (const name of ['folder/file', 'file', 'pipe']) writeFileSync(join(source, name), 'changed');
    const second = await take(first);
    expect([...(await entries(second)).keys()]).toEqual(['workdir', 'workdir/folder']);
    expect(contentsOf(await again(second))).toEqual([]);
  });

  it('is whole while its files change: each has the bytes that its SHA-256 says', async () => {
    const path = join(source, 'log');
    writeFileSync(path, 'x'.repeat(3_000_000));
    let going = true;
    const changing = (async () => {
      for (let at = 0; going; at++) {
        if (at % 3 === 0) truncateSync(path, 1_000 * (at % 100));
        else writeFileSync(path, randomBytes(200_000), { flag: 'a' });
        await turn();
      }
    })();
    try {
      for (let round = 0; round < 5; round++) {
        const captured = await take();
        const [, , , size, , sha] = (await entries(captured)).get('workdir/log') ?? [];
        const restored = readFileSync(join(await again(captured), 'log'));
        expect(restored.length).toBe(size);
        expect(createHash('sha256').update(restored).digest('hex')).toBe(sha);
      }
    } finally {
      going = false;
      await changing;
    }
  });

  it('has files and folders that their owner has closed', async () => {
    mkdirSync(join(source, 'closed'));
    writeFileSync(join(source, 'closed/file'), 'within', { mode: 0o000 });
    chmodSync(join(source, 'closed'), 0o000);
    const target = await again(await take());
    expect(lstatSync(join(target, 'closed')).mode & 0o777).toBe(0);
    chmodSync(join(target, 'closed'), 0o700);
    expect(lstatSync(join(target, 'closed/file')).mode & 0o777).toBe(0);
    chmodSync(join(target, 'closed/file'), 0o600);
    expect(readFileSync(join(target, 'closed/file'), 'utf8')).toBe('within');
  });

  it('puts nothing into an object beyond 16 MiB', async () => {
    writeFileSync(join(source, 'large'), randomBytes(40 * 1024 * 1024));
    for (let at = 0; at < 30; at++) writeFileSync(join(source, `part-${at}`), randomBytes(900_000));
    await take();
    expect(Math.max(...[...store.objects.values()].map(({ length }) => length))).toBeLessThanOrEqual(16 * 1024 ** 2);
  });

  it('ends at once with its signal, and with the error of the storage', async () => {
    writeFileSync(join(source, 'file'), randomBytes(5_000_000));
    const ended = new Error('That was it.');
    const controller = new AbortController();
    const full = new MemoryObjects();
    full.put = () => {
      controller.abort(ended);
      return new Promise(() => undefined);
    };
    const taking = capture({ workdir: source }, null, full, controller.signal);
    await expect(taking).rejects.toBe(ended);
    full.put = () => Promise.reject(new Error('The disk is full.'));
    await expect(capture({ workdir: source }, null, full, signal)).rejects.toThrow('The disk is full.');
  });

  it('is none of a folder that is not there', async () => {
    expect(await capture({ workdir: join(base, 'none') }, null, store, signal)).toBeNull();
  });
});
