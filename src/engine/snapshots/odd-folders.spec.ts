import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { childrenOf, commandLine } from '../../../test/harness/processes.js';
import { MemoryObjects } from '../../../test/harness/snapshot-objects.js';
import { capture, type Captured, type PreviousSnapshot, restore } from './snapshots.js';

/** Those that read folders for this process. */
const readers = () => childrenOf(process.pid).filter((pid) => commandLine(pid).includes('capture.child.mjs'));

async function endReaders(): Promise<void> {
  const all = readers();
  for (const pid of all) process.kill(pid, 'SIGKILL');
  while (childrenOf(process.pid).some((pid) => all.includes(pid))) await turn();
}

describe('A snapshot of an odd folder, or on a machine that fails', () => {
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
  // Some paths are too long for Node.
  afterEach(() => execFileSync('rm', ['-rf', base]));

  async function take(previous: PreviousSnapshot | null = null): Promise<Captured> {
    const captured = await capture({ workdir: source }, previous, store, signal);
    if (captured === null) throw new Error('There is no folder.');
    return captured;
  }

  async function again({ manifest }: Captured): Promise<string> {
    const target = mkdtempSync(join(base, 'restored-'));
    await restore({ workdir: target }, manifest, store, null, signal);
    return target;
  }

  it('leaves out a path that no program could make again, and keeps times that a plain header cannot', async () => {
    const far = join(source, 'far');
    writeFileSync(far, 'far');
    utimesSync(far, 8_835_000_000, 8_835_000_000);
    execFileSync('perl', ['-e', 'for (1 .. 20) { mkdir "d" x 250 or die; chdir "d" x 250 or die } open F, ">", "file" or die'], { cwd: source }); // prettier-ignore
    const target = await again(await take());
    expect(lstatSync(join(target, 'far')).mtimeMs).toBe(8_835_000_000_000);
    expect(readdirSync(target).sort()).toEqual(['d'.repeat(250), 'far']);
    expect(execFileSync('find', [target, '-name', 'file']).toString()).toBe('');
  });

  it('is none when the program that looks is killed', async () => {
    for (let n = 0; n < 20_000; n++) writeFileSync(join(source, String(n)), '');
    const taken = take().then(
      () => 'taken',
      (error: Error) => error.message,
    );
    const found = () =>
      childrenOf(process.pid)
        .flatMap(childrenOf)
        .find((pid) => /^\S*find\0/.test(commandLine(pid)));
    let pid: number | undefined;
    while ((pid = found()) === undefined) await turn();
    process.kill(pid, 'SIGKILL');
    expect(await taken).toContain('find(1) has ended with SIGKILL.');
  });

  it('is read by the program of the last one, unless that has become large or was ended', async () => {
    const takeAnew = async (name: string, bytes: Uint8Array) => {
      writeFileSync(join(source, name), bytes);
      expect((await take()).made?.files).toBe(readdirSync(source).length);
    };
    await endReaders();
    await takeAnew('a', Buffer.from('a'));
    const first = readers();
    await takeAnew('b', Buffer.from('b'));
    expect(readers()).toEqual(first);
    await endReaders();
    await takeAnew('c', Buffer.from('c'));
    expect(readers()).toHaveLength(1);
    expect(readers()).not.toEqual(first);
    await takeAnew('large', randomBytes(200 * 1024 * 1024));
    expect(readers()).toEqual([]);
  });

  it('is none when its program cannot be started, and the service goes on', async () => {
    writeFileSync(join(source, 'a'), 'a');
    await endReaders();
    const path = process.execPath;
    process.execPath = '/nonexistent';
    try {
      // That of an ordinary user is started by unshare(1), which has ended then.
      await expect(take()).rejects.toThrow(/ENOENT|EPIPE|has ended with 127/);
    } finally {
      process.execPath = path;
    }
    expect((await take()).made).toMatchObject({ files: 1 });
  });

  it('reads everything again when the last manifest cannot be read', async () => {
    writeFileSync(join(source, 'a'), 'a');
    const before = await take();
    store.objects.set(before.manifest, Buffer.from('no manifest'));
    writeFileSync(join(source, 'b'), 'b');
    const target = await again(await take(before));
    expect(readdirSync(target).sort()).toEqual(['a', 'b']);
  });
});
