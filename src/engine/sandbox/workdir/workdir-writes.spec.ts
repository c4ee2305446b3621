import { mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { type Opened, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { temporaryFolder } from '../../../../test/harness/service.js';
import { until } from '../../../../test/harness/until.js';
import { SandboxFileError } from '../sandbox.js';

const DISK_BYTES = 8 * 1024 * 1024;

describe('Writes into a workdir', () => {
  let bench: SandboxBench;
  let task: Opened;
  beforeAll(() => (bench = new SandboxBench('namespaces', { diskBytes: DISK_BYTES })));
  afterAll(() => bench.close());
  beforeEach(async () => (task = await bench.open()));

  const names = (folder = '.') => readdirSync(join(task.workdir, folder));
  const read = async () => text((await task.session.readFile('f')).content);
  /** What the descriptors of this process that are open on anything of the sandboxes lead to. */
  const descriptors = () => openPaths().filter((path) => path.startsWith(bench.dataDir.path));

  it.each([
    ['bytes', Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => i % 251))],
    ['text', 'é1'.repeat(1_000_000)],
  ])('of 3 MB, more than any tool writes, are whole: %s', async (_, content) => {
    await task.session.writeFile('f', content);
    const { size, content: stream } = await task.session.readFile('f');
    expect(size).toBe(3_000_000);
    expect((await buffer(stream)).equals(Buffer.from(content))).toBe(true);
  });

  it('whose path is longer than the kernel tells are refused as a file error', async () => {
    const deep = `${'x'.repeat(250)}/`.repeat(20);
    await expect(task.session.writeFile(`${deep}f`, 'x')).rejects.toMatchObject({ code: 'failed' });
  });

  it('that follow no link refuse one on the way, and replace one at its end', async () => {
    const { session } = task;
    await session.run(
      'echo mine > mine; mkdir -p d; ln -s /workdir/d /tmp/linked; mkdir /tmp/output; ln -s /workdir/mine /tmp/output/1',
    );
    const noLinks = { noLinks: true };
    await expect(session.writeFile('/tmp/linked/f', 'x', noLinks)).rejects.toMatchObject({ code: 'outside' });
    await session.writeFile('/tmp/output/1', 'new', noLinks);
    const { stdout } = await session.run('ls d; cat mine /tmp/output/1; [ -h /tmp/output/1 ] || echo " file"');
    expect(stdout).toBe('mine\nnew file\n');
    await session.writeFile('/tmp/linked/f', 'followed');
    expect((await session.run('cat d/f')).stdout).toBe('followed');
  });

  it('are found again when the folder of the workdirs is a link to another disk', async () => {
    const other = temporaryFolder();
    const linked = new SandboxBench('namespaces');
    symlinkSync(other.path, join(linked.dataDir.path, 'workdirs'));
    try {
      const { session } = await linked.open();
      await session.run('mkdir d; echo in > d/f');
      expect(await text((await session.readFile('d/f')).content)).toBe('in\n');
      await session.writeFile('e/f', 'new');
      expect((await session.run('cat e/f')).stdout).toBe('new');
    } finally {
      await linked.close();
      other.remove();
    }
  });

  it('written at once under one name are one of them, whole, and leave nothing beside', async () => {
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    async function* halves(letter: string) {
      yield Buffer.alloc(200_000, letter);
      await held;
      yield Buffer.alloc(200_000, letter);
    }
    const letters = [...'abcdefgh'];
    const writes = letters.map((letter) => task.session.writeFile('f', Readable.from(halves(letter))));
    await until('all of them to be under way', () => names().filter((name) => name.endsWith('.tmp')).length === 8);
    const quick = [...'xyz'].map((letter) => letter.repeat(400_000));
    await Promise.all(quick.map((content) => task.session.writeFile('f', content)));
    expect(quick).toContain(await read());
    goOn();
    await Promise.all(writes);
    expect(letters.map((letter) => letter.repeat(400_000))).toContain(await read());
    expect(names()).toEqual(['f']);
  });

  it('that are refused leave no descriptor of this process open', async () => {
    const outside = join(bench.dataDir.path, 'elsewhere');
    mkdirSync(outside);
    await task.session.run('mkdir -p a/b; echo x > file; ln -s "$T" out; ln -s "$T/absent" dangling; ln -s loop loop', {
      env: { T: relative(task.workdir, outside) },
    });
    const tooLarge = Buffer.alloc(DISK_BYTES + 1);
    const broken = () =>
      Readable.from(
        (function* () {
          yield Buffer.from('begun');
          throw new SandboxFileError('failed', 'The source broke.');
        })(),
      );
    const refused: [path: string, content: () => string | Buffer | Readable, code: string][] = [
      ['a/b/large', () => tooLarge, 'too_large'],
      ['a/b/large', () => Readable.from([tooLarge]), 'too_large'],
      ['a/b/broken', broken, 'failed'],
      ['a/b', () => 'x', 'not_a_file'],
      ['a/b/' + 'n'.repeat(256), () => 'x', 'failed'],
      ['file/x', () => 'x', 'not_a_file'],
      ['out/x', () => 'x', 'outside'],
      ['out/new/x', () => 'x', 'outside'],
      ['dangling/x', () => 'x', 'outside'],
      ['loop/x', () => 'x', 'outside'],
    ];
    // A file that an earlier test has read is closed a moment after its last byte.
    await until('all before to be closed', () => descriptors().length === 0);
    for (const [path, content, code] of refused) {
      await expect(task.session.writeFile(path, content())).rejects.toMatchObject({ code });
      expect([path, descriptors()]).toEqual([path, []]);
    }
    expect(names('a/b')).toEqual([]);
  });
});

/** Where the open descriptors of this process lead. */
function openPaths(): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      // That of this list itself, which is closed by now.
      return [];
    }
  });
}
