import { existsSync, lstatSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describeDrivers, type DriverName, SandboxBench } from '../../../../test/harness/sandboxes.js';
import { until } from '../../../../test/harness/until.js';
import { isRoot } from '../host.js';

function folders(driver: DriverName): void {
  let bench: SandboxBench;
  beforeAll(() => (bench = new SandboxBench(driver, { diskBytes: 8 * 1024 * 1024 })));
  afterAll(() => bench.close());

  it('live on from one command to the next, and from one session to the next', async () => {
    const { session, taskId } = await bench.open();
    await session.run('echo a > /tmp/a; mkdir -p ~/.cache; echo b > ~/.cache/b');
    expect((await session.run('cat /tmp/a ~/.cache/b')).stdout).toBe('a\nb\n');
    await session.close();
    const { session: next } = await bench.open(taskId);
    expect((await next.run('cat /tmp/a ~/.cache/b; stat -c "%U %a" /tmp')).stdout).toBe('a\nb\nagent 1777\n');
  });

  it('are mounted as the workdir is', async () => {
    const { session } = await bench.open();
    const options = `for f in /workdir /tmp /home/agent; do awk -v f=$f '$5 == f { print $6 }' /proc/self/mountinfo; done`;
    const [workdir, ...others] = (await session.run(options)).stdout.trim().split('\n');
    expect(workdir).toMatch(/nosuid,nodev/);
    expect(others).toEqual([workdir, workdir]);
    const script = 'printf "#!/bin/sh\\necho runs" > $f/s; chmod 755 $f/s; $f/s';
    expect((await session.run(`for f in /workdir /tmp ~; do ${script}; done`)).stdout).toBe('runs\n'.repeat(3));
    // A name of a file of one of them cannot be given in another.
    expect((await session.run('ln /tmp/s /workdir/l; ln /tmp/s ~/l; ls ~/l /workdir/l')).exitCode).not.toBe(0);
  });

  it('are removed with the task', async () => {
    const { session, taskId, workdir } = await bench.open();
    await session.run('mkdir -p /tmp/a/b ~/c; touch /tmp/a/b/f; chmod 0 /tmp/a/b ~/c /tmp ~');
    await session.close();
    expect(readdirSync(`${workdir}.beside`).sort()).toEqual(['home', 'tmp']);
    await bench.sandbox.remove(taskId);
    expect([existsSync(workdir), existsSync(`${workdir}.beside`)]).toEqual([false, false]);
  });

  it('are measured with the workdir', async () => {
    const { session, taskId } = await bench.open();
    const empty = await bench.sandbox.workdirBytes(taskId);
    await session.run('for f in /workdir /tmp ~; do head -c 1000000 /dev/zero > $f/x; done');
    expect((await bench.sandbox.workdirBytes(taskId)) - empty).toBeGreaterThan(2_990_000);
    // Others who delete on the same file system hide the growth from the first look; three seconds later each command looks.
    await until('the session knows of the three files', async () => {
      await session.run('true');
      return (session.workdirBytes ?? 0) > 2_990_000;
    });
  });

  it('are made for a task from before there were any', async () => {
    const { session, taskId, workdir } = await bench.open();
    await session.run('echo old > f');
    await session.close();
    rmSync(`${workdir}.beside`, { recursive: true });
    const { session: next } = await bench.open(taskId);
    expect((await next.run('cat f; echo new > /tmp/n && cp /tmp/n ~/n && cat ~/n')).stdout).toBe('old\nnew\n');
  });

  (isRoot() ? it : it.skip)('belong to the number of the session that opens them', async () => {
    const { session, taskId, workdir } = await bench.open();
    await session.run('touch /tmp/f ~/f; ln -s /etc/passwd /tmp/link');
    const { uid } = statSync(workdir);
    // Held until the next one is opened, as by another process.
    const other = await bench.sandbox.reserve(taskId);
    expect(other?.uid).not.toBe(uid);
    await session.close();
    const again = await bench.sandbox.open({ taskId, reservation: other, signal: new AbortController().signal });
    const paths = ['', '/tmp', '/home', '/tmp/f', '/home/f', '/tmp/link'].map((path) => `${workdir}.beside${path}`);
    expect([...paths, workdir].map((path) => lstatSync(path).uid)).toEqual(Array(7).fill(other?.uid));
    expect((await again.run('cp /tmp/f /tmp/g; ls /tmp ~')).exitCode).toBe(0);
    await again.close();
    other?.release();
  });

  describe('by the tools that read and write', () => {
    it('are reached at their names inside, and by ~', async () => {
      const { session, workdir } = await bench.open();
      await session.writeFile('/tmp/new/f', 'in tmp');
      await session.writeFile('~/g', 'at home');
      await session.writeFile('./~', 'named so');
      expect((await session.run('cat /tmp/new/f /home/agent/g "./~"; cd ~ && cat g')).stdout).toBe(
        'in tmpat homenamed soat home',
      );
      const read = async (path: string) => text((await session.readFile(path)).content);
      expect(await Promise.all(['../tmp/new/f', '/home/agent/g', '~/g', './~'].map(read))).toEqual([
        'in tmp',
        'at home',
        'at home',
        'named so',
      ]);
      if (isRoot()) expect(statSync(`${workdir}.beside/tmp/new/f`).uid).toBe(statSync(workdir).uid);
      expect((await session.run('pwd', { cwd: '/tmp/new' })).stdout).toBe('/tmp/new\n');
      expect((await session.run('pwd', { cwd: '/etc' })).stderr).toMatch(/cwd has to be inside/);
    });

    it('are no way out: links lead from one of them to another and nowhere else', async () => {
      const { session, workdir } = await bench.open();
      const other = await bench.open();
      await other.session.writeFile('/tmp/f', 'secret');
      await session.run(
        `echo x > /workdir/f; echo y > ~/f; ln -s /workdir/f /tmp/to-workdir; ln -s /home/agent/f /workdir/to-home;
        ln -s /tmp /workdir/all; ln -s /etc/passwd /tmp/out; ln -s /proc/self/environ ~/out; ln -s ../f /tmp/up;
        ln -s ../../${other.taskId}.beside/tmp/f /tmp/theirs; ln -s /project /tmp/project; ln -s "$T" /tmp/host`,
        { env: { T: join(other.workdir) } },
      );
      const read = async (path: string) => text((await session.readFile(path)).content);
      expect(await Promise.all(['/tmp/to-workdir', 'to-home', 'all/to-workdir'].map(read))).toEqual([
        'x\n',
        'y\n',
        'x\n',
      ]);
      await session.writeFile('all/to-workdir', 'z');
      expect(await read('f')).toBe('z');
      for (const path of ['/tmp/out', '~/out', '/tmp/up', 'all/up', '/tmp/theirs', '/tmp/project/f', '/tmp/../etc/x']) {
        await expect(session.readFile(path)).rejects.toMatchObject({ code: 'outside' });
        await expect(session.writeFile(path, 'x')).rejects.toMatchObject({ code: 'outside' });
      }
      // A path of the host is one of the inside too, and there is nothing.
      await expect(session.readFile('/tmp/host')).rejects.toMatchObject({
        code: expect.stringMatching(/not_found|outside/) as string,
      });
      expect(readdirSync(`${workdir}.beside`).sort()).toEqual(['home', 'tmp']);
    });
  });

  it('npm finds out at once that there is no network, and git has a name for commits', async () => {
    const { session } = await bench.open();
    // With the retries that npm has by itself it would still be waiting.
    const npm = await session.run('npm install left-pad', { timeoutSeconds: 45 });
    expect(npm).toMatchObject({ exitCode: 1, killed: null });
    expect(npm.stderr).toMatch(/EAI_AGAIN|ENOTFOUND|ECONNREFUSED/);
    const git =
      'git init -q r && cd r && echo x > f && git add f && git commit -qm one && git log --format="%an <%ae> %cn"';
    expect((await session.run(git)).stdout).toBe('Millwright <millwright@localhost> Millwright\n');
  });
}

describe('/tmp and the home of a task', () => describeDrivers(folders));
