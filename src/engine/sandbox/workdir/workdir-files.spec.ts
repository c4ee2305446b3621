import { execFileSync, spawn } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { type Opened, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { isRoot } from '../host.js';
import { slowIt } from '../../../../test/harness/slow.js';

describe('Files of a workdir', () => {
  let bench: SandboxBench;
  let task: Opened;
  beforeAll(() => (bench = new SandboxBench('namespaces', { diskBytes: 8 * 1024 * 1024 })));
  afterAll(() => bench.close());
  beforeEach(async () => (task = await bench.open()));

  const read = async (path: string) => text((await task.session.readFile(path)).content);
  const host = (path: string) => join(task.workdir, path);
  /** As a link in the workdir names it; an absolute one means a path inside of the sandbox, which has a `/tmp` too. */
  const fromWorkdir = (path: string) => relative(task.workdir, path);
  const refuses = (action: Promise<unknown>, code: string) => expect(action).rejects.toMatchObject({ code });

  it('are written with their folders and read again, by both names, from both sides', async () => {
    await task.session.writeFile('a/b/c.txt', 'text é');
    expect(await read('/workdir/a/b/c.txt')).toBe('text é');
    const { size, content } = await task.session.readFile('a/b/c.txt');
    content.destroy();
    expect(size).toBe(7);
    expect(
      (await task.session.run('cat a/b/c.txt; stat -c "%U %a" a a/b a/b/c.txt; echo more >> a/b/c.txt')).stdout,
    ).toBe('text éagent 755\nagent 755\nagent 644\n');
    expect(await read('./a/../a/b/c.txt')).toBe('text émore\n');
    if (isRoot()) expect(statSync(host('a/b/c.txt')).uid).toBe(statSync(task.workdir).uid);
  });

  it('are any bytes, from a stream too, and replaced as a whole', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251));
    await task.session.writeFile('f', Readable.from([bytes.subarray(0, 100), bytes.subarray(100)]));
    expect(bytes.equals(await buffer((await task.session.readFile('f')).content))).toBe(true);
    await task.session.writeFile('f', '');
    expect(await read('f')).toBe('');
    expect((await task.session.run('ls -A')).stdout).toBe('f\n');
  });

  it('keep their rights when they are replaced', async () => {
    await task.session.run('echo old > s.sh; chmod 755 s.sh');
    await task.session.writeFile('s.sh', 'echo new');
    expect((await task.session.run('./s.sh')).stdout).toBe('new\n');
  });

  it('that are absent, no files or elsewhere are refused before anything streams', async () => {
    await task.session.run('mkdir d; mkfifo p; ln -s absent dangling; ln -s loop loop; echo x > file');
    await refuses(read('absent'), 'not_found');
    await refuses(read('dangling'), 'not_found');
    await refuses(read('d'), 'not_a_file');
    await refuses(read('p'), 'not_a_file');
    await refuses(read('.'), 'not_a_file');
    await refuses(read('file/x'), 'not_a_file');
    await refuses(read('loop'), 'outside');
    for (const path of ['../x', '/etc/passwd', '/workdirs', 'a/../../x', 'a\0b']) {
      await refuses(read(path), 'outside');
      await refuses(task.session.writeFile(path, 'x'), 'outside');
    }
    await refuses(task.session.writeFile('d', 'x'), 'not_a_file');
    await refuses(task.session.writeFile('.', 'x'), 'not_a_file');
    await refuses(task.session.writeFile('file/x', 'x'), 'not_a_file');
  });

  it('larger than the disk limit are refused and leave nothing', async () => {
    const endless = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(1024 * 1024);
      })(),
    );
    await refuses(task.session.writeFile('big', endless), 'too_large');
    expect((await task.session.run('ls -A')).stdout).toBe('');
  });

  describe('behind links', () => {
    /**
     * Reads and writes while another process runs a script on the workdir: at least 1,500 times, and until each of the sides
     * was met or 30 s are over. Returns what was met: contents that were read, `written`, and codes of errors.
     */
    async function racing(script: string, args: string[], race: { sides: string[]; write: string; read: string[] }) {
      const swapper = spawn(process.execPath, ['-e', script, ...args], { stdio: ['ignore', 'inherit', 'inherit'] });
      const seen = new Set<string>();
      const note = ({ code }: { code: string }) => void seen.add(code);
      const since = Date.now();
      const over = () => race.sides.every((side) => seen.has(side)) || Date.now() - since > 30_000;
      for (let i = 0; i < 1500 || !over(); i++) {
        // From a stream, so that there is an exchange while the draft is being written too.
        const content = i % 2 === 0 ? 'mine' : Readable.from(['mi', 'ne']);
        await task.session.writeFile(race.write, content).then(() => seen.add('written'), note);
        for (const path of race.read) await read(path).then((content) => seen.add(content), note);
      }
      expect(swapper.exitCode).toBeNull();
      swapper.kill('SIGKILL');
      return [...seen];
    }

    it('inside are read; those that lead out are not, whatever they point to', async () => {
      const other = await bench.open();
      await other.session.writeFile('mine', 'secret');
      await task.session.run('mkdir d; echo in > d/f; ln -s d e; ln -s d/f g');
      expect(await read('e/f')).toBe('in\n');
      expect(await read('g')).toBe('in\n');
      for (const target of [
        '/etc/passwd',
        fromWorkdir(other.workdir),
        fromWorkdir(join(other.workdir, 'mine')),
        fromWorkdir(`${other.workdir}.beside/tmp`),
        '/proc/self/environ',
        '/dev/zero',
      ]) {
        await task.session.run('ln -sfn "$T" out', { env: { T: target } });
        await refuses(read('out'), 'outside');
        // Nothing of what lies there is told: not whether it is, nor of what kind.
        await refuses(read('out/mine'), 'outside');
      }
    });

    it('of a thousand names each do not hold the service up', async () => {
      mkdirSync(host('d'));
      writeFileSync(host('l40'), 'end');
      for (let i = 0; i < 40; i++) symlinkSync(`${'d/../'.repeat(800)}l${i + 1}`, host(`l${i}`));
      const since = performance.now();
      await refuses(read('l0'), 'outside');
      await refuses(task.session.writeFile('l0', 'x'), 'outside');
      expect(performance.now() - since).toBeLessThan(20_000);
      // A long one is not too much.
      symlinkSync(`${'d/../'.repeat(400)}l40`, host('short'));
      expect(await read('short')).toBe('end');
    });

    it('that lead out are never written through', async () => {
      const outside = join(bench.dataDir.path, 'outside');
      mkdirSync(outside);
      writeFileSync(join(outside, 'f'), 'untouched');
      await task.session.run('ln -s "$T" folder; ln -s "$T/f" file', { env: { T: fromWorkdir(outside) } });
      await refuses(task.session.writeFile('folder/new', 'x'), 'outside');
      await refuses(task.session.writeFile('folder/sub/new', 'x'), 'outside');
      await expect(task.session.writeFile('file', 'x')).rejects.toThrow(
        'file leads out of /workdir, /tmp and /home/agent by a link; use a path without it.',
      );
      expect(lstatSync(host('file')).isSymbolicLink()).toBe(true);
      expect(execFileSync('ls', [outside], { encoding: 'utf8' })).toBe('f\n');
      expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('untouched');
    });

    it('that lead nowhere are refused where a folder is to be made, and nothing is made there', async () => {
      const outside = join(bench.dataDir.path, 'nowhere');
      mkdirSync(outside);
      await task.session.run(
        'mkdir d; ln -s "$T/absent" dangling; ln -s "../$T/absent" d/dangling; ln -s absent near',
        {
          env: { T: fromWorkdir(outside) },
        },
      );
      for (const path of ['dangling', 'dangling/new', 'dangling/sub/new', 'd/dangling/new'])
        await refuses(task.session.writeFile(path, 'x'), 'outside');
      await refuses(task.session.writeFile('near/new', 'x'), 'not_a_file');
      expect(readdirSync(outside)).toEqual([]);
      expect(readdirSync(task.workdir).sort()).toEqual(['d', 'dangling', 'near']);
      expect(lstatSync(host('dangling')).isSymbolicLink()).toBe(true);
    });

    it('inside are read and written through, absolute ones as a command sees them', async () => {
      await task.session.run(
        'mkdir -p docs/deep; echo old > AGENTS.md; chmod 640 AGENTS.md; ln -s AGENTS.md CLAUDE.md; ' +
          'ln -s /workdir/AGENTS.md absolute; ln -s ../../CLAUDE.md docs/deep/up; ln -s /workdir all; ' +
          'ln -s deep/../deep docs/odd; ln -s later dangling',
      );
      const links = ['CLAUDE.md', 'absolute', 'docs/deep/up', 'all/CLAUDE.md', 'docs/odd/up', 'all/all/docs/odd/up'];
      for (const path of links) {
        await task.session.writeFile(path, `by ${path}\n`);
        for (const other of links) expect(await read(other)).toBe(`by ${path}\n`);
      }
      await task.session.writeFile('dangling', 'made');
      await task.session.writeFile('docs/odd/new/file', 'in a new folder');
      const command =
        'cat AGENTS.md later docs/deep/new/file; stat -c "%U %a" AGENTS.md; find -type l | wc -l; find -type f | wc -l';
      expect((await task.session.run(command)).stdout).toBe(
        'by all/all/docs/odd/up\nmadein a new folderagent 640\n6\n3\n',
      );
    });

    it('that lead to a folder are no file, and those that climb above the workdir lead out', async () => {
      await task.session.run(
        'mkdir d; ln -s d folder; ln -s . here; ln -s d/.. again; ln -s ../x above; ln -s /workdir/../x over; ' +
          'ln -s d/../../x climb; ln -s /workdirs/x beside; ln -s loop loop; echo x > f; ln -s f/x through',
      );
      for (const path of ['folder', 'here', 'again']) {
        await refuses(read(path), 'not_a_file');
        await refuses(task.session.writeFile(path, 'x'), 'not_a_file');
      }
      for (const path of ['above', 'over', 'climb', 'beside', 'loop']) {
        await refuses(read(path), 'outside');
        await refuses(task.session.writeFile(path, 'x'), 'outside');
      }
      await refuses(read('through'), 'not_a_file');
      await refuses(task.session.writeFile('through', 'x'), 'not_a_file');
      expect(readdirSync(join(task.workdir, '..'))).not.toContain('x');
    });

    slowIt('are not written through when a file or a good link is exchanged for one that leads out', async () => {
      const outside = join(bench.dataDir.path, 'exchanged');
      mkdirSync(outside);
      writeFileSync(join(outside, 'f'), 'untouched');
      writeFileSync(host('good'), 'good');
      const sides = ['written', 'outside', 'mine', 'good', 'file'];
      const seen = await racing(
        `const [next, name] = ['next', 'name'].map((one) => path.join(process.argv[1], one));
        const links = ['good', process.argv[2], path.relative(process.argv[1], process.argv[2])];
        for (;;) {
          for (const link of links) (fs.symlinkSync(link, next), fs.renameSync(next, name));
          (fs.writeFileSync(next, 'file'), fs.renameSync(next, name));
        }`,
        [task.workdir, join(outside, 'f')],
        { sides, write: 'name', read: ['name', 'good'] },
      );
      expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('untouched');
      expect(readdirSync(outside)).toEqual(['f']);
      expect(seen).not.toContain('untouched');
      expect(seen).toEqual(expect.arrayContaining(sides));
    });

    it('are not followed when a folder is exchanged for one in the middle of it', async () => {
      const outside = join(bench.dataDir.path, 'race');
      mkdirSync(outside);
      writeFileSync(join(outside, 'f'), 'LEAK');
      await task.session.writeFile('d/f', 'fine');
      symlinkSync(fromWorkdir(outside), host('link'));
      const sides = ['fine', 'outside', 'written'];
      const seen = await racing(
        // A write makes the folder while it is away; that one gives way.
        `const at = (name) => path.join(process.argv[1], name);
        const exchange = (from, to) => {
          try { fs.renameSync(at(from), at(to)); }
          catch { try { fs.rmSync(at(to), { recursive: true, force: true }); } catch {} exchange(from, to); }
        };
        for (;;) for (const names of [['d', 'aside'], ['link', 'd'], ['d', 'link'], ['aside', 'd']]) exchange(...names);`,
        [task.workdir],
        { sides, write: 'd/w', read: ['d/f'] },
      );
      expect(execFileSync('ls', [outside], { encoding: 'utf8' })).toBe('f\n');
      expect(seen).not.toContain('LEAK');
      // Both sides of the race were met, else it has shown nothing.
      expect(seen).toEqual(expect.arrayContaining(sides));
    });

    it('hard ones are refused: what they show may be somebody else’s', async () => {
      await task.session.run('echo x > a; ln a b');
      await refuses(read('b'), 'not_a_file');
      await task.session.writeFile('b', 'own');
      expect(await read('a')).toBe('x\n');
    });
  });

  it('stay between commands and sessions, until they are removed', async () => {
    await task.session.run('echo kept > f; mkdir -p closed/in; echo x > closed/in/f; chmod 0 closed/in closed');
    await task.session.close();
    const again = await bench.open(task.taskId);
    expect((await again.session.run('cat f; echo more >> f; ls -ld closed | cut -c1-10')).stdout).toBe(
      'kept\nd---------\n',
    );
    await again.session.close();
    await bench.sandbox.remove(task.taskId);
    expect(() => statSync(task.workdir)).toThrow('ENOENT');
    await bench.sandbox.remove(task.taskId);
    await expect(bench.sandbox.remove('../../etc')).rejects.toThrow('UUID');
    await expect(bench.open('..')).rejects.toThrow('UUID');
  });

  (isRoot() ? it : it.skip)('get as root the number of the session that opens them, links included', async () => {
    const { uid } = statSync(task.workdir);
    const beside = await bench.open();
    expect(statSync(beside.workdir).uid).not.toBe(uid);
    await beside.session.run('echo x > f; ln -s /etc/passwd link');
    await beside.session.close();
    // Its number is taken by somebody else meanwhile: another process's claim would look the same.
    rmSync(host('x'), { force: true });
    execFileSync('chown', ['-hR', `${uid}:${uid}`, beside.workdir]);
    const again = await bench.open(beside.taskId);
    const owner = statSync(beside.workdir).uid;
    expect(owner).not.toBe(uid);
    expect([lstatSync(join(beside.workdir, 'f')).uid, lstatSync(join(beside.workdir, 'link')).uid]).toEqual([
      owner,
      owner,
    ]);
    expect(statSync('/etc/passwd').uid).toBe(0);
    await again.session.close();
    const third = await bench.open(beside.taskId);
    expect(statSync(beside.workdir).uid).toBe(owner);
    await third.session.close();
  });
});
